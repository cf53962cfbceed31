"""One row of scores becomes weights, by the formula as it stands and by the stable form (chapter 03)."""

import functools

import numpy as np
import traitlets

from attention_lib.explorables._base import Explorable, Numbers, Real
from attention_lib.weights import softmax


class SoftmaxRow(Explorable):
    """The scores of four keys: drag them, add a number to all, divide all, and see which weights move.

    The exponents are (``scores`` + ``shift``) / ``temperature``. ``kept`` is the type in which both forms
    keep every exponential, sum and quotient: "float64", "float32" or "float16".
    """

    scores = Numbers([1, 3, 2, -1], shape=(4,), limit=5).tag(sync=True)
    shift = Real(0, min=-1000, max=1000).tag(sync=True)
    temperature = Real(1, min=0.1, max=100).tag(sync=True)
    kept = traitlets.Enum(["float64", "float32", "float16"], "float64").tag(sync=True)
    height = (545, 1115)

    @property
    def exponents(self):
        return (np.array(self.scores) + self.shift) / self.temperature

    @property
    def weights(self):
        return softmax(self.exponents)

    @property
    def ratio(self):
        """How many times the second largest weight the largest is."""
        second, first = np.sort(self.exponents)[-2:]
        return np.exp(first - second)

    @property
    def plain(self):
        """The exponentials and their sum, and below them the weights and theirs, by the formula as it stands."""
        return self._form(self.exponents)

    @property
    def stable(self):
        """The same with the largest exponent taken off first."""
        return self._form(self.exponents - self.exponents.max())

    def _form(self, exponents):
        with np.errstate(all="ignore"):
            e = np.exp(exponents).astype(self.kept)
            p = e / total(e)
            return np.array([[*e, total(e)], [*p, total(p)]], float)

    def text(self):
        scores = ", ".join(f"{score:g}" for score in self.scores)
        added = f", {self.shift:g} added to each" * bool(self.shift)
        divided = f", and divided by the temperature {self.temperature:g}" * (self.temperature != 1)
        sentence = f"The scores of four keys, {scores}{added}{divided}, and their weights."
        return sentence.replace("-", "−") + " On the book's pages and in Jupyter you can drag them."

    def tables(self):
        columns = np.stack([*self.plain, *self.stable], axis=-1)  # (5, 4)
        rows = [[short(e), f"{p:.3f}".replace("nan", "NaN"), short(s), f"{q:.3f}"] for e, p, s, q in columns]
        heads = ["plain: exponential", "weight", "stable: exponential", "weight"]
        return [(f"Weights in two forms, in {self.kept}", [*"1234", "Σ"], heads, rows)]


def total(numbers):
    """Return the sum from left to right, each step in the type of the numbers."""
    return functools.reduce(np.add, numbers)


def short(value):
    """Return a number as the picture has it: with three decimals, a larger one with none, else a power of ten."""
    if not np.isfinite(value) or value == 0 or 0.0005 <= value < 9999.5:
        return f"{value:.{3 if value < 99.9995 else 0}f}".replace("nan", "NaN").replace("inf", "∞")
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}·10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
