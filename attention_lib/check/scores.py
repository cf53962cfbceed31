"""Self-checks of chapter 02: scores."""

import numpy as np

from attention_lib.check._engine import Mistake, check_function, check_value, numbers
from attention_lib.check._shared import LAST_FEATURE, random

# More keys than queries, fewer, and as many keys as queries as features: the case no shape test notices.
PAIRS = [random((2, 3), (4, 3)), random((5, 2), (3, 2)), random((3, 3), (3, 3))]


def score_matrix(answer):
    """Check ``answer(Q, K)``, the scores of every query with every key."""
    return check_function("score_matrix", answer, right=scores, inputs=PAIRS, mistakes=SCORE_MISTAKES)


def scores(Q, K):
    return Q @ K.mT


def partly(Q, K, *, rows=None, columns=None, shape=None):
    """Fill only the first `rows` and `columns` of the scores, as a loop does that runs short."""
    N, M = len(Q), len(K)
    result = np.zeros((N, M) if shape is None else shape)
    for i in range(N if rows is None else rows):
        for j in range(M if columns is None else columns):
            result[i, j] = Q[i] @ K[j]
    return result


def own_key(Q, K):
    return np.array([Q[i] @ K[i] for i in range(len(Q))])


def unit(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


TRANSPOSED = Mistake(
    "transposed",
    lambda Q, K: K @ Q.mT,
    "your rows are keys and your columns are queries: entry [i, j] belongs to query i and key j",
)
SCALED = Mistake(
    "scaled",
    lambda Q, K: Q @ K.mT / np.sqrt(Q.shape[-1]),
    "you divided by the square root of the number of features: here the dot products stay as they are",
)
NOT_TRANSPOSED = Mistake(
    "not transposed",
    lambda Q, K: Q @ K,
    "Q @ K pairs the features of a query with the rows of K: transpose K, so that queries meet keys",
)
ENTRY_BY_ENTRY = Mistake(
    "entry by entry",
    lambda Q, K: Q * K,
    "you multiplied entry by entry: a score is a sum of such products, one for each query with each key",
)
OWN_KEY = "you paired query i with key i alone: every query meets every key, so the result is (N, M)"
WRONG_SUM = "your sum runs over tokens: sum over the features, the last axis, so that (N, M) remains"
ONE_SUM = "you summed over all axes, which leaves one number: sum over the features alone, with axis=-1"
SHORT = "your result is only partly filled: does the return stand inside a loop?"
SQUARE = "both your loops count the queries: the number of keys may differ, so the inner loop runs over len(K)"
SCORE_MISTAKES = [
    TRANSPOSED,
    SCALED,
    NOT_TRANSPOSED,
    ENTRY_BY_ENTRY,
    Mistake("queries only", lambda Q, K: Q @ Q.mT, "you scored the queries against themselves: K is never used"),
    Mistake("keys only", lambda Q, K: K @ K.mT, "you scored the keys against themselves: Q is never used"),
    Mistake("not summed", lambda Q, K: Q[:, None] * K, "you multiplied feature by feature: now sum over the features"),
    Mistake("summed over keys", lambda Q, K: (Q[:, None] * K).sum(1), WRONG_SUM),
    Mistake("summed over queries", lambda Q, K: (Q[:, None] * K).sum(0), WRONG_SUM),
    Mistake("summed over everything", lambda Q, K: (Q[:, None] * K).sum(), ONE_SUM),
    Mistake("summed over everything", lambda Q, K: np.full((len(Q), len(K)), (Q[:, None] * K).sum()), ONE_SUM),
    Mistake("own key only", own_key, OWN_KEY),
    Mistake("own key only", lambda Q, K: (Q * K).sum(-1), OWN_KEY),
    Mistake("square", lambda Q, K: partly(Q, K, columns=len(Q)), SQUARE),
    Mistake("square", lambda Q, K: partly(Q, K, columns=len(Q), shape=(len(Q), len(Q))), SQUARE),
    Mistake("early return", lambda Q, K: partly(Q, K, rows=1), SHORT),
    Mistake("early return", lambda Q, K: partly(Q, K, rows=1, columns=1), SHORT),
    Mistake("last feature only", lambda Q, K: np.outer(Q[:, -1], K[:, -1]), LAST_FEATURE),
    Mistake(
        "product of sums",
        lambda Q, K: np.outer(Q.sum(-1), K.sum(-1)),
        "you summed each vector and then multiplied: multiply feature by feature first, then sum",
    ),
    Mistake(
        "cosine",
        lambda Q, K: unit(Q) @ unit(K).mT,
        "these are cosines: you divided by the lengths, which a score keeps",
    ),
    Mistake(
        "whole numbers",
        lambda Q, K: (Q @ K.mT).astype(int),
        "your result holds whole numbers: an integer array cuts off the decimals, so start from np.zeros((N, M))",
    ),
    Mistake(
        "distance",
        lambda Q, K: np.linalg.norm(Q[:, None] - K, axis=-1),
        "these are distances: a score is the sum of the products of features",
    ),
]


BATCHES = [
    random((2, 3), (4, 3)),  # one sequence
    random((3, 3, 3), (3, 3, 3)),  # a cube: no shape tells its axes apart
    random((2, 3, 4, 5), (2, 3, 6, 5)),  # heads in a batch
    random((2, 4, 5), (6, 5)),  # keys that a batch shares
]


def batched_scores(answer):
    """Check ``answer(Q, K)``, the scores within each sequence of a batch, under any leading axes."""
    return check_function("batched_scores", answer, right=scores, inputs=BATCHES, mistakes=BATCH_MISTAKES)


THREE_AXES = "this handles one number of axes only: name the last two axes (.mT, or ... in einsum) and leave the rest"
BATCH_MISTAKES = [
    TRANSPOSED,
    SCALED,
    NOT_TRANSPOSED,
    ENTRY_BY_ENTRY,
    Mistake(
        "all axes reversed",
        lambda Q, K: Q @ K.T,
        "K.T reverses all axes, the batch too: swap the last two alone, with K.mT or np.swapaxes(K, -1, -2)",
    ),
    Mistake(
        "first axes swapped",
        lambda Q, K: Q @ K.swapaxes(0, 1),
        "you swapped the first two axes, which hold the batch: swap the last two, with K.mT",
    ),
    Mistake(
        "across the batch",
        lambda Q, K: np.inner(Q, K),
        "np.dot and np.inner pair every sequence with every other: use @, which pairs them one to one",
    ),
    Mistake("three axes only", lambda Q, K: np.einsum("bnd,bmd->bnm", Q, K), THREE_AXES),
    Mistake("three axes only", lambda Q, K: Q @ K.swapaxes(1, 2), THREE_AXES),
    Mistake("two axes only", lambda Q, K: np.einsum("nd,md->nm", Q, K), THREE_AXES),
    Mistake("own key only", lambda Q, K: (Q * K).sum(-1), OWN_KEY),
]


def pearson(answer):
    """Check ``answer(X)``, the Pearson correlation of every two rows of `X`."""
    inputs = [random((4, 3)), random((3, 3)), random((2, 6))]
    return check_function("pearson", answer, right=np.corrcoef, inputs=inputs, mistakes=PEARSON_MISTAKES)


def centred(X, axis=-1, keepdims=True):
    return X - X.mean(axis=axis, keepdims=keepdims)


UNSCALED = "this is a covariance: after centring, divide each row by its length, so that the diagonal is 1"
KEEPDIMS = "the means do not line up with their rows: keep them as a column, with keepdims=True"
ONE_MEAN = "you subtracted one mean from everything: each row has its own, with axis=-1 and keepdims=True"
ONE_SIDE = "you divided by the length of one token of the two: divide both factors of the product by their lengths"
PEARSON_MISTAKES = [
    Mistake("not centred", lambda X: unit(X) @ unit(X).T, "these are cosines: subtract each row's mean first"),
    Mistake(
        "centred over tokens",
        lambda X: unit(centred(X, axis=0)) @ unit(centred(X, axis=0)).T,
        "you subtracted each column's mean: a token is a row, so average over its features, with axis=-1",
    ),
    Mistake("one mean for all", lambda X: unit(centred(X, axis=None)) @ unit(centred(X, axis=None)).T, ONE_MEAN),
    Mistake("one mean for all", lambda X: centred(X, axis=None) @ centred(X, axis=None).T, ONE_MEAN),
    Mistake(
        "means as a row",
        lambda X: unit(centred(X, keepdims=False)) @ unit(centred(X, keepdims=False)).T,
        KEEPDIMS,
    ),
    Mistake(
        "means as a row",
        lambda X: (c := centred(X, keepdims=False)) / np.linalg.norm(c, axis=-1) @ c.T,  # the lengths too
        KEEPDIMS,
    ),
    Mistake("lengths as a row", lambda X: (c := centred(X)) / np.linalg.norm(c, axis=-1) @ c.T, KEEPDIMS),
    Mistake("not divided", lambda X: centred(X) @ centred(X).T, UNSCALED),
    Mistake("not divided", lambda X: np.cov(X), UNSCALED),
    Mistake("not divided", lambda X: np.cov(X, ddof=0), UNSCALED),
    Mistake("one side only", lambda X: unit(centred(X)) @ centred(X).T, ONE_SIDE),
    Mistake("one side only", lambda X: centred(X) @ unit(centred(X)).T, ONE_SIDE),
    Mistake(
        "divided by deviations",
        lambda X: np.corrcoef(X) * X.shape[-1],
        "your diagonal is d: a standard deviation is a length over √d, so divide by the length, or by d too",
    ),
    Mistake(
        "divided by deviations",
        lambda X: np.corrcoef(X) * (X.shape[-1] - 1),
        "your diagonal is d − 1: your deviation is a length over √(d − 1), so divide by the length, or by d − 1 too",
    ),
    Mistake(
        "divided before centring",
        lambda X: centred(unit(X)) @ centred(unit(X)).T,
        "you took the length before centring: centre first, then divide by the length of what is left",
    ),
    Mistake(
        "two kinds of variance",
        lambda X: np.corrcoef(X) * X.shape[-1] / (X.shape[-1] - 1),
        "your diagonal is not 1: covariance and deviations must both divide by d, or both by d − 1",
    ),
    Mistake(
        "features, not tokens",
        lambda X: np.corrcoef(X.T),
        "you correlated the columns: tokens are rows, and the result is (n, n)",
    ),
]


def lone_winner(answer):
    """Check four tokens of two features of which exactly one has no higher score than its own in its row."""
    return check_value(
        "lone_winner",
        answer,
        [
            (lambda X: np.shape(X) == (4, 2), "give 4 tokens of 2 features each: an array of shape (4, 2)"),
            (np.isfinite, "every feature must be a finite real number"),
            (
                lambda X: wins(X).sum() < 4,
                "every token still wins its row: a token loses only to a longer one that points nearly its way",
            ),
            (
                lambda X: wins(X).sum() == 1 or not np.any(wins(X) & ties(X)),
                "a token's own score is equalled in its row, and a tie is not a loss: let another be higher there",
            ),
            (
                lambda X: wins(X).sum() == 1,
                "more than one token still wins its row: let the longest one point nearly the way of all the others",
            ),
        ],
    )


def wins(X):
    """Say of each token whether its score with itself is not exceeded in its row."""
    S = X @ X.mT
    return S.max(axis=-1) <= np.diag(S) * (1 + 1e-12)


def ties(X):
    """Say of each token whether its score with itself comes twice in its row."""
    S = X @ X.mT
    return np.isclose(S, np.diag(S)[:, None], rtol=1e-12, atol=0).sum(axis=-1) > 1


def tokens_from_scores(answer):
    """Check ``answer(S)``, tokens whose score matrix is `S`; many are right, so their scores are compared."""

    return check_function(
        "tokens_from_scores",
        scores_of(answer) if callable(answer) else answer,
        right=lambda S: S,
        inputs=POSSIBLE,
        mistakes=[Mistake(m.name, scores_of(m.imitation), m.hint) for m in TOKEN_MISTAKES],
        form="return one array with one token a row",
        called="(X @ X.T)",
    )


def scores_of(function):
    """Return a function that makes tokens with `function` and scores them; what are no tokens it returns as it is."""

    def scores_again(S):
        X = function(S)
        tokens = numbers(X)
        return X if tokens is None or tokens.ndim != 2 or len(tokens) != len(S) else tokens @ tokens.mT

    return scores_again


def possible_scores(n, d):
    (X,) = random((n, d))
    return ((X @ X.T).round(9),)  # rounded: where more tokens than features leave a 0, it may become −1e-10


POSSIBLE = [possible_scores(6, 2), possible_scores(3, 4), possible_scores(4, 1)]


def by_eigenvectors(scale):
    """Return a function from scores to tokens, where ``scale(eigenvectors, eigenvalues)`` puts the two together."""

    def tokens(S):
        values, vectors = np.linalg.eigh(S)
        return scale(vectors, values)

    return tokens


def root(values):
    return np.sqrt(values.clip(0))


TOKEN_MISTAKES = [
    Mistake(
        "root of a negative",
        by_eigenvectors(lambda V, values: V * np.sqrt(values)),
        "an eigenvalue that should be 0 came out a little below it, and its root is NaN: clip at 0 first",
    ),
    Mistake(
        "Cholesky",
        np.linalg.cholesky,
        "np.linalg.cholesky needs eigenvalues above 0, and more tokens than features leave some at 0: use eigh",
    ),
    Mistake(
        "no root",
        by_eigenvectors(lambda V, values: V * values),
        "your tokens have the scores S·S: each side of X·Xᵀ takes the square root of an eigenvalue",
    ),
    *(
        Mistake(
            "root of a negative",
            by_eigenvectors(lambda V, values, root=root: V * root(values)),
            "an eigenvalue that should be 0 came out a little below it, and its root is complex: clip at 0 first",
        )
        for root in (np.emath.sqrt, lambda values: np.sqrt(values + 0j))
    ),
    Mistake("no eigenvalues", by_eigenvectors(lambda V, values: V), "scale each eigenvector by its eigenvalue's root"),
    Mistake(
        "rows scaled",  # the transpose of the right answer has the same scores
        by_eigenvectors(lambda V, values: V * root(values)[:, None]),
        "your scores are 0 off the diagonal: the eigenvectors are the columns that eigh returns, "
        "so each column gets its own root, and nothing is transposed",
    ),
    Mistake(
        "root of each entry",
        lambda S: np.sqrt(S),
        "np.sqrt works entry by entry: take the roots of the eigenvalues instead",
    ),
]
