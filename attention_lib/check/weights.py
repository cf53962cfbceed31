"""Self-checks of chapter 03: softmax, its logarithm and its derivative, the wrong axis, temperature."""

import math
from itertools import product

import numpy as np

from attention_lib import weights
from attention_lib.check._engine import Mistake, check_function, check_value

# Rectangular and square, a batch, one row, and scores far from 0: on these the usual mistakes part.
SCORES = [
    (np.log([[1.0, 2.0, 5.0], [3.0, 2.0, 3.0]]),),
    (np.array([[0.5, -1.0, 2.0], [0.0, 1.5, -0.5], [3.0, 0.25, -2.0]]),),
    (np.sin(np.arange(24.0)).reshape(2, 3, 4),),
    (np.array([-1.5, 0.0, 0.75]),),
    (np.array([[0.0, 1.0, 3.0], [1000.0, 1001.0, 1003.0]]),),
    (np.array([[-1000.0, -1002.0], [-3000.0, -3001.0]]),),
    (np.array([0.0, 3000.0, 0.0]),),
    (np.array([[0.0, 1000.0]]),),
]
ROUNDING = {"rtol": 1e-4, "atol": 1e-6}  # a float32 answer is a right answer


def doubled_weights(answer):
    """Check the new weights of a row with exponentials 1, 1, 2 whose scores are doubled and then raised by 10."""

    def is_not(*wrong):
        return lambda p: not np.allclose(p, wrong, atol=2e-3)

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
            (lambda p: np.isclose(np.sum(p), 1, atol=5e-3), "the weights of one query sum to 1, and yours do not"),
            (lambda p: np.allclose(p, [1 / 6, 1 / 6, 2 / 3], atol=2e-3), "doubling a score squares its exponential"),
        ],
    )


def softmax(answer):
    """Check a softmax over the last axis, for any leading axes and scores of any size."""
    return check_function(
        "softmax", answer, right=weights.softmax, inputs=SCORES, mistakes=SOFTMAX_MISTAKES, **ROUNDING
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
    return check_function("softmax_axis", answer, right=_axis, inputs=inputs, mistakes=mistakes, **ROUNDING)


def log_softmax(answer):
    """Check the logarithm of the softmax over the last axis, for scores of any size."""
    return check_function(
        "log_softmax", answer, right=weights.log_softmax, inputs=SCORES, mistakes=LOG_SOFTMAX_MISTAKES, **ROUNDING
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
    return check_function("softmax_jacobian", answer, right=right, inputs=inputs, mistakes=mistakes, **ROUNDING)


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
    return check_function("temperature", answer, right=_temperature, inputs=inputs, mistakes=mistakes, rtol=2e-3)


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


def _variant(shift, axis=-1, exp=np.exp, keepdims=True):
    """Return a softmax that takes off `shift(x)`, and sums over `axis`."""

    def imitation(x):
        e = exp(x - shift(x))
        return e / e.sum(axis=axis, keepdims=keepdims)

    return imitation


def _log_variant(shift, axis=-1, put_back=1, keepdims=True):
    """Return a log-softmax that takes off `shift(x)` inside the logarithm, and `put_back` times it outside."""

    def imitation(x):
        m = shift(x)
        return x - put_back * m - np.log(np.exp(x - m).sum(axis=axis, keepdims=keepdims))

    return imitation


def _row_by_row(f):
    """Return a function that applies `f` to each row, a list of floats."""
    return lambda x: np.apply_along_axis(lambda row: np.array(f(row.tolist())), -1, x)


def _with_math(row):
    e = [math.exp(s) for s in row]  # raises OverflowError where NumPy returns inf
    return [each / sum(e) for each in e]


def _none(x):
    return 0.0


def _row(x):
    return x.max(axis=-1, keepdims=True)


def _everything(x):
    return x.max()


def _zero_or_more(x):
    return np.maximum(0, x.max(axis=-1, keepdims=True))


def _column(x):
    return x.max(axis=-2, keepdims=True)


SHIFTS = (_none, _row, _everything, _zero_or_more, _column, lambda x: x.max(axis=0))
OVER_QUERIES = "your columns sum to 1, your rows do not: you normalised over queries. Sum with axis=-1, over the keys"
OVER_ALL = "all your weights together sum to 1: each row has to, so sum with axis=-1"
AXIS_1 = "right for a matrix, not for other shapes: axis=1 is the keys only there. Count from the end, axis=-1"
KEEPDIMS = "the sums (or maxima) lost their axis and line up with the columns: keep it with keepdims=True"
NO_SHIFT = "exponentials of large scores overflow, of very negative ones vanish: take off each row's maximum first"
GLOBAL = "a row far below the maximum of the whole array vanishes: take off each row's own maximum, axis=-1"
ZERO = "a row of very negative scores vanishes: take off its maximum even where that is below 0"

SOFTMAX_MISTAKES = [
    *(Mistake("queries", _variant(f, axis), OVER_QUERIES) for f, axis in product(SHIFTS, (-2, 0))),
    Mistake("queries", lambda x: weights.softmax(x, axis=-2), OVER_QUERIES),
    *(Mistake("all entries", _variant(f, None), OVER_ALL) for f in SHIFTS),
    *(Mistake("axis 1", _variant(f, 1), AXIS_1) for f in (*SHIFTS, lambda x: x.max(axis=1, keepdims=True))),
    Mistake("axis 1", lambda x: weights.softmax(x, axis=1), AXIS_1),
    *(Mistake("keepdims", _variant(f, keepdims=False), KEEPDIMS) for f in SHIFTS),
    *(Mistake("keepdims", _variant(lambda x: x.max(axis=-1), keepdims=k), KEEPDIMS) for k in (True, False)),
    Mistake("no exponential", lambda x: x / x.sum(axis=-1, keepdims=True), "take the exponential of each score first"),
    *(
        Mistake("not divided", lambda x, f=f: np.exp(x - f(x)), "exponentials are not weights yet: divide by their sum")
        for f in SHIFTS
    ),
    *(
        Mistake("base 2", _variant(f, exp=np.exp2), "the base is e, not 2: use np.exp")
        for f in (_none, _row, _everything)
    ),
    Mistake(
        "sigmoid",
        lambda x: 1 / (1 + np.exp(-x)),
        "this is the sigmoid of each score by itself: a weight depends on the other scores of its row too",
    ),
    Mistake("logarithm", weights.log_softmax, "these are the logarithms of the weights"),
    Mistake("no shift", _variant(_none), NO_SHIFT),
    Mistake("no shift", _row_by_row(_with_math), NO_SHIFT),
    Mistake("shift of all", _variant(_everything), GLOBAL),
    Mistake("shift of at least 0", _variant(_zero_or_more), ZERO),
    Mistake(
        "minimum",
        _variant(lambda x: x.min(axis=-1, keepdims=True)),
        "taking off the minimum makes scores larger: take off the maximum",
    ),
    Mistake(
        "mean",
        _variant(lambda x: x.mean(axis=-1, keepdims=True)),
        "taking off the mean leaves large scores large: take off the maximum",
    ),
]

LOG_OF_ZERO = "the weight rounds to 0 before the logarithm sees it: compute s − m − log Σ exp(s − m) instead"
EPSILON = "a small number added to the weight hides the loss, it does not undo it: never form the weight"
EPSILONS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30, 1e-300)
LOG_SOFTMAX_MISTAKES = [
    *(Mistake("queries", _log_variant(f, axis), OVER_QUERIES) for f, axis in product((_none, _row, _column), (-2, 0))),
    *(Mistake("queries", lambda x, a=a: weights.log_softmax(x, axis=a), OVER_QUERIES) for a in (-2, 0)),
    *(Mistake("axis 1", _log_variant(f, 1), AXIS_1) for f in (_none, _row, lambda x: x.max(axis=1, keepdims=True))),
    *(Mistake("keepdims", _log_variant(f, keepdims=False), KEEPDIMS) for f in (_none, _row)),
    *(Mistake("keepdims", _log_variant(lambda x: x.max(axis=-1), keepdims=k), KEEPDIMS) for k in (True, False)),
    *(Mistake("all entries", _log_variant(f, None), OVER_ALL) for f in (_none, _row, _everything)),
    *(
        Mistake("log of softmax", lambda x, f=f: np.log(f(x)), LOG_OF_ZERO)
        for f in (weights.softmax, _variant(_none), _variant(_everything))
    ),
    *(Mistake("epsilon", lambda x, eps=eps: np.log(weights.softmax(x) + eps), EPSILON) for eps in EPSILONS),
    *(Mistake("epsilon", lambda x, eps=eps: np.log(np.maximum(weights.softmax(x), eps)), EPSILON) for eps in EPSILONS),
    Mistake("no shift", _log_variant(_none), NO_SHIFT),
    Mistake("shift of all", _log_variant(_everything), GLOBAL),
    Mistake("shift of at least 0", _log_variant(_zero_or_more), ZERO),
    Mistake(
        "maximum not put back",
        _log_variant(_row, put_back=0),
        "what is taken off inside the logarithm has to come back: log Σ exp(s) = m + log Σ exp(s − m)",
    ),
    Mistake(
        "sign of the maximum",
        _log_variant(_row, put_back=-1),
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
