"""Which query may see which key, and what the hidden score becomes (chapter 08)."""

import numpy as np
import traitlets

from attention_lib.explorables._base import Explorable, Numbers
from attention_lib.masks import causal_mask, padding_mask, window_mask
from attention_lib.weights import softmax


class Cells(Numbers):
    """A trait that holds a table of True and False, as lists."""

    def validate(self, obj, value):
        cells = np.array(super().validate(obj, value))
        if not np.isin(cells, (0, 1)).all():
            raise traitlets.TraitError(f"{self.name or 'value'} is {value!r}, expected True and False alone")
        return cells.astype(bool).tolist()


class MaskPainter(Explorable):
    """Hide keys from queries, choose what their scores become, and see who reads what was hidden.

    ``allowed`` has True where the query of token i may see the key of token j, for five tokens.
    ``queries`` is "all" five, or the "last" three, whose keys come after two that are cached, or the "first" three.
    ``fill`` is what a hidden score becomes: "-inf", "-1e9" or "0" before the softmax; or "after":
    the weight becomes 0 after it, and nothing is divided again.
    """

    allowed = Cells(causal_mask(5), shape=(5, 5)).tag(sync=True)
    queries = traitlets.Enum(["all", "last", "first"], "all").tag(sync=True)
    fill = traitlets.Enum(["-inf", "-1e9", "0", "after"], "0").tag(sync=True)

    @property
    def height(self):
        return (520, 1080) if self.queries == "all" else (500, 950)

    @property
    def scores(self):
        return SCORES[self._rows]

    @property
    def mask(self):
        return np.array(self.allowed)[self._rows]

    @property
    def filled(self):
        """What the softmax is given."""
        if self.fill == "after":
            return self.scores
        return np.where(self.mask, self.scores, float(self.fill))

    @property
    def weights(self):
        weights = softmax(self.filled)
        return weights * self.mask if self.fill == "after" else weights

    @property
    def sums(self):
        return self.weights.sum(axis=1)

    @property
    def leaks(self):
        """The weights of hidden keys."""
        return np.where(self.mask, 0, self.weights)

    @property
    def later(self):
        """Where a query may see a key that comes after it."""
        return self.mask & (np.arange(5) > np.arange(5)[self._rows, None])

    @property
    def presets(self):
        """The masks to choose from, by the library: causal twice, all keys, window, padding, left padding and causal."""
        n = len(self.mask)
        causal = causal_mask(n, 5)
        masks = [causal, causal_mask(n, 5, align="top-left"), np.ones((n, 5), bool), window_mask(n, 5, left=1, right=0)]
        return np.array([*masks, np.tile(padding_mask(3, 5), (n, 1)), causal & (np.arange(5) >= 2)])

    @property
    def _rows(self):
        return {"all": slice(0, 5), "last": slice(2, 5), "first": slice(0, 3)}[self.queries]

    def text(self):
        fills = {"after": "the weight becomes 0 after the softmax", "-inf": "the score becomes −∞", "-1e9": "the score becomes −1e9"}
        hidden = fills.get(self.fill, "the score becomes 0")
        return f"A mask over five tokens: where it hides a key, {hidden}. On the book's pages and in Jupyter you can paint it."

    def tables(self):
        cells = [
            [f"{weight:.2f}" if seen else f"({weight:.2f})" for weight, seen in zip(*row, strict=True)] + [f"{total:.2f}"]
            for *row, total in zip(self.weights, self.mask, self.sums, strict=True)
        ]
        return [("Weights, those of hidden keys in brackets, and the sum of each row", Q[self._rows], (*K, "sum"), cells)]


SCORES = np.array([
    [1.0, 2.5, 0.5, -1.0, 0.2],
    [-0.5, 1.5, 2.0, 0.3, -1.2],
    [2.2, -1.0, 0.8, 1.6, 0.4],
    [0.6, 1.2, -0.7, 1.9, 2.4],
    [-1.5, 0.9, 1.7, 0.1, 1.3],
])  # fmt: skip
Q, K = (tuple(f"{name}{index}" for index in "₁₂₃₄₅") for name in "qk")
