"""Scores of random queries and keys spread with d_k, and the softmax goes stiff (chapter 06)."""

import functools

import numpy as np
import traitlets

from attention_lib.explorables._base import Explorable
from attention_lib.scores import attention_scores
from attention_lib.weights import log_softmax, softmax, softmax_jacobian

QUERIES, KEYS, MOST = 64, 64, 1024
VARIANCE = 21845  # of the sum of four whole numbers from 0 to 255, drawn evenly: 4 (256² - 1) / 12
BIN = 4  # width of a bar of the histogram; the bars stand at -128, -124, ... 128
DEAD = 0.01  # a query with a smaller Jacobian learns next to nothing through its scores


class Saturation(Explorable):
    """64 random queries and 64 random keys with ``d_k`` features of mean 0 and variance 1.

    ``scaled`` divides the scores by √d_k; ``seed`` chooses the random numbers. More features are added
    to those that are there, so each query and key stays itself while ``d_k`` grows.
    """

    d_k = traitlets.Int(64, min=1, max=MOST).tag(sync=True)
    scaled = traitlets.Bool(False).tag(sync=True)
    seed = traitlets.Int(0, min=0, max=999).tag(sync=True)
    height = (560, 1055)

    @property
    def _scores(self):
        numbers = random_numbers(self.seed)[:, : self.d_k]
        dots = attention_scores(numbers[:QUERIES], numbers[QUERIES:], scale=1.0)  # whole, so without rounding
        return dots / VARIANCE / (np.sqrt(self.d_k) if self.scaled else 1)

    @property
    def expected(self):
        """The standard deviation that theory gives the scores."""
        return 1.0 if self.scaled else np.sqrt(self.d_k)

    @property
    def deviation(self):
        """The standard deviation of the 4,096 scores about 0, their mean in theory."""
        return np.sqrt((self._scores**2).mean())

    @property
    def counts(self):
        """How many scores lie nearest to -128, -124, ... 128; those beyond are with the last."""
        bars = np.clip(np.floor(self._scores / BIN + 0.5), -32, 32).astype(int)
        return np.bincount(bars.ravel() + 32, minlength=65)

    @property
    def weights(self):
        """The weights of the first query."""
        return softmax(self._scores[0])

    @property
    def entropy(self):
        return -(self.weights * log_softmax(self._scores[0])).sum()

    @property
    def norms(self):
        """The size of each query's Jacobian: the square root of the sum of its squares."""
        return np.linalg.norm(softmax_jacobian(softmax(self._scores)), axis=(1, 2))

    @property
    def dead(self):
        return (self.norms < DEAD).mean()

    def text(self):
        scaled = ", divided by √d_k," if self.scaled else ""
        return (
            f"The scores{scaled} of {QUERIES} random queries and {KEYS} random keys with d_k = {self.d_k} features, "
            "and what the softmax makes of them. On the book's pages and in Jupyter you can change d_k."
        )

    def tables(self):
        spread = [[self.deviation, self.expected]]
        first = [[f"{self.weights.max():.3f}", self.entropy, np.exp(self.entropy)]]
        norms = [[f"{np.median(self.norms):.3f}", f"{(self.norms < DEAD).sum()} of {QUERIES}"]]
        return [
            ("Scores", ["standard deviation"], ["measured", "in theory"], spread),
            ("Weights", ["query 1"], ["largest", "entropy in nats", "keys read, in effect"], first),
            ("Jacobians", ["‖J‖_F"], ["median query", f"below {DEAD}"], norms),
        ]


@functools.lru_cache(8)
def random_numbers(seed):
    """Return one row for each query and key: sums of four random bytes less their mean, 1,024 a row.

    The same whole numbers come from the JavaScript: they are a hash of their place and the seed, with the
    constants of Wellons, "Hash function prospector", https://github.com/skeeto/hash-prospector.
    """
    x = np.arange((QUERIES + KEYS) * MOST, dtype=np.uint32) + np.uint32(seed * 0x9E3779B1 % 2**32)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 1)):
        x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)  # modulo 2³²
    return sum((x >> np.uint32(8 * byte)) & 255 for byte in range(4)).astype(float).reshape(-1, MOST) - 510
