"""Self-checks of chapter 04: output."""

import numpy as np

from attention_lib.check._engine import Mistake, check_function, check_value
from attention_lib.check._shared import KEEPDIMS, LOST_AXIS, random, shares
from attention_lib.weights import softmax


def mix(answer):
    """Check ``answer(A, V)``, every row of values mixed by every row of weights."""
    return check_function("mix", answer, right=mixed, inputs=MIXES, mistakes=MIX_MISTAKES)


def mixed(A, V):
    return A @ V


def weights_and_values(N, M, d_v):
    scores, V = random((N, M), (M, d_v))
    return softmax(scores), 3 * V


# As many queries as keys as features (the case no shape test notices), fewer and more, and the chapter's whole numbers.
MIXES = [
    weights_and_values(3, 3, 3),
    weights_and_values(2, 4, 3),
    weights_and_values(5, 2, 1),
    (np.array([[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]]), np.array([[8, 1], [0, 4], [4, 7]])),
]


def kept_whole(A, V, dtype, *, in_place):
    """Add the shares up in an array of `dtype`, which may cut the decimals off or refuse them."""
    O = np.zeros((len(A), V.shape[1]), dtype)
    for i, j in np.ndindex(A.shape):
        if in_place:
            O[i] += A[i, j] * V[j]
        else:
            O[i] = O[i] + A[i, j] * V[j]
    return O


def by_columns(A, V):
    """Read the weights by columns in a loop, which fails in another way than the product where N is not M."""
    return np.array([sum(A[j, i] * V[j] for j in range(len(V))) for i in range(len(A))])


WHOLE = "your result holds whole numbers: an integer array cuts off the decimals, so start from np.zeros((N, d_v))"
COLUMNS = "you read the weights by columns: the weights of query i are row i, so the share of value j is A[i, j]"
MIX_MISTAKES = [
    Mistake("weights by columns", lambda A, V: A.T @ V, COLUMNS),
    Mistake("weights by columns", by_columns, COLUMNS),
    Mistake(
        "last value only",
        lambda A, V: A[:, -1:] * V[-1],
        "each output holds the share of the last value alone: add to it (+=) instead of replacing it (=)",
    ),
    Mistake(
        "divided by M",
        lambda A, V: A @ V / len(V),
        "you divided by the number of keys: the weights sum to 1 already, so the sum of the shares is the mean",
    ),
    Mistake(
        "plain mean",
        lambda A, V: np.repeat(V.mean(axis=0, keepdims=True), len(A), axis=0),
        "every output is the plain mean of the values: the weights are never used",
    ),
    Mistake(
        "plain sum",
        lambda A, V: np.repeat(V.sum(axis=0, keepdims=True), len(A), axis=0),
        "every output is the plain sum of the values: the weights are never used",
    ),
    Mistake(
        "largest weight only",
        lambda A, V: V[A.argmax(axis=1)],
        "you look up the value with the largest weight: take a share of every value instead",
    ),
    Mistake(
        "transposed",
        lambda A, V: (A @ V).T,
        "your rows are features: row i of the output belongs to query i, so its shape is (N, d_v)",
    ),
    Mistake(
        "entry by entry",
        lambda A, V: A * V,
        "A * V multiplies entry by entry: a mixture is a sum of such products, over the values",
    ),
    Mistake("one query", lambda A, V: A[0] @ V, "you mixed for the first query alone: give one output row a query"),
    *(
        Mistake("whole numbers", lambda A, V, d=dtype, p=in_place: kept_whole(A, V, d or V.dtype, in_place=p), WHOLE)
        for dtype in (None, int)
        for in_place in (True, False)
    ),
]


def aim(answer):
    """Check three scores whose weights mix (8, 0), (0, 4) and (4, 8) into (6, 2)."""
    return check_value(
        "aim",
        answer,
        [
            (lambda s: np.shape(s) == (3,), "give three scores, one a value: an array of shape (3,)"),
            (np.isfinite, "every score must be a finite real number"),
            (
                lambda s: not hits_target(s),
                "these three mix into (6, 2) as they are, so they are the weights: which scores does a softmax "
                "turn into them?",
            ),
            (
                lambda s: not hits_target(softmax(s[::-1])),
                "these scores are in reverse order: the first belongs to the value (8, 0)",
            ),
            (
                lambda s: hits_target(softmax(s)),
                "a softmax of these scores does not mix the values into (6, 2): solve for the weights first",
            ),
        ],
    )


def hits_target(weights):
    """Say whether the weights give (6, 2) to two decimals: a reader may round the scores."""
    return abs(weights.sum() - 1) < 0.01 and np.allclose(weights @ [[8, 0], [0, 4], [4, 8]], [6, 2], atol=0.01)


def gaussian_attention(answer):
    """Check ``answer(Q, K, V, h)``, attention whose scores are minus squared distances over 2h²."""
    return check_function(
        "gaussian_attention",
        answer,
        right=lambda Q, K, V, h: softmax(-squared_distances(Q, K) / (2 * h**2)) @ V,
        inputs=BELLS,
        mistakes=BELL_MISTAKES,
    )


def squared_distances(Q, K):
    return ((Q[:, None] - K) ** 2).sum(axis=-1)


def queries_keys_values(N, M, d_k, d_v, h, far=0.0):
    Q, K, V = random((N, d_k), (M, d_k), (M, d_v), seed=1)
    Q[-1] += far
    return Q, K, 3 * V, h


BELLS = [
    queries_keys_values(3, 3, 3, 3, 0.8),
    queries_keys_values(4, 6, 2, 3, 1.7),
    queries_keys_values(3, 5, 1, 2, 0.6, far=90.0),  # so far that every bell underflows to 0
]


def from_scores(scores, axis=-1):
    """Return the attention with these scores, for an imitation."""
    return lambda Q, K, V, h: softmax(scores(Q, K, h), axis=axis) @ V


def lengths(K):
    return (K**2).sum(axis=-1)


NOT_SQUARED = "you divided by h, not by h²: a bell of width h has −‖q − k‖²/2h² in its exponent"
NO_HALF = "a factor of 2 is missing: the scores are −‖q − k‖²/2h²"
NO_ROOT = "the distance is not squared: the scores are −‖q − k‖²/2h²"
FAR = "a query far from every key gives NaN: all its bells underflow to 0, and 0/0 is NaN. A stable softmax avoids it"
BELL_MISTAKES = [
    Mistake(
        "no key bias",
        from_scores(lambda Q, K, h: Q @ K.T / h**2),
        "the squared lengths of the keys are missing: they differ from key to key, so the softmax notices",
    ),
    Mistake(
        "bias with the wrong sign",
        from_scores(lambda Q, K, h: Q @ K.T / h**2 + lengths(K) / (2 * h**2)),
        "long keys are favoured instead of held back: the squared length of the key is subtracted",
    ),
    Mistake(
        "bias without its half",
        from_scores(lambda Q, K, h: Q @ K.T / h**2 - lengths(K) / h**2),
        "the squared length of the key must be halved: −‖q − k‖²/2 is q·k − ‖k‖²/2 − ‖q‖²/2",
    ),
    Mistake(
        "scaled twice",
        from_scores(lambda Q, K, h: Q @ K.T / (h**2 * np.sqrt(Q.shape[-1])) - lengths(K) / (2 * h**2)),
        "the dot products were divided by √d_k as well: attention does that unless you give it a scale",
    ),
    Mistake(
        "wrong sign",
        from_scores(lambda Q, K, h: squared_distances(Q, K) / (2 * h**2)),
        "the farthest key gets the most weight: the score is minus the squared distance",
    ),
    Mistake("h not squared", from_scores(lambda Q, K, h: -squared_distances(Q, K) / (2 * h)), NOT_SQUARED),
    Mistake("h not squared", from_scores(lambda Q, K, h: (Q @ K.T - lengths(K) / 2) / h), NOT_SQUARED),
    Mistake("no half", from_scores(lambda Q, K, h: -squared_distances(Q, K) / h**2), NO_HALF),
    Mistake(
        "distance not squared", from_scores(lambda Q, K, h: -np.sqrt(squared_distances(Q, K)) / (2 * h**2)), NO_ROOT
    ),
    Mistake("distance not squared", from_scores(lambda Q, K, h: -np.sqrt(squared_distances(Q, K)) / h), NO_ROOT),
    Mistake(
        "shared out over queries",
        from_scores(lambda Q, K, h: -squared_distances(Q, K) / (2 * h**2), axis=0),
        "your columns sum to 1, your rows do not: share each query's weight out over the keys, with axis=-1",
    ),
    *(
        Mistake(
            "keepdims",
            lambda Q, K, V, h, lost=lost: shares(-squared_distances(Q, K) / (2 * h**2), **lost) @ V,
            KEEPDIMS,
        )
        for lost in LOST_AXIS
    ),
    Mistake(
        "weights do not sum to 1",
        lambda Q, K, V, h: np.exp(-squared_distances(Q, K) / (2 * h**2)) @ V,
        "the bells do not sum to 1 yet: divide each row by its sum, or use softmax",
    ),
    Mistake(
        "underflow",
        lambda Q, K, V, h: (B := np.exp(-squared_distances(Q, K) / (2 * h**2))) / B.sum(-1, keepdims=True) @ V,
        FAR,
    ),
]


def equivariance_gap(answer):
    """Check ``answer(f, X, order)``, the largest difference between shuffling before `f` and after it."""
    return check_function(
        "equivariance_gap",
        answer,
        right=lambda f, X, order: np.abs(f(X[order]) - f(X)[order]).max(),
        inputs=SHUFFLES,
        mistakes=GAP_MISTAKES,
    )


def attends(X):
    return softmax(X @ X.T) @ X


def running_sum(X):
    return -X.cumsum(axis=0)


def adds_place(X):
    return X + np.arange(len(X))[:, None]


def copies_first(X):
    return np.full_like(X, -X[0, 0])  # for ORDER all differences are negative


TOKENS = np.random.default_rng(2).standard_normal((5, 5))  # square, so that features can be shuffled by mistake
ORDER = np.array([2, 0, 3, 4, 1])  # one cycle: shuffling twice does not undo it
SHUFFLES = [(f, TOKENS, ORDER) for f in (attends, running_sum, adds_place, copies_first)]

GAP_MISTAKES = [
    Mistake(
        "invariance",
        lambda f, X, order: np.abs(f(X[order]) - f(X)).max(),
        "you ask whether shuffling changes nothing: shuffle the output of f(X) as well, then compare",
    ),
    Mistake(
        "input not shuffled",
        lambda f, X, order: np.abs(f(X) - f(X)[order]).max(),
        "both sides apply f to X as it is: one of them must get X[order]",
    ),
    Mistake(
        "shuffled twice",
        lambda f, X, order: np.abs(f(X[order])[order] - f(X)).max(),
        "shuffling a second time does not undo the first: shuffle f(X) by order, or undo with np.argsort(order)",
    ),
    Mistake(
        "features shuffled",
        lambda f, X, order: np.abs(f(X[:, order]) - f(X)[:, order]).max(),
        "you shuffled the columns, which are features: tokens are rows, X[order]",
    ),
    Mistake(
        "not absolute",
        lambda f, X, order: (f(X[order]) - f(X)[order]).max(),
        "a large negative difference counts as small: take the absolute value before the maximum",
    ),
    Mistake(
        "not absolute",
        lambda f, X, order: (f(X)[order] - f(X[order])).max(),
        "a large negative difference counts as small: take the absolute value before the maximum",
    ),
    Mistake(
        "absolute too late",
        lambda f, X, order: abs((f(X[order]) - f(X)[order]).max()),
        "take the absolute value of each difference first, and the maximum of those",
    ),
    Mistake(
        "mean",
        lambda f, X, order: np.abs(f(X[order]) - f(X)[order]).mean(),
        "this is the mean difference: one wrong entry could hide in it, so take the largest",
    ),
    Mistake(
        "yes or no",
        lambda f, X, order: np.allclose(f(X[order]), f(X)[order]),
        "this says whether there is a gap: return how large it is",
    ),
]


def leave_one_out(answer):
    """Check ``answer(t, y, h)``, each reading predicted by kernel regression from all the others."""
    return check_function(
        "leave_one_out",
        answer,
        right=from_others,
        inputs=READINGS,
        mistakes=LEAVE_MISTAKES,
    )


def kernel_scores(t, h):
    return -((t[:, None] - t) ** 2) / (2 * h**2)


def without_diagonal(S, value):
    S = S.copy()
    np.fill_diagonal(S, value)
    return S


def from_others(t, y, h):
    return softmax(without_diagonal(kernel_scores(t, h), -np.inf)) @ y


def some_readings(n, h, far=0.0):
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0, 6, n))
    t[-1] += far
    return t, 10 + 3 * rng.standard_normal(n), h


READINGS = [some_readings(5, 0.8), some_readings(9, 1.6), some_readings(6, 0.5, far=60.0)]

ITSELF = (
    "each reading still attends to itself. A score of 0 does not leave it out: e⁰ = 1, and all other scores are lower"
)
ERROR = "this is the error: return the predictions, one a reading, and take the error afterwards"
LEAVE_MISTAKES = [
    Mistake("reads itself", lambda t, y, h: softmax(kernel_scores(t, h)) @ y, ITSELF),
    Mistake(
        "not shared out again",
        lambda t, y, h: without_diagonal(softmax(kernel_scores(t, h)), 0) @ y,
        "the weights of the others do not sum to 1: leave the reading out before the softmax, or divide again after it",
    ),
    Mistake(
        "underflow",
        lambda t, y, h: (W := without_diagonal(np.exp(kernel_scores(t, h)), 0)) / W.sum(1, keepdims=True) @ y,
        "a reading far from the others gives NaN: its bells underflow to 0, and 0/0 is NaN. A stable softmax avoids it",
    ),
    Mistake(
        "h not squared",
        lambda t, y, h: softmax(without_diagonal(kernel_scores(t, h) * h, -np.inf)) @ y,
        "you divided by h, not by h²: a bell of width h has −(t − s)²/2h² in its exponent",
    ),
    Mistake(
        "no half",
        lambda t, y, h: softmax(without_diagonal(kernel_scores(t, h) * 2, -np.inf)) @ y,
        "a factor of 2 is missing: the scores are −(t − s)²/2h²",
    ),
    *(
        Mistake(
            "keepdims",
            lambda t, y, h, lost=lost: shares(without_diagonal(kernel_scores(t, h), -np.inf), **lost) @ y,
            KEEPDIMS,
        )
        for lost in LOST_AXIS
    ),
    Mistake("error returned", lambda t, y, h: from_others(t, y, h) - y, ERROR),
    Mistake("error returned", lambda t, y, h: y - from_others(t, y, h), ERROR),
    Mistake("error returned", lambda t, y, h: np.mean((from_others(t, y, h) - y) ** 2), ERROR),
    Mistake("error returned", lambda t, y, h: np.sqrt(np.mean((from_others(t, y, h) - y) ** 2)), ERROR),
]
