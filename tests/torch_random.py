"""PyTorch's random numbers without PyTorch, so that seeded examples in its books can be computed again.

Its generator on the CPU is the Mersenne Twister, seeded as NumPy's `RandomState` seeds it.
What it makes of the bits is told by ATen's ``DistributionsHelper.h`` and ``DistributionTemplates.h``
(https://github.com/pytorch/pytorch/tree/main/aten/src/ATen).
"""

import math

import numpy as np


class TorchRandom:
    """What ``torch.manual_seed(seed)`` would go on to draw, in float32."""

    def __init__(self, seed):
        self._twister = np.random.RandomState(seed)

    def _bits(self, *shape):
        return self._twister.randint(0, 2**32, size=shape, dtype=np.uint32)

    def rand(self, *shape):
        """Return what ``torch.rand(*shape)`` would: the low 24 bits, as a fraction of 2**24."""
        return (self._bits(*shape) & (2**24 - 1)).astype(np.float32) * np.float32(2**-24)

    def randn(self, *shape):
        """Return what ``torch.randn(*shape)`` would: Box and Muller's pairs, in float64 for fewer than 16 numbers."""
        size = math.prod(shape)
        if size < 16:
            high, low = self._bits(size, 2).astype(np.uint64).T
            u, v = ((high << np.uint64(32) | low) & np.uint64(2**53 - 1)).reshape(-1, 2).T * 2.0**-53
            pairs = np.sqrt(-2 * np.log1p(-v)) * [np.cos(2 * np.pi * u), np.sin(2 * np.pi * u)]
            return pairs.T.reshape(shape).astype(np.float32)
        u, v = self.rand(size // 16, 2, 8).swapaxes(0, 1)  # eight pairs at a time
        angle, radius = np.float32(2 * np.pi) * v, np.sqrt(-2 * np.log(1 - u))
        return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(shape)

    def linear(self, d_in, d_out):
        """Return the initial weights of ``nn.Linear(d_in, d_out, bias=False)``, transposed to ``(d_in, d_out)``."""
        bound = np.float32(1 / math.sqrt(d_in))
        return (self.rand(d_out, d_in) * (2 * bound) - bound).T
