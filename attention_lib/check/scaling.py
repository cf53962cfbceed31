"""Self-checks of chapter 06: scaling."""

import numpy as np

from attention_lib.check._engine import Mistake, check_function, check_value
from attention_lib.check._shared import random
from attention_lib.weights import softmax_jacobian


def divisor(answer):
    """Check the standard deviation of a score: 16 products of features with standard deviations 2 and 3."""
    return check_value(
        "divisor",
        answer,
        [
            (lambda x: x.shape == (), "give one number"),
            (is_not(576), "576 is the variance of the score: its standard deviation is the root of that"),
            (is_not(4), "√d_k alone is the divisor where all features have variance 1: these have not"),
            (is_not(6), "6 is the standard deviation of one product: the score adds up 16 of them"),
            (
                is_not(96, 16),
                "the standard deviation does not grow as d_k: add the variances of the 16 products, then take the root",
            ),
            (is_not(36), "36 is the variance of one product: the score adds up 16 of them"),
            (
                is_not(np.sqrt(16 * 13), np.sqrt(13), 20),
                "in a product of independent features with mean 0 the variances multiply: they do not add",
            ),
            (is_not(1 / 24), "this is the factor to multiply by: give the number to divide by"),
            (lambda x: np.isclose(x, 24, rtol=1e-3), "what is the variance of one product, and of the sum of 16?"),
        ],
    )


def is_not(*numbers):
    return lambda x: not np.isclose(x, numbers, rtol=1e-3).any()


def head_scale(answer):
    """Check ``answer(d_model, n_heads, n_tokens)``, the factor on the dot products of each head."""
    return check_function(
        "head_scale",
        answer,
        right=lambda d_model, n_heads, n_tokens: (d_model / n_heads) ** -0.5,
        inputs=LAYERS,
        mistakes=HEAD_SCALE_MISTAKES,
    )


LAYERS = [(512, 8, 128), (768, 12, 1024), (96, 3, 10), (64, 1, 16)]  # with one head, d_model is right: others tell

PRECEDENCE = "x ** 1 / 2 is x / 2, as the power comes first: write x ** 0.5, or x ** (1 / 2)"
HEAD_SCALE_MISTAKES = [
    Mistake(
        "model dimension",
        lambda d, h, n: d**-0.5,
        "you took √d_model: each head adds up d_model / n_heads products, so that number goes under the root",
    ),
    Mistake(
        "number of tokens",
        lambda d, h, n: n**-0.5,
        "you took the number of tokens: it says how many dot products there are, not how many terms one has",
    ),
    Mistake("number of heads", lambda d, h, n: h**-0.5, "you took the number of heads: how many features has one?"),
    Mistake(
        "multiplied by the heads",
        lambda d, h, n: (d * h) ** -0.5,
        "you multiplied by the number of heads: d_model is the features of all heads together, so divide by it",
    ),
    Mistake(
        "root before the division",
        lambda d, h, n: h / d**0.5,
        "you took the root of d_model and divided it by the number of heads: divide first, then take the root",
    ),
    Mistake(
        "no root",
        lambda d, h, n: h / d,
        "you divided by d_head without a root: the standard deviation of the dot product is √d_head",
    ),
    Mistake(
        "divisor",
        lambda d, h, n: (d / h) ** 0.5,
        "this is the divisor √d_head: return the factor, one over it",
    ),
    Mistake("precedence", lambda d, h, n: 1 / ((d / h) ** 1 / 2), PRECEDENCE),
    Mistake("precedence", lambda d, h, n: (d / h) ** -1 / 2, PRECEDENCE),
    Mistake("precedence", lambda d, h, n: (d / h) ** 1 / 2, PRECEDENCE),
    Mistake(
        "fourth root",
        lambda d, h, n: (d / h) ** -0.25,
        "a fourth root belongs on queries and keys both: on the dot product it is the square root",
    ),
]


def variance_and_error(answer):
    """Check ``answer(scores)``, the mean of the rows' variances and its standard error."""
    return check_function(
        "variance_and_error",
        answer,
        right=lambda scores: mean_and_error(scores.var(axis=1, ddof=1)),
        inputs=SEEDS_OF_SCORES,
        mistakes=VARIANCE_MISTAKES,
        form="return two numbers, the mean of the variances and its standard error",
    )


def mean_and_error(values, ddof=1):
    return values.mean(), values.std(ddof=ddof) / np.sqrt(len(values))


def some_scores(seeds, pairs, seed):
    """Return scores whose rows differ in mean and spread, so that no two ways to average agree."""
    scores, means, sizes = random((seeds, pairs), (seeds, 1), (seeds, 1), seed=seed)
    return 2 * means + (4 + sizes) * scores


SEEDS_OF_SCORES = [(some_scores(5, 12, 0),), (some_scores(4, 4, 1),), (some_scores(10, 30, 2),)]

DDOF = "ddof=1 is missing: a spread around a mean taken from the same numbers comes out too small without it"
INTERVAL = "this is half of an interval: return the standard error itself"


def with_error(factor):
    """Return an imitation with the right mean and a wrong error."""

    def imitation(scores):
        mean, error = mean_and_error(scores.var(axis=1, ddof=1))
        return mean, factor(scores) * error

    return imitation


VARIANCE_MISTAKES = [
    Mistake(
        "standard deviation for error",
        with_error(lambda s: np.sqrt(len(s))),
        "your error is the spread of single variances: that of their mean is smaller, by the root of their number",
    ),
    Mistake(
        "divided by the number",
        with_error(lambda s: 1 / np.sqrt(len(s))),
        "you divided by the number of seeds: divide by its root",
    ),
    Mistake(
        "root of the pairs",
        with_error(lambda s: np.sqrt(len(s) / s.shape[1])),
        "you divided by the root of the number of pairs: you average one variance a seed, so count the seeds",
    ),
    *(Mistake("half an interval", with_error(lambda s, t=t: t), INTERVAL) for t in (2, 1.96, 2.262)),
    Mistake(
        "standard deviations",
        lambda s: mean_and_error(s.std(axis=1, ddof=1)),
        "you averaged standard deviations: take the variance of each row",
    ),
    Mistake(
        "columns",
        lambda s: mean_and_error(s.var(axis=0, ddof=1)),
        "you took the variance down the columns: a row holds the pairs of one seed, so axis=1",
    ),
    Mistake(
        "all at once",
        lambda s: (s.var(ddof=1), mean_and_error(s.var(axis=1, ddof=1))[1]),
        "your first number is the variance of all scores at once: take one variance a row, then their mean",
    ),
    Mistake(
        "one seed",
        lambda s: (s[0].var(ddof=1), mean_and_error(s.var(axis=1, ddof=1))[1]),
        "your first number is the variance of one seed: one draw says little, so average over all",
    ),
    Mistake(
        "variance of the means",
        lambda s: mean_and_error(s.mean(axis=1)),
        "you averaged the rows' means: take the variance of each row first",
    ),
    Mistake("ddof", lambda s: mean_and_error(s.var(axis=1), ddof=0), DDOF),
    Mistake("ddof", lambda s: mean_and_error(s.var(axis=1), ddof=1), DDOF),
    Mistake("ddof", lambda s: mean_and_error(s.var(axis=1, ddof=1), ddof=0), DDOF),
    Mistake(
        "swapped",
        lambda s: mean_and_error(s.var(axis=1, ddof=1))[::-1],
        "your two numbers are right and swapped: the mean first, then its error",
    ),
    Mistake(
        "ends",
        lambda s: np.dot([[1, -1], [1, 1]], mean_and_error(s.var(axis=1, ddof=1))),
        "these are the ends of an interval: return the mean and the error",
    ),
    Mistake(
        "mean alone",
        lambda s: s.var(axis=1, ddof=1).mean(),
        "the mean is right: return its standard error as well, to say how far it can be trusted",
    ),
]


def fair_share(answer):
    """Check ``answer(X)``, the queries or keys divided so that their products are the scaled scores."""
    return check_function(
        "fair_share",
        answer,
        right=divided(lambda N, d: d**0.25),
        inputs=[(X,) for X in random((5, 64), (3, 16), (7, 10), (6, 1))],
        mistakes=FAIR_SHARE_MISTAKES,
    )


def divided(number):
    return lambda X: X / number(*X.shape)


FAIR_SHARE_MISTAKES = [
    Mistake(
        "full root",
        divided(lambda N, d: d**0.5),
        "you divided by √d_k: it enters on both sides, so the scores are divided by d_k",
    ),
    Mistake(
        "no root",
        divided(lambda N, d: d),
        "you divided by d_k: it enters on both sides, so the scores are divided by its square",
    ),
    Mistake("unchanged", divided(lambda N, d: 1), "you returned X as it is: each side carries half of the factor"),
    Mistake(
        "half",
        divided(lambda N, d: d**0.5 / 2),
        "half of √d_k is not its root: the two sides multiply, so which number times itself is √d_k?",
    ),
    Mistake(
        "multiplied",
        divided(lambda N, d: d**-0.25),
        "you made X larger: divide by the fourth root",
    ),
    Mistake(
        "number of tokens",
        divided(lambda N, d: N**0.25),
        "you took the number of rows, which are tokens: d_k is the number of columns, X.shape[-1]",
    ),
    Mistake("number of tokens", divided(lambda N, d: N**0.5), "you took √ of the number of rows, which are tokens"),
    Mistake(
        "number of entries",
        divided(lambda N, d: (N * d) ** 0.25),
        "you took the number of all entries, X.size: d_k is the number of columns, X.shape[-1]",
    ),
    Mistake(
        "precedence",
        divided(lambda N, d: d**1 / 4),
        "x ** 1 / 4 is x / 4, as the power comes first: write x ** 0.25, or x ** (1 / 4)",
    ),
    Mistake(
        "precedence",
        divided(lambda N, d: d * 4),
        "X / x ** 1 / 4 divides by x and then by 4, as the power comes first: write x ** 0.25, or x ** (1 / 4)",
    ),
    Mistake(
        "unit length",
        lambda X: X / np.linalg.norm(X, axis=-1, keepdims=True),
        "you made every row one long: that turns dot products into cosines",
    ),
    Mistake("eighth root", divided(lambda N, d: d**0.125), "this is one root too many: take the root of √d_k"),
]


def dead_share(answer):
    """Check ``answer(A)``, the share of rows of weights whose Jacobian has a Frobenius norm below 0.01."""
    return check_function(
        "dead_share",
        answer,
        right=lambda A: (sizes(A) < 0.01).mean(),
        inputs=[(A,) for A in WEIGHTS],
        mistakes=DEAD_MISTAKES,
    )


def sizes(A):
    return np.linalg.norm(softmax_jacobian(A), axis=(-2, -1))


def sharp(M, *shares):
    """Return rows in which the first key gets all but a share, which the other M - 1 have evenly."""
    return np.array([[1 - e, *[e / (M - 1)] * (M - 1)] for e in shares])


# The shares lie on both sides of where each mistake draws the line.
WEIGHTS = [
    sharp(5, 0.8, 0.3, 0.02, 0.01005, 0.0078, 0.0077, 0.006, 0.001, 0.0),
    sharp(2, 0.5, 0.1, 0.04, 0.009, 0.0055, 0.004, 1e-9),
    sharp(3, 0.6, 0.25, 0.05, 0.0065),
    sharp(4, 0.001, 0.0),
]

DEAD_MISTAKES = [
    Mistake(
        "squared",
        lambda A: (sizes(A) ** 2 < 0.01).mean(),
        "you forgot the root: the norm is the root of the sum of squares",
    ),
    Mistake("alive", lambda A: (sizes(A) >= 0.01).mean(), "this is the share of the living: below 0.01 is dead"),
    Mistake("count", lambda A: (sizes(A) < 0.01).sum(), "this is their number: divide by the number of queries"),
    Mistake(
        "one norm for all",
        lambda A: float(np.sqrt((sizes(A) ** 2).sum()) < 0.01),
        "you took one norm of all the Jacobians together: take one a query, over the last two axes",
    ),
    Mistake(
        "eigenvalue",
        lambda A: (np.linalg.norm(softmax_jacobian(A), 2, axis=(-2, -1)) < 0.01).mean(),
        "this is the largest eigenvalue, ord=2 of NumPy's norm: ‖J‖_F sums the squares of all entries",
    ),
    Mistake(
        "largest entry",
        lambda A: (np.abs(softmax_jacobian(A)).max(axis=(-2, -1)) < 0.01).mean(),
        "you looked at the largest entry of each Jacobian: sum the squares of all of them, and take the root",
    ),
    Mistake(
        "sum of the entries",
        lambda A: (np.abs(softmax_jacobian(A).sum(axis=(-2, -1))) < 0.01).mean(),
        "the entries of a softmax Jacobian always sum to 0: square them first",
    ),
    Mistake(
        "largest weight",
        lambda A: (A.max(axis=-1) > 0.99).mean(),
        "you counted weights above 0.99, which is close and not the same: take the norm of the Jacobian",
    ),
    Mistake(
        "share of entries",
        lambda A: (np.abs(softmax_jacobian(A)) < 0.01).mean(),
        "this is a share of entries: take one norm a query, and the share of queries",
    ),
    Mistake(
        "norm of the weights",
        lambda A: (np.linalg.norm(A, axis=-1) < 0.01).mean(),
        "you took the norm of the weights, which is never small: take that of their Jacobian",
    ),
]


def score_spread(answer):
    """Check ``answer(C_q, C_k)``, the variance of q·k for independent vectors of mean 0 with these covariances."""
    return check_function(
        "score_spread",
        answer,
        right=lambda C_q, C_k: (C_q * C_k).sum(),
        inputs=COVARIANCES,
        mistakes=SPREAD_MISTAKES,
    )


def covariance(seed, d):
    (M,) = random((d, d + 1), seed=seed)
    return M @ M.T / d


COVARIANCES = [
    (covariance(0, 3), covariance(1, 3)),
    (covariance(2, 5), np.eye(5)),
    (covariance(3, 2), np.ones((2, 2))),
    (2 * np.eye(4), 3 * np.eye(4)),
]

SPREAD_MISTAKES = [
    Mistake(
        "diagonals only",
        lambda C, D: (np.diag(C) * np.diag(D)).sum(),
        "you used the variances alone: without assumption 4 the terms with f ≠ g count too",
    ),
    Mistake(
        "product of traces",
        lambda C, D: np.trace(C) * np.trace(D),
        "you multiplied the sums of the variances: multiply entry by entry, then add",
    ),
    Mistake(
        "product of sums",
        lambda C, D: C.sum() * D.sum(),
        "you added each matrix up and multiplied: multiply entry by entry, then add",
    ),
    Mistake("d_k", lambda C, D: float(len(C)), "this is d_k, which needs assumptions 2 and 4: use the covariances"),
    Mistake(
        "sum of the matrix product",
        lambda C, D: (C @ D).sum(),
        "you added up the matrix product: the double sum pairs entries in the same place, C_q * C_k",
    ),
    Mistake("one of the two", lambda C, D: C.sum(), "you used C_q alone: each term has a factor from C_k too"),
    Mistake("one of the two", lambda C, D: D.sum(), "you used C_k alone: each term has a factor from C_q too"),
    Mistake(
        "standard deviation",
        lambda C, D: np.sqrt((C * D).sum()),
        "this is the standard deviation: the variance was asked for",
    ),
    Mistake(
        "mean",
        lambda C, D: (C * D).mean(),
        "this is the mean of the products: the double sum adds them",
    ),
    Mistake(
        "divided by d_k",
        lambda C, D: (C * D).sum() / len(C),
        "you divided by d_k: that is the variance of the scaled score",
    ),
    Mistake("not summed", lambda C, D: C * D, "these are the products: add them all up, to one number"),
    Mistake(
        "not summed", lambda C, D: (C * D).sum(axis=0), "you added along one axis: add all the products, to one number"
    ),
    Mistake("added", lambda C, D: (C + D).sum(), "you added the matrices: each term of the double sum is a product"),
]
