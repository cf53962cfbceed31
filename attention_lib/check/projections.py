"""Self-checks of chapter 05: weight matrices."""

import numpy as np

from attention_lib.check._engine import Mistake, check_function, check_value, numbers
from attention_lib.check._shared import KEEPDIMS, LOST_AXIS, random, shares
from attention_lib.weights import softmax


def head(answer):
    """Check ``answer(X, W_q, W_k, W_v)``, self-attention with its three matrices, for one sequence or a batch."""
    return check_function("head", answer, right=attend(), inputs=HEADS, mistakes=HEAD_MISTAKES)


def divided(power=0.5, of=lambda X, W_q, W_v: W_q.shape[-1]):
    """Return a scaling of scores: divide by a count to a power."""
    return lambda S, *arrays: S / of(*arrays) ** power


def attend(
    scale=divided(),
    weigh=softmax,
    *,
    scores=lambda Q, K: Q @ K.mT,
    project=lambda X, W: X @ W,
    value=lambda X, W_v: X @ W_v,
):
    """Return the right head, or with other arguments what people write instead."""

    def imitation(X, W_q, W_k, W_v):
        S = scores(project(X, W_q), project(X, W_k))
        return weigh(scale(S, X, W_q, W_v)) @ value(X, W_v)

    return imitation


def tokens_and_matrices(*lead, n, d, d_k, d_v):
    return random((*lead, n, d), (d, d_k), (d, d_k), (d, d_v), seed=5)


# Four different sizes, a batch, and all sizes equal: the case in which a transposed matrix fits.
HEADS = [
    tokens_and_matrices(n=5, d=6, d_k=2, d_v=3),
    tokens_and_matrices(2, n=3, d=4, d_k=3, d_v=2),
    tokens_and_matrices(n=4, d=4, d_k=4, d_v=4),
]

TRANSPOSED = "here the matrices have shape (d_in, d_out) and stand on the right of the tokens: X @ W_q, without .T"
WHY_D_K = "a score is a sum of d_k products, one for each column of W_q"
BATCH = ".T turns around all axes, the batch too: swap the last two, with .mT"
HEAD_MISTAKES = [
    *(
        Mistake(f"scaled by {name}", attend(divided(of=of)), f"you divided by √{name}. The scale is 1/√d_k: {WHY_D_K}")
        for name, of in (
            ("d", lambda X, W_q, W_v: X.shape[-1]),
            ("d_v", lambda X, W_q, W_v: W_v.shape[-1]),
            ("n", lambda X, W_q, W_v: X.shape[-2]),
        )
    ),
    Mistake("no scale", attend(divided(0)), "the scale is missing: divide the scores by √d_k"),
    Mistake("no root", attend(divided(1)), "you divided by d_k: the scale is 1/√d_k, with the root"),
    Mistake("multiplied", attend(divided(-0.5)), "you multiplied by √d_k: divide the scores by it"),
    Mistake(
        "scaled after the softmax",
        lambda X, W_q, W_k, W_v: softmax((X @ W_q) @ (X @ W_k).mT) / np.sqrt(W_q.shape[-1]) @ (X @ W_v),
        "you divided the weights, which then sum to less than 1: the scale belongs inside the softmax",
    ),
    Mistake(
        "values not projected",
        attend(value=lambda X, W_v: X),
        "you mixed the tokens themselves: the values are X @ W_v",
    ),
    Mistake(
        "no softmax",
        attend(weigh=lambda S: S),
        "you mixed the values with the scores: the softmax is missing",
    ),
    Mistake(
        "queries and keys exchanged",
        attend(scores=lambda Q, K: K @ Q.mT),
        "your rows belong to keys: a row of scores belongs to one query, Q @ K.mT",
    ),
    Mistake(
        "shared out over queries",
        attend(weigh=lambda S: softmax(S, axis=-2)),
        "your columns sum to 1, your rows do not: share each query's weight out over the keys, with axis=-1",
    ),
    *(Mistake("keepdims", attend(weigh=lambda S, lost=lost: shares(S, **lost)), KEEPDIMS) for lost in LOST_AXIS),
    Mistake("transposed matrices", attend(project=lambda X, W: X @ W.T, value=lambda X, W_v: X @ W_v.T), TRANSPOSED),
    Mistake("matrices on the left", attend(project=lambda X, W: W @ X, value=lambda X, W_v: W_v @ X), TRANSPOSED),
    Mistake("batch turned around", attend(scores=lambda Q, K: Q @ K.T), BATCH),
]


def merged(answer):
    """Check ``answer(weight_q, weight_k)``, the matrix between two tokens from matrices stored (d_out, d_in)."""
    return check_function(
        "merged",
        answer,
        right=lambda weight_q, weight_k: weight_q.T @ weight_k,
        inputs=[random((d_k, d), (d_k, d), seed=6) for d_k, d in ((2, 5), (4, 3), (3, 3))],
        mistakes=MERGED_MISTAKES,
        form="M has shape (d, d): it stands between two tokens of d features",
        called="M",
    )


MERGED_MISTAKES = [
    Mistake(
        "meant for (d_in, d_out)",
        lambda weight_q, weight_k: weight_q @ weight_k.T,
        "this is W_q @ W_k.T for matrices of shape (d, d_k): these are stored as (d_k, d), the transposes of ours",
    ),
    Mistake(
        "roles exchanged",
        lambda weight_q, weight_k: weight_k.T @ weight_q,
        "your M is the transpose: its rows belong to the token that asks, so weight_q comes first",
    ),
    Mistake(
        "not transposed",
        lambda weight_q, weight_k: weight_q @ weight_k,
        "neither matrix is transposed, which fits only where d_k = d: write out X @ weight_q.T first",
    ),
    Mistake(
        "both transposed",
        lambda weight_q, weight_k: weight_q.T @ weight_k.T,
        "one transpose too many, which fits only where d_k = d: that of the keys in the scores undoes one",
    ),
    Mistake(
        "scaled",
        lambda weight_q, weight_k: weight_q.T @ weight_k / np.sqrt(len(weight_q)),
        "you put the scale in: M is the product alone",
    ),
]


def look_ahead(answer):
    """Check ``answer(W_q, W_k, W_v)``, matrices for a head that reads the next token, made from one that reads back."""
    return check_function(
        "look_ahead",
        reads(answer) if callable(answer) else answer,
        right=reads(lambda W_q, W_k, W_v: (W_k, W_q, W_v)),
        inputs=RING_HEADS,
        mistakes=[Mistake(name, reads(turn), hint) for name, turn, hint in LOOK_MISTAKES],
        form="return the three matrices W_q, W_k and W_v of a head, with the shapes of those you got",
        called="with your matrices the output of the head",
    )


def ring_tokens(n):
    """Return a ring of tokens with `n` places and `n` symbols, each one-hot."""
    symbols = np.random.default_rng(n).permutation(n)
    return np.concatenate([np.eye(n), np.eye(n)[symbols]], axis=1)  # (n, 2n)


def ring_head(n, loud=40.0):
    """Return a head that reads the symbol before, its queries and keys turned so that no column tells a place."""
    turn = np.linalg.qr(np.random.default_rng(n).standard_normal((n, n)))[0]
    nothing = np.zeros((n, n))
    W_q = np.concatenate([loud * turn[np.arange(n) - 1], nothing])  # place i asks for place i - 1
    return W_q, np.concatenate([turn, nothing]), np.concatenate([nothing, np.eye(n)])


RING_HEADS = [ring_head(n) for n in (5, 6, 8)]


def reads(function):
    """Return a function that puts a head together with `function` and lets it read a ring; else what it returned."""

    def output(W_q, W_k, W_v):
        shapes = [W.shape for W in (W_q, W_k, W_v)]
        result = function(W_q, W_k, W_v)
        if not isinstance(result, tuple | list) or len(result) != 3:
            return result
        arrays = [numbers(part) for part in result]
        if any(array is None or array.shape != shape for array, shape in zip(arrays, shapes, strict=True)):
            return result
        return attend()(ring_tokens(shapes[0][1]), *arrays).round(3)

    return output


def seats_moved(W_q, by):
    """Return `W_q` with the query of each place moved to the place `by` before it."""
    n = W_q.shape[1]
    return np.concatenate([np.roll(W_q[:n], -by, axis=0), W_q[n:]])


WHAT = "you changed what is taken: the head looks where it looked, and says something else"
ITSELF = "now every token reads itself: from the one before to the one after it is two steps"
WRONG_PAIR = "W_v does not say where to look: leave it, and change the other two"
LOOK_MISTAKES = [
    ("nothing changed", lambda W_q, W_k, W_v: (W_q, W_k, W_v), "this head still reads the token before"),
    ("what, not where", lambda W_q, W_k, W_v: (W_q, W_k, np.roll(W_v, 1, axis=1)), WHAT),
    ("what, not where", lambda W_q, W_k, W_v: (W_q, W_k, np.roll(W_v, -1, axis=1)), WHAT),
    ("at itself", lambda W_q, W_k, W_v: (seats_moved(W_q, 1), W_k, W_v), ITSELF),
    ("at itself", lambda W_q, W_k, W_v: (W_k, W_k, W_v), ITSELF),
    (
        "further back",
        lambda W_q, W_k, W_v: (seats_moved(W_q, -2), W_k, W_v),
        "now every token reads the one three places before: the two steps went the wrong way",
    ),
    (
        "away from it",
        lambda W_q, W_k, W_v: (-W_q, W_k, W_v),
        "with the opposite scores every token reads all but the one before: exchange who asks and who is found",
    ),
    ("wrong pair", lambda W_q, W_k, W_v: (W_v, W_k, W_q), WRONG_PAIR),
    ("wrong pair", lambda W_q, W_k, W_v: (W_q, W_v, W_k), WRONG_PAIR),
    ("wrong pair", lambda W_q, W_k, W_v: (W_k, W_v, W_q), WRONG_PAIR),
    ("wrong pair", lambda W_q, W_k, W_v: (W_v, W_q, W_k), WRONG_PAIR),
]


def line_scores(answer):
    """Check symmetric scores of four guests in a line, with which all but the first look back."""
    return check_value(
        "line_scores",
        answer,
        [
            (lambda S: np.shape(S) == (4, 4), "give the scores of 4 guests with each other: an array of shape (4, 4)"),
            (np.isfinite, "every score must be a finite real number"),
            (
                lambda S: symmetric(S) or not looks_back(S),
                "all three look back, and your scores are not symmetric: guest 2 must score guest 3 as 3 scores 2",
            ),
            (symmetric, "the scores must be symmetric: equal to their transpose"),
            (
                lambda S: not looks_back(S[::-1, ::-1]),
                "your guests look at the one after: the scores have to fall along the line, and yours rise",
            ),
            (
                lambda S: looks_back(S) or not looks_back(without(np.triu(np.ones((4, 4)), 1), S)),
                "somebody scores a later guest as high as the one before: let the scores fall along the line",
            ),
            (
                lambda S: looks_back(S) or not looks_back(without(np.eye(4), S)),
                "somebody scores himself as high as the one before: make the diagonal lower",
            ),
            (looks_back, "in row 2, 3 or 4 the score just left of the diagonal is not the highest of its row"),
        ],
    )


def symmetric(S):
    return np.allclose(S, S.T)


def without(places, S):
    """Return the scores with those at `places` out of the running."""
    return np.where(places, -np.inf, S)


def looks_back(S):
    """Say whether each guest but the first scores the one before above all others."""
    return all((S[i, i - 1] > np.delete(S[i], i - 1)).all() for i in range(1, len(S)))


def slopes(answer):
    """Check ``answer(loss, W, h)``, the slope of `loss` at each entry of `W` by a nudge of `h` up and down."""
    return check_function(
        "slopes",
        answer,
        right=by_entry(lambda up, here, down, h: (up - down) / (2 * h)),
        inputs=LOSSES,
        mistakes=SLOPE_MISTAKES,
        form="return one slope for each entry, in an array of the shape of W",
        called="slope",
    )


def by_entry(slope):
    """Return a function that nudges one entry at a time and works its slope out of the losses with `slope`."""

    def slopes(loss, W, h):
        result = np.zeros(W.shape)
        for place in np.ndindex(W.shape):
            nudge = np.zeros(W.shape)
            nudge[place] = h
            result[place] = slope(loss(W + nudge), loss(W), loss(W - nudge), h)
        return result

    return slopes


def sum_of_cubes(W):
    return float((np.arange(1, W.size + 1).reshape(W.shape) * W**3).sum())


def cubes_of_sums(W):
    return float((W.sum(axis=0) ** 3).sum() - W.prod())


# Losses of the third degree, on which a nudge to one side and one to both sides differ.
LOSSES = [
    (sum_of_cubes, *random((2, 3), seed=7), 0.1),
    (cubes_of_sums, *random((3, 3), seed=8), 0.01),
    (sum_of_cubes, *random((4, 1), seed=9), 0.5),
]


def never_taken_back(loss, W, h):
    """Nudge the matrix itself, so that every entry stays where its nudge down left it."""
    result = np.zeros(W.shape)
    for place in np.ndindex(W.shape):
        W[place] += h
        up = loss(W)
        W[place] -= 2 * h
        result[place] = (up - loss(W)) / (2 * h)
    return result


def one_copy_for_all(loss, W, h):
    """Copy the matrix once, before the loop, so that the nudges add up."""
    result, higher, lower = np.zeros(W.shape), W.copy(), W.copy()
    for place in np.ndindex(W.shape):
        higher[place] += h
        lower[place] -= h
        result[place] = (loss(higher) - loss(lower)) / (2 * h)
    return result


def no_copy(loss, W, h):
    """Give the matrix two names and nudge both: the nudges cancel."""
    return np.zeros(W.shape)


ONE_SIDE = "you compare a nudge with the loss where you are: take the losses at both sides, 2h apart"
STAYS = "your nudges stay in the matrix: start every entry from a fresh copy of W, or undo the nudge"
TOGETHER = "you nudge all entries together: the slope of one entry needs a nudge of that entry alone"
SLOPE_MISTAKES = [
    Mistake("one side", by_entry(lambda up, here, down, h: (up - here) / h), ONE_SIDE),
    Mistake("one side", by_entry(lambda up, here, down, h: (here - down) / h), ONE_SIDE),
    Mistake(
        "divided by h",
        by_entry(lambda up, here, down, h: (up - down) / h),
        "your slopes are twice too large: the two losses are 2h apart",
    ),
    Mistake(
        "divided by 2, times h",
        by_entry(lambda up, here, down, h: (up - down) / 2 * h),
        "a / 2 * h divides by 2 and multiplies by h: write a / (2 * h)",
    ),
    Mistake(
        "not divided",
        by_entry(lambda up, here, down, h: up - down),
        "this is the difference of the losses: divide it by the way between them, 2h",
    ),
    Mistake(
        "wrong sign",
        by_entry(lambda up, here, down, h: (down - up) / (2 * h)),
        "your signs are turned around: the loss above less the loss below",
    ),
    Mistake("nudges stay", never_taken_back, STAYS),
    Mistake("nudges stay", one_copy_for_all, STAYS),
    Mistake(
        "nudges cancel",
        no_copy,
        "every slope is 0: W and its nudged version are one array under two names, so copy with W.copy()",
    ),
    Mistake(
        "all together",
        lambda loss, W, h: np.full(W.shape, (loss(W + h) - loss(W - h)) / (2 * h)),
        TOGETHER,
    ),
    Mistake("all together", lambda loss, W, h: (loss(W + h) - loss(W - h)) / (2 * h), TOGETHER),
]


def circle(answer):
    """Check 20 queries and 20 keys of 2 features, with which every query finds its own key."""
    return check_value(
        "circle",
        answer,
        [
            (
                lambda both: np.shape(both) == (2, 20, 2),
                "give the queries and the keys, 20 of 2 features each: an array of shape (2, 20, 2)",
            ),
            (np.isfinite, "every number must be finite and real"),
            (
                lambda both: own_key_best(both[0] @ both[1].T),
                "some query scores another key as high as its own: point each query the way of its own key, "
                "and keep the keys equally long",
            ),
            (
                lambda both: softmax(both[0] @ both[1].T).diagonal() >= 0.9 - 1e-9,
                "every query scores its own key highest, and not by enough: make the arrows longer",
            ),
        ],
    )


def own_key_best(S):
    others = np.where(np.eye(len(S), dtype=bool), -np.inf, S)
    return S.diagonal() > others.max(axis=1)
