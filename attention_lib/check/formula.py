"""Self-checks of chapter 01: the formula."""

import numpy as np

from attention_lib.check._engine import Mistake, check_function
from attention_lib.check._shared import KEEPDIMS, LAST_FEATURE, LOST_AXIS, SIGN, TWICE, exp_minus, random, shares

TRIPLES = [
    random((5, 4), (3, 4), (3, 2)),  # N, M, d_k and d_v all differ, so that no two can be confused and still agree
    random((2, 3), (6, 3), (6, 5), seed=1),
    random((3, 3), (3, 3), (3, 3), seed=2),  # all the same: here even shapes that should not fit give numbers
]


def attention_shapes(answer):
    """Check ``answer(Q, K, V)``, the shapes of scores, weights and output."""
    return check_function(
        "attention_shapes",
        answer,
        right=lambda Q, K, V: shapes(len(Q), len(K), rows=len(Q), columns=V.shape[1]),
        inputs=TRIPLES,
        mistakes=SHAPE_MISTAKES,
        form="return three pairs of numbers: the shapes of the scores, of the weights and of the output",
    )


def shapes(N, M, *, rows, columns):
    """Return scores of N by M, weights alike, and an output of `rows` by `columns`."""
    return [[N, M], [N, M], [rows, columns]]  # a list, so that pairs may come as tuples, lists or an array


KEYS_FIRST = "you have a row of scores for each key: row i belongs to query i, and its M entries are the keys"
SHAPE_MISTAKES = [
    Mistake("keys first", lambda Q, K, V: shapes(len(K), len(Q), rows=len(Q), columns=V.shape[1]), KEYS_FIRST),
    Mistake("keys first", lambda Q, K, V: shapes(len(K), len(Q), rows=len(K), columns=V.shape[1]), KEYS_FIRST),
    Mistake(
        "output per key",
        lambda Q, K, V: shapes(len(Q), len(K), rows=len(K), columns=V.shape[1]),
        "your output has a row for each key: it is the queries that ask, so each query gets a row",
    ),
    Mistake(
        "output like query",
        lambda Q, K, V: shapes(len(Q), len(K), rows=len(Q), columns=Q.shape[1]),
        "your output has d_k columns, like a query: it is made of values, so count the columns of V",
    ),
    Mistake(
        "output like weights",
        lambda Q, K, V: shapes(len(Q), len(K), rows=len(Q), columns=len(K)),
        "your output has a column for each key: the keys are summed over, and the columns of V remain",
    ),
    Mistake(
        "square",
        lambda Q, K, V: shapes(len(Q), len(Q), rows=len(Q), columns=V.shape[1]),
        "your scores are square, as in self-attention: here M keys answer N queries",
    ),
    Mistake(
        "feature scores",
        lambda Q, K, V: shapes(Q.shape[1], Q.shape[1], rows=len(Q), columns=V.shape[1]),
        "your scores are (d_k, d_k): that compares features; Q @ K.T compares queries with keys",
    ),
    Mistake(
        "columns of K",
        lambda Q, K, V: shapes(len(Q), K.shape[1], rows=len(Q), columns=V.shape[1]),
        "your scores have d_k columns: the features are summed over, so each query has M scores, one for each key",
    ),
]


def soft_lookup(answer):
    """Check ``answer(query, keys, values)``, one soft lookup whose values are numbers."""
    inputs = [random(3, (4, 3), 4), random(2, (5, 2), 5, seed=1), ([2.0, -1.0], [[1.0, 0.0], [0.0, 1.0]], [3.0, 5.0])]
    return check_function("soft_lookup", answer, right=lookup, inputs=inputs, mistakes=LOOKUP_MISTAKES)


def dots(query, keys):
    return np.asarray(keys) @ np.asarray(query)


def lookup(query, keys, values):
    return shares(dots(query, keys)) @ values


def by_sum(scores):
    return scores / scores.sum(axis=-1, keepdims=True)


NOT_ADDED = "you return a number for each key: add them up, for the output is one number"
LOOKUP_MISTAKES = [
    Mistake(
        "hard",
        lambda query, keys, values: values[np.argmax(dots(query, keys))],
        "you return the value of the best key alone: in a soft lookup every key answers, by its weight",
    ),
    Mistake(
        "no softmax",
        lambda query, keys, values: dots(query, keys) @ values,
        "you mixed with the scores themselves: turn them into weights first, by the exponential and the sum",
    ),
    Mistake(
        "no exponential",
        lambda query, keys, values: by_sum(dots(query, keys)) @ values,
        "you divided the scores by their sum: take the exponential of each first, or negative scores turn the order",
    ),
    Mistake(
        "not divided",
        lambda query, keys, values: np.exp(dots(query, keys)) @ values,
        "your weights do not sum to 1: divide by the sum of the exponentials",
    ),
    Mistake(
        "scaled",
        lambda query, keys, values: shares(dots(query, keys) / np.sqrt(len(query))) @ values,
        "you divided by the square root of d_k: this exercise leaves the scale out",
    ),
    Mistake(
        "weights",
        lambda query, keys, values: shares(dots(query, keys)),
        "you return the weights: multiply each by its value and add up",
    ),
    Mistake("not added up", lambda query, keys, values: shares(dots(query, keys)) * values, NOT_ADDED),
    Mistake("not added up", lambda query, keys, values: np.exp(dots(query, keys)) * values, NOT_ADDED),
    Mistake(
        "last feature only",
        lambda query, keys, values: shares(query[-1] * np.asarray(keys)[:, -1]) @ values,
        LAST_FEATURE,
    ),
    Mistake(
        "mixed keys",
        lambda query, keys, values: shares(dots(query, keys)) @ keys,
        "you mixed the keys: keys are only compared, it is the values that are handed out",
    ),
    Mistake(
        "mean",
        lambda query, keys, values: np.mean(values),
        "you return the plain mean of the values: the weights have to depend on the query",
    ),
    Mistake("sign", lambda query, keys, values: shares(-dots(query, keys)) @ values, SIGN),
    Mistake("softmax twice", lambda query, keys, values: shares(shares(dots(query, keys))) @ values, TWICE),
    Mistake(
        "base 2",
        lambda query, keys, values: shares(dots(query, keys), exp=np.exp2) @ values,
        "the base is e, not 2: use math.exp",
    ),
    Mistake(
        "divided by M",
        lambda query, keys, values: lookup(query, keys, values) / len(keys),
        "you divided once too often: the weights sum to 1 already",
    ),
]


def scaled_attention(answer):
    """Check ``answer(Q, K, V)``, the formula with its scale."""
    return check_function("scaled_attention", answer, right=formula, inputs=TRIPLES, mistakes=FORMULA_MISTAKES)


def formula(Q, K, V, *, divisor=None, **softmax):
    divisor = np.sqrt(Q.shape[-1]) if divisor is None else divisor
    return shares(Q @ K.mT / divisor, **softmax) @ V


WRONG_COUNT = "you divided by the square root of another count: d_k is the number of features of a query and of a key"
FORMULA_MISTAKES = [
    Mistake(
        "no scale",
        lambda Q, K, V: formula(Q, K, V, divisor=1),
        "the scale is missing: divide the dot products by the square root of d_k",
    ),
    Mistake(
        "divided by d_k",
        lambda Q, K, V: formula(Q, K, V, divisor=Q.shape[-1]),
        "you divided by d_k: the formula has its square root",
    ),
    Mistake(
        "multiplied",
        lambda Q, K, V: formula(Q, K, V, divisor=1 / np.sqrt(Q.shape[-1])),
        "you multiplied by the square root of d_k: the formula divides by it",
    ),
    Mistake("wrong count", lambda Q, K, V: formula(Q, K, V, divisor=np.sqrt(V.shape[-1])), WRONG_COUNT),
    Mistake("wrong count", lambda Q, K, V: formula(Q, K, V, divisor=np.sqrt(len(Q))), WRONG_COUNT),
    Mistake("wrong count", lambda Q, K, V: formula(Q, K, V, divisor=np.sqrt(len(K))), WRONG_COUNT),
    Mistake(
        "over queries",
        lambda Q, K, V: formula(Q, K, V, axis=0),
        "your columns sum to 1 and your rows do not: you normalised over the queries; sum over the keys, the last axis",
    ),
    Mistake(
        "over everything",
        lambda Q, K, V: formula(Q, K, V, axis=(0, 1)),
        "all your weights together sum to 1: each query has its own sum, along the last axis",
    ),
    *(
        Mistake("keepdims", lambda Q, K, V, lost=lost, by=by: formula(Q, K, V, divisor=by, **lost), KEEPDIMS)
        for lost in LOST_AXIS
        for by in (None, 1)  # who left the scale out as well hears of that next
    ),
    Mistake("sign", lambda Q, K, V: formula(Q, K, V, exp=exp_minus), SIGN),
    Mistake("softmax twice", lambda Q, K, V: shares(shares(Q @ K.mT / np.sqrt(Q.shape[-1]))) @ V, TWICE),
    Mistake(
        "not transposed",
        lambda Q, K, V: shares(Q @ K / np.sqrt(Q.shape[-1])) @ V,
        "Q @ K pairs the features of a query with the rows of K: transpose K, so that queries meet keys",
    ),
    Mistake(
        "keys first",
        lambda Q, K, V: formula(K, Q, V),
        "you let the keys ask, K @ Q.T: with Q @ K.T each query has its row of weights",
    ),
    Mistake(
        "transposed",
        lambda Q, K, V: formula(Q, K, V).mT,
        "your rows are features: row i of the output belongs to query i, so its shape is (N, d_v)",
    ),
    Mistake(
        "scaled too late",
        lambda Q, K, V: formula(Q, K, V, divisor=1) / np.sqrt(Q.shape[-1]),
        "you divided after the softmax: the square root of d_k divides the dot products, before it",
    ),
    Mistake(
        "no softmax",
        lambda Q, K, V: Q @ K.mT / np.sqrt(Q.shape[-1]) @ V,
        "the softmax is missing: you mixed the values with the scores",
    ),
    Mistake(
        "no exponential",
        lambda Q, K, V: by_sum(Q @ K.mT / np.sqrt(Q.shape[-1])) @ V,
        "you divided the scores by their sum: take the exponential of each first",
    ),
    Mistake(
        "not divided",
        lambda Q, K, V: np.exp(Q @ K.mT / np.sqrt(Q.shape[-1])) @ V,
        "your weights do not sum to 1: divide each row of exponentials by its sum",
    ),
    Mistake(
        "weights",
        lambda Q, K, V: shares(Q @ K.mT / np.sqrt(Q.shape[-1])),
        "you return the weights: multiply them by V",
    ),
    Mistake(
        "mixed keys",
        lambda Q, K, V: formula(Q, K, K),
        "you mixed the keys: the last factor is V",
    ),
]


def self_attention_columns(answer):
    """Check ``answer(X)``, self-attention without weight matrices, for tokens in columns."""
    inputs = [random((2, 5)), random((4, 3), seed=1), random((3, 3), seed=2)]
    return check_function(
        "self_attention_columns",
        answer,
        right=lambda X: X @ shares(X.mT @ X, axis=0),
        inputs=inputs,
        mistakes=COLUMN_MISTAKES,
    )


WRONG_SIDE = "the weights of a query have to form a column when they stand to the right of X: sum down axis 0"
COLUMN_MISTAKES = [
    Mistake(
        "features",
        lambda X: shares(X @ X.mT) @ X,
        "you compared features, X @ X.T: the tokens are columns, so X.T @ X compares tokens",
    ),
    Mistake(
        "features",
        lambda X: shares(X @ X.mT, axis=0) @ X,
        "you compared features, X @ X.T: the tokens are columns, so X.T @ X compares tokens",
    ),
    Mistake("wrong axis", lambda X: X @ shares(X.mT @ X), WRONG_SIDE),
    Mistake("wrong axis", lambda X: (shares(X.mT @ X, axis=0) @ X.mT).mT, WRONG_SIDE),
    Mistake(
        "rows",
        lambda X: shares(X.mT @ X) @ X.mT,
        "your output has its tokens in rows: put them back into columns",
    ),
    Mistake("sign", lambda X: X @ shares(-(X.mT @ X), axis=0), SIGN),
    Mistake("softmax twice", lambda X: X @ shares(shares(X.mT @ X, axis=0), axis=0), TWICE),
    Mistake("no softmax", lambda X: X @ X.mT @ X, "the softmax is missing: you mixed the tokens with their scores"),
    Mistake(
        "scaled",
        lambda X: X @ shares(X.mT @ X / np.sqrt(len(X)), axis=0),
        "you divided by the square root of d: this exercise leaves the scale out",
    ),
    Mistake(
        "over everything",
        lambda X: X @ shares(X.mT @ X, axis=(0, 1)),
        "all your weights together sum to 1: each column has its own sum",
    ),
    Mistake("not divided", lambda X: X @ np.exp(X.mT @ X), "your weights do not sum to 1: divide by the column sums"),
]


def loudness(answer):
    """Check ``answer(weight, M)``, the factor that gives one of M orthonormal keys that weight."""
    inputs = [(0.9, 3), (0.99, 10), (0.5, 1000), (0.1, 4), (0.75, 2)]
    return check_function("loudness", answer, right=log_odds, inputs=inputs, mistakes=LOUDNESS_MISTAKES)


def log_odds(weight, M):
    return np.log(weight * (M - 1) / (1 - weight))


NO_LOG = "that is e to the power of c: take the logarithm to get c"
WRONG_BASE = "your logarithm has another base: the weights are made with e, so take the natural one, np.log"
LOUDNESS_MISTAKES = [
    Mistake(
        "one rival",
        lambda weight, M: np.log(weight / (1 - weight)),
        "you counted a single other key: there are M - 1 of them, each with exponential 1",
    ),
    Mistake(
        "M rivals",
        lambda weight, M: np.log(weight * M / (1 - weight)),
        "you counted the matching key among the others: only M - 1 of them have score 0",
    ),
    Mistake(
        "divided by the rivals",
        lambda weight, M: np.log(weight / (1 - weight) / (M - 1)),
        "you divided by M - 1: the more other keys there are, the louder the query has to be, so multiply by it",
    ),
    Mistake("no logarithm", lambda weight, M: weight * (M - 1) / (1 - weight), NO_LOG),
    Mistake("wrong base", lambda weight, M: np.log10(weight * (M - 1) / (1 - weight)), WRONG_BASE),
    Mistake("wrong base", lambda weight, M: np.log2(weight * (M - 1) / (1 - weight)), WRONG_BASE),
    Mistake(
        "upside down",
        lambda weight, M: -log_odds(weight, M),
        "your fraction is upside down: a weight near 1 needs a large positive c",
    ),
    Mistake(
        "zero scores vanish",
        lambda weight, M: np.log(weight),
        "you left the other keys out: a score of 0 has the exponential 1, and there are M - 1 of those in the sum",
    ),
    Mistake(
        "rivals undivided",
        lambda weight, M: np.log(weight * (M - 1)),
        "solve once more: e to the power of c stands on both sides, so weight leaves a factor 1 - weight",
    ),
    Mistake(
        "scaled",
        lambda weight, M: log_odds(weight, M) * np.sqrt(M),
        "you put the scale in: here it is 1",
    ),
]
