"""What the checks of several chapters share: random inputs, and a softmax that can be written wrong."""

import numpy as np

KEEPDIMS = "the sums (or maxima) lost their axis and line up with the columns: keep it with keepdims=True"
SIGN = "you gave low scores the large weights: take the exponential of the score itself, without a minus sign"
LAST_FEATURE = "each score is the product of the last feature alone: add to it (+=) instead of replacing it (=)"
TWICE = "you took the softmax twice: the weights are ready after the first, and a second one levels them out"


def random(*shapes, seed=0):
    """Return one array of standard normal numbers for each of the shapes."""
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal(shape) for shape in shapes)


def no_shift(x):
    return 0.0


def row_maximum(x):
    return x.max(axis=-1, keepdims=True)


def flat_maximum(x):
    return x.max(axis=-1)  # keepdims forgotten: in a matrix it lines up with the columns


def shares(x, shift=no_shift, axis=-1, *, exp=np.exp, keepdims=True):
    """Return exponentials over their sum: the softmax, or with other arguments what people write instead."""
    e = exp(x - shift(x))
    return e / e.sum(axis=axis, keepdims=keepdims)


def exp_minus(x):
    return np.exp(-x)


# The ways to lose an axis in `shares`.
LOST_AXIS = [
    {"shift": no_shift, "keepdims": False},
    {"shift": row_maximum, "keepdims": False},
    {"shift": flat_maximum, "keepdims": False},
    {"shift": flat_maximum},
]
