"""Self-checks of chapter 03: softmax, its logarithm and its derivative, the wrong axis, temperature."""

import math
from functools import partial
from itertools import permutations, product

import numpy as np

from attention_lib import weights
from attention_lib.check._engine import Mistake, check_function, check_value
from attention_lib.check._shared import (
    KEEPDIMS,
    SIGN,
    TWICE,
    exp_minus,
    flat_maximum,
    no_shift,
    row_maximum,
    shares,
)

# Rectangular and square, a batch, one row, and scores far from 0: on these the usual mistakes part.
SCORES = [
    (np.log([[1.0, 2.0, 5.0], [3.0, 2.0, 3.0]]),),
    (np.array([[0.5, -1.0, 2.0], [0.0, 1.5, -0.5], [3.0, 0.25, -2.0]]),),
    (np.sin(np.arange(24.0)).reshape(2, 3, 4),),
    (np.array([-1.5, 0.0, 0.75]),),
    (np.array([[0.0, 1.0, 3.0], [1000.0, 1001.0, 1003.0]]),),
    (np.array([[-1000.0, -1002.0], [-3000.0, -3006.0]]),),
    (np.array([0.0, 3000.0, 0.0]),),
    (np.array([[0.0, 1000.0]]),),
]


def doubled_weights(answer):
    """Check the new weights of a row with exponentials 1, 1, 2 whose scores are doubled and then raised by 10."""

    cent = 0.01  # two decimals will do

    def is_not(*wrong):
        return lambda p: not np.allclose(p, wrong, atol=cent)

    return check_value(
        "doubled_weights",
        answer,
        [
            (lambda p: np.shape(p) == (3,), "write three numbers, one for each key: [.., .., ..]"),
            (is_not(1 / 4, 1 / 4, 1 / 2), "these are the weights before: adding 10 keeps them, doubling does not"),
            (is_not(1 / 2, 1 / 2, 1), "you doubled the weights: doubling a score squares its exponential"),
            (is_not(1 / 16, 1 / 16, 1 / 4), "you squared the weights: now divide them by their new sum"),
            (is_not(1, 1, 4), "these are the new exponentials: divide them by their sum"),
            (is_not(*weights.softmax([2, 2, 4])), "1, 1 and 2 are the exponentials of the scores, not the scores"),
            (is_not(12 / 38, 12 / 38, 14 / 38), "10 is added to the scores, where it is a shift; you added it later"),
            (lambda p: np.isclose(np.sum(p), 1, atol=3 * cent), "the weights of one query sum to 1, and yours do not"),
            (
                lambda p: np.allclose(p, [1 / 6, 1 / 6, 2 / 3], atol=cent),
                "doubling a score squares its exponential; give two decimals or more",
            ),
        ],
    )


def softmax(answer):
    """Check a softmax over the last axis, for any leading axes and scores of any size."""
    return check_function(
        "softmax", answer, right=weights.softmax, inputs=SCORES, mistakes=SOFTMAX_MISTAKES
    )


def softmax_axis(answer):
    """Check a function that says along which axis weights sum to 1: -1, -2, or 0 for neither."""
    over_keys = weights.softmax(np.cos(np.arange(24.0)).reshape(2, 3, 4))
    over_queries = weights.softmax(np.cos(np.arange(24.0)).reshape(2, 3, 4), axis=-2)
    inputs = [
        (over_keys,),
        (over_queries,),
        (over_keys[0],),
        (over_queries[0],),
        (np.full((3, 3), 1 / 3),),  # both: counts as keys
        (np.array([[0.25, 0.75], [0.25, 0.5]]),),  # the first row sums to 1, the second does not
        (np.array([[0.25, 0.5], [0.25, 0.75]]),),  # only the second does
        (np.array([[0.25, 0.5], [0.75, 0.25]]),),  # the same for columns
        (np.array([[0.5, 0.25], [0.5, 0.75]]),),  # columns do; the row sums, 0.75 and 1.25, only on average
        (np.concatenate([over_keys, 2 * over_keys]),),  # only the first matrices of the batch are right
    ]
    mistakes = [
        Mistake(
            "swapped",
            lambda A: {-1: -2, -2: -1, 0: 0}[_axis(A, order=(-2, -1))],
            "you have the two swapped: A.sum(axis=-1) adds along each row, over the keys, so it tests −1",
        ),
        Mistake(
            "queries first",
            lambda A: _axis(A, order=(-2, -1)),
            "where rows and columns both sum to 1 the answer is −1: test the rows first",
        ),
        Mistake(
            "no rounding",
            lambda A: _axis(A, all_one=lambda sums: (sums == 1).all()),
            "a sum of rounded weights is rarely exactly 1: compare with np.allclose, not ==",
        ),
        Mistake(
            "any",
            lambda A: _axis(A, all_one=lambda sums: np.isclose(sums, 1).any()),
            "one row that sums to 1 is not enough: every row has to",
        ),
        Mistake(
            "first only",
            lambda A: _axis(A, all_one=lambda sums: np.isclose(sums.flat[0], 1)),
            "one row that sums to 1 is not enough: every row has to",
        ),
        Mistake(
            "mean",
            lambda A: _axis(A, all_one=lambda sums: np.isclose(sums.mean(), 1)),
            "the mean of the sums can be 1 although they are not: every row has to sum to 1",
        ),
        Mistake(
            "counted from the front",
            lambda A: {1: -1, 0: -2, None: 0}[_axis(A, order=(1, 0), neither=None)],
            "with a batch axis in front, axis 1 is the queries: count from the end, axis=-1 and axis=-2",
        ),
    ]
    return check_function("softmax_axis", answer, right=_axis, inputs=inputs, mistakes=mistakes)


def log_softmax(answer):
    """Check the logarithm of the softmax over the last axis, for scores of any size."""
    return check_function(
        "log_softmax", answer, right=weights.log_softmax, inputs=SCORES, mistakes=LOG_SOFTMAX_MISTAKES
    )


def softmax_jacobian(answer):
    """Check the Jacobian of each row of weights, for any leading axes."""
    inputs = [
        (np.array([1 / 8, 2 / 8, 5 / 8]),),
        (weights.softmax(np.sin(np.arange(6.0)).reshape(2, 3)),),
        (weights.softmax(np.cos(np.arange(24.0)).reshape(2, 3, 4)),),
    ]
    right = weights.softmax_jacobian

    def diagonal(p):
        return p[..., :, None] * np.eye(p.shape[-1])

    def outer(p):
        return p[..., :, None] * p[..., None, :]

    mistakes = [
        Mistake(
            "one row only",
            lambda p: np.diag(p) - np.outer(p, p),
            "right for one row; np.diag and np.outer know no batch: use p[..., :, None] and p[..., None, :]",
        ),
        Mistake(
            "own score only",
            lambda p: p * (1 - p),
            "p(1 − p) is only the diagonal: each weight also moves with the scores of the other keys",
        ),
        Mistake(
            "own score only",
            lambda p: diagonal(p * (1 - p)),
            "p(1 − p) is only the diagonal: each weight also moves with the scores of the other keys",
        ),
        Mistake("no diagonal", lambda p: -outer(p), "where j = k there is p_j more: add p on the diagonal"),
        Mistake("no outer product", diagonal, "the sum in the softmax moves too: take off p pᵀ"),
        Mistake("sign", lambda p: diagonal(p) + outer(p), "your rows do not sum to 0: p pᵀ is taken off, not added"),
        Mistake("sign", lambda p: outer(p) - diagonal(p), "the sign is wrong: a weight grows with its own score"),
        Mistake(
            "inner product",
            lambda p: diagonal(p) - (p * p).sum(axis=-1)[..., None, None],
            "p @ p is one number, the inner product: p pᵀ is a matrix, p[..., :, None] * p[..., None, :]",
        ),
        Mistake(
            "scores",
            lambda p: right(weights.softmax(p)),
            "the argument holds weights already: do not take the softmax again",
        ),
    ]
    return check_function("softmax_jacobian", answer, right=right, inputs=inputs, mistakes=mistakes)


def temperature(answer):
    """Check the temperature at which the largest weight of a row has a given size."""
    inputs = [
        (np.log([1.0, 2.0, 5.0]), 0.9),
        (np.array([3.0, 1.0, 0.0, -2.0]), 0.4),
        (np.array([0.0, 4.0]), 0.75),
        (np.array([1000.0, 1001.0, 999.0]), 0.95),
        (np.array([0.0, 500.0, 100.0, 0.0]), 0.26),
        (np.array([0.0, 1e-3, -1e-3]), 0.99),
    ]

    def two_keys(scores, top):
        first, second = np.sort(scores)[::-1][:2]
        return (first - second) / math.log(top / (1 - top))

    mistakes = [
        Mistake(
            "inverse",
            lambda scores, top: 1 / _temperature(scores, top),
            "this is 1/τ: scores are divided by the temperature, not multiplied",
        ),
        Mistake(
            "two keys",
            two_keys,
            "this is right for two keys only: with more, all of them take part in the sum",
        ),
        Mistake(
            "largest weight",
            lambda scores, top: weights.softmax(scores).max(),
            "this is the largest weight at temperature 1: return the temperature at which it is `top`",
        ),
        Mistake("top", lambda scores, top: top, "this is the weight that is wanted: return the temperature"),
    ]
    return check_function(
        "temperature", answer, right=_temperature, inputs=inputs, mistakes=mistakes, rtol=2e-3, atol=0.0
    )


def _axis(A, order=(-1, -2), all_one=lambda sums: np.allclose(sums, 1, atol=1e-5), neither=0):
    """Return the first axis of `order` along which all sums of A are 1."""
    return next((axis for axis in order if all_one(A.sum(axis=axis))), neither)


def _temperature(scores, top):
    """Return τ with softmax(scores / τ).max() == top, by halving an interval of log τ."""
    spread = scores.max() - scores.min()
    low, high = 1e-8 * spread, 1e8 * spread
    for _ in range(100):
        tau = math.sqrt(low * high)
        low, high = (tau, high) if weights.softmax(scores / tau).max() > top else (low, tau)
    return tau


def _log_shares(x, shift=no_shift, axis=-1, *, put_back=1, log=np.log, keepdims=True):
    """Return a log-softmax that takes off `shift(x)` inside the logarithm, and `put_back` times it outside."""
    m = shift(x)
    return x - put_back * m - log(np.exp(x - m).sum(axis=axis, keepdims=keepdims))


def _row_by_row(f):
    """Return a function that applies `f` to each row, a list of floats."""
    return lambda x: np.apply_along_axis(lambda row: np.array(f(row.tolist())), -1, x)


def _with_math(row):
    e = [math.exp(s) for s in row]  # raises OverflowError where NumPy returns inf
    return [each / sum(e) for each in e]


def _everything(x):
    return x.max()


def _zero_or_more(x):
    return np.maximum(0, x.max(axis=-1, keepdims=True))


def _column(x):
    return x.max(axis=-2, keepdims=True)


def _first_axis(x):
    return x.max(axis=0)


def _axis_1(x):
    return x.max(axis=1, keepdims=True)


def _flat_axis_1(x):
    return x.max(axis=1)


def _transposed_sum(x, shift):
    e = np.exp(x - shift(x))
    return e.T / e.sum(axis=-1)  # keepdims avoided by a transpose that is never undone


def _two_shifts(x, above, below):
    return np.exp(x - above(x)) / np.exp(x - below(x)).sum(axis=-1, keepdims=True)


STABLE_OR_NOT = (weights.softmax, shares, partial(shares, shift=_everything))
TURNS = (np.transpose, np.matrix_transpose, lambda x: x.swapaxes(-1, -2))  # they differ for a row and for a batch
SHIFTS = (no_shift, row_maximum, _everything, _zero_or_more, _column, _first_axis)
AXIS_LOST_SOMEWHERE = [
    *(
        {"shift": f, "axis": a, "keepdims": False}
        for f, a in product((*SHIFTS, flat_maximum, _axis_1, _flat_axis_1), (-1, 1))
    ),
    *({"shift": f, "axis": a} for f, a in product((flat_maximum, _flat_axis_1), (-1, 1))),
]
OVER_QUERIES = "your columns sum to 1, your rows do not: you normalised over queries. Sum with axis=-1, over the keys"
OVER_ALL = "all your weights together sum to 1: each row has to, so sum with axis=-1"
AXIS_1 = "right for a matrix, not for other shapes: axis=1 is the keys only there. Count from the end, axis=-1"
NO_SHIFT = "exponentials of large scores overflow, of very negative ones vanish: take off each row's maximum first"
COLUMN = "you took off the maximum of each column: a row far below it vanishes. Take off the row's own, axis=-1"
GLOBAL = "a row far below the maximum of the whole array vanishes: take off each row's own maximum, axis=-1"
ZERO = "a row of very negative scores vanishes: take off its maximum even where that is below 0"
TURNED = "your result is transposed: the weight of score [i, j] belongs at [i, j]"
HALF_SHIFT = "you took the maximum off in the numerator or in the denominator alone: it cancels only if both have it"
NOT_DIVIDED = "exponentials are not weights yet: divide by their sum"

SOFTMAX_MISTAKES = [
    *(Mistake("queries", partial(shares, shift=f, axis=a), OVER_QUERIES) for f, a in product(SHIFTS, (-2, 0))),
    Mistake("queries", lambda x: weights.softmax(x, axis=-2), OVER_QUERIES),
    *(Mistake("all entries", partial(shares, shift=f, axis=None), OVER_ALL) for f in SHIFTS),
    *(Mistake("axis 1", partial(shares, shift=f, axis=1), AXIS_1) for f in (*SHIFTS, _axis_1)),
    Mistake("axis 1", partial(shares, shift=_axis_1), AXIS_1),
    Mistake("axis 1", lambda x: weights.softmax(x, axis=1), AXIS_1),
    *(Mistake("keepdims", partial(shares, **lost), KEEPDIMS) for lost in AXIS_LOST_SOMEWHERE),
    *(Mistake("transposed", lambda x, t=t, f=f: t(f(x)), TURNED) for t, f in product(TURNS, (shares, weights.softmax))),
    *(Mistake("transposed", partial(_transposed_sum, shift=f), TURNED) for f in (no_shift, row_maximum, _everything)),
    Mistake("no exponential", lambda x: x / x.sum(axis=-1, keepdims=True), "take the exponential of each score first"),
    *(Mistake("not divided", lambda x, f=f: np.exp(x - f(x)), NOT_DIVIDED) for f in SHIFTS),
    *(
        Mistake("base 2", partial(shares, shift=f, exp=np.exp2), "the base is e, not 2: use np.exp")
        for f in (no_shift, row_maximum, _everything)
    ),
    Mistake(
        "sigmoid",
        lambda x: 1 / (1 + np.exp(-x)),
        "this is the sigmoid of each score by itself: a weight depends on the other scores of its row too",
    ),
    Mistake("sign", lambda x: weights.softmax(-x), SIGN),
    *(Mistake("sign", partial(shares, shift=f, exp=exp_minus), SIGN) for f in (no_shift, row_maximum, _everything)),
    *(Mistake("softmax twice", lambda x, f=f: weights.softmax(f(x)), TWICE) for f in STABLE_OR_NOT),
    *(
        Mistake("half a shift", partial(_two_shifts, above=f, below=g), HALF_SHIFT)
        for f, g in permutations((no_shift, row_maximum, _everything), 2)
    ),
    Mistake("logarithm", weights.log_softmax, "these are the logarithms of the weights"),
    Mistake("no shift", shares, NO_SHIFT),
    Mistake("no shift", _row_by_row(_with_math), NO_SHIFT),
    Mistake("shift of all", partial(shares, shift=_everything), GLOBAL),
    *(Mistake("shift of columns", partial(shares, shift=f), COLUMN) for f in (_column, _first_axis)),
    Mistake("shift of at least 0", partial(shares, shift=_zero_or_more), ZERO),
    Mistake(
        "minimum",
        partial(shares, shift=lambda x: x.min(axis=-1, keepdims=True)),
        "taking off the minimum makes scores larger: take off the maximum",
    ),
    Mistake(
        "mean",
        partial(shares, shift=lambda x: x.mean(axis=-1, keepdims=True)),
        "taking off the mean leaves large scores large: take off the maximum",
    ),
]

LOG_OF_ZERO = "the weight rounds to 0 before the logarithm sees it: compute s − m − log Σ exp(s − m) instead"
EPSILON = "a small number added to the weight hides the loss, it does not undo it: never form the weight"
EPSILONS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30, 1e-300)
PUT_BACK = "what is taken off inside the logarithm has to come back: log Σ exp(s) = m + log Σ exp(s − m)"
OTHER_BASE = "your logarithm has another base: the weights are made with e, so take the natural one, np.log"
NEGATIVE = "this is minus the logarithm: weights are below 1, so their logarithms are negative"
LOG_SOFTMAX_MISTAKES = [
    *(
        Mistake("queries", partial(_log_shares, shift=f, axis=a), OVER_QUERIES)
        for f, a in product((no_shift, row_maximum, _column), (-2, 0))
    ),
    *(Mistake("queries", lambda x, a=a: weights.log_softmax(x, axis=a), OVER_QUERIES) for a in (-2, 0)),
    *(Mistake("queries", lambda x, a=a: np.log(weights.softmax(x, axis=a)), OVER_QUERIES) for a in (-2, 0)),
    *(Mistake("axis 1", partial(_log_shares, shift=f, axis=1), AXIS_1) for f in (no_shift, row_maximum, _axis_1)),
    Mistake("axis 1", partial(_log_shares, shift=_axis_1), AXIS_1),
    *(Mistake("keepdims", partial(_log_shares, **lost), KEEPDIMS) for lost in AXIS_LOST_SOMEWHERE),
    *(
        Mistake("all entries", partial(_log_shares, shift=f, axis=None), OVER_ALL)
        for f in (no_shift, row_maximum, _everything)
    ),
    *(Mistake("log of softmax", lambda x, f=f: np.log(f(x)), LOG_OF_ZERO) for f in STABLE_OR_NOT),
    *(
        Mistake("wrong base", partial(_log_shares, shift=f, log=log), OTHER_BASE)
        for f, log in product((no_shift, row_maximum, _everything), (np.log2, np.log10))
    ),
    *(
        Mistake("wrong base", lambda x, f=f, log=log: log(f(x)), OTHER_BASE)
        for f, log in product(STABLE_OR_NOT, (np.log2, np.log10))
    ),
    *(Mistake("negative", lambda x, f=f: -np.log(f(x)), NEGATIVE) for f in STABLE_OR_NOT),
    *(Mistake("negative", lambda x, f=f: -f(x), NEGATIVE) for f in (weights.log_softmax, _log_shares)),
    *(
        Mistake(
            "sign of the logarithm",
            partial(_log_shares, shift=f, log=lambda x: -np.log(x)),
            "you added the logarithm of the sum: to divide by the sum is to subtract its logarithm",
        )
        for f in (no_shift, row_maximum)
    ),
    *(
        Mistake(
            "maximum taken off twice",
            lambda x, f=f: _log_shares(x) - f(x),
            "the maximum is off the score and still inside the logarithm: log Σ exp(s) = m + log Σ exp(s − m)",
        )
        for f in (row_maximum, _everything)
    ),
    *(Mistake("transposed", lambda x, t=t: t(weights.log_softmax(x)), TURNED) for t in TURNS),
    *(Mistake("epsilon", lambda x, eps=eps: np.log(weights.softmax(x) + eps), EPSILON) for eps in EPSILONS),
    *(Mistake("epsilon", lambda x, eps=eps: np.log(np.maximum(weights.softmax(x), eps)), EPSILON) for eps in EPSILONS),
    Mistake("no shift", _log_shares, NO_SHIFT),
    Mistake("shift of all", partial(_log_shares, shift=_everything), GLOBAL),
    *(Mistake("shift of columns", partial(_log_shares, shift=f), COLUMN) for f in (_column, _first_axis)),
    Mistake("shift of at least 0", partial(_log_shares, shift=_zero_or_more), ZERO),
    *(
        Mistake("maximum not put back", partial(_log_shares, shift=f, put_back=0), PUT_BACK)
        for f in (row_maximum, _everything)
    ),
    Mistake(
        "sign of the maximum",
        partial(_log_shares, shift=row_maximum, put_back=-1),
        "the maximum has the wrong sign: log Σ exp(s) = m + log Σ exp(s − m), and all of it is taken off",
    ),
    Mistake(
        "log-sum-exp",
        lambda x: x - weights.log_softmax(x),
        "this is log-sum-exp, repeated: take it off the scores",
    ),
    Mistake(
        "log-sum-exp",
        lambda x: (x - weights.log_softmax(x))[..., 0],
        "this is log-sum-exp: take it off the scores, and keep its axis with keepdims=True",
    ),
    Mistake("weights", weights.softmax, "these are the weights: their logarithm is wanted"),
]
