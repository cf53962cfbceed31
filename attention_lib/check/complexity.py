"""Self-checks of chapter 07: complexity."""

import tracemalloc
from collections.abc import Iterable, Mapping

import numpy as np

from attention_lib.check._engine import Mistake, Report, check_function
from attention_lib.check._shared import random, shares
from attention_lib.weights import softmax


def layer_flops(answer):
    """Check ``answer(N, M, d, d_head, h)``, the FLOPs of the products Q, K, V, scores, mixture and output."""
    return check_function(
        "layer_flops",
        listed(answer) if callable(answer) else answer,
        right=lambda N, M, d, d_head, h: products(N, M, M, N * M, d * h * d_head, h * d_head),
        inputs=LAYERS,
        mistakes=LAYER_MISTAKES,
        form="return six numbers: the FLOPs of Q, K, V, scores, mixture and output",
        called="list of FLOPs",
    )


def listed(answer):
    """Return the same function, with a list where it returns a dictionary or a generator of the numbers."""

    def run(*arguments):
        result = answer(*arguments)
        result = result.values() if isinstance(result, Mapping) else result
        return list(result) if isinstance(result, Iterable) else result

    return run


# All five sizes differ, so that no two can be confused and still agree; and counts stay small enough for float16.
LAYERS = [(3, 5, 4, 7, 2), (6, 2, 5, 3, 4), (7, 3, 8, 2, 5)]


def products(N, M_k, M_v, pairs, matrix, width, *, out=None, each=2):
    """Return the six counts: rows times the entries of a matrix, and pairs times the width of the heads."""
    out = matrix if out is None else out
    return [each * n for n in (N * matrix, M_k * matrix, M_v * matrix, pairs * width, pairs * width, N * out)]


HALF = "each multiply-add is two operations, a multiplication and an addition: multiply by 2"
ONE_WIDTH = "you took the heads to be d wide together: they are h * d_head wide, and here that is not d"
LAYER_MISTAKES = [
    Mistake(
        "multiply-adds",
        lambda N, M, d, d_head, h: products(N, M, M, N * M, d * h * d_head, h * d_head, each=1),
        HALF,
    ),
    Mistake(
        "one addition fewer",
        lambda N, M, d, d_head, h: [
            *(rows * h * d_head * (2 * d - 1) for rows in (N, M, M)),
            h * N * M * (2 * d_head - 1),
            h * N * d_head * (2 * M - 1),
            N * d * (2 * h * d_head - 1),
        ],
        "a sum of n terms takes n - 1 additions, but a multiply-add counts 2 here, as nearly everywhere: 2·a·b·c",
    ),
    Mistake(
        "features forgotten",
        lambda N, M, d, d_head, h: products(N, M, M, N * M * h, d * h * d_head, 1),
        "scores and mixture lack the features: each pair takes a dot product of d_head terms in each head",
    ),
    Mistake(
        "features forgotten",
        lambda N, M, d, d_head, h: products(N, M, M, N * M, d * h * d_head, 1),
        "scores and mixture lack the features: each pair takes a dot product of d_head terms in each head",
    ),
    Mistake(
        "one head's scores",
        lambda N, M, d, d_head, h: products(N, M, M, N * M, d * h * d_head, d_head),
        "scores and mixture are those of one head: there are h of them",
    ),
    Mistake(
        "one head's layer",
        lambda N, M, d, d_head, h: products(N, M, M, N * M, d * d_head, d_head),
        "this is one head: there are h of them, so the matrices are h * d_head wide",
    ),
    Mistake(
        "one head's projections",
        lambda N, M, d, d_head, h: products(N, M, M, N * M, d * d_head, h * d_head),
        "the projections are those of one head: W_q, W_k and W_v make the features of all h, and W_o takes them",
    ),
    Mistake(
        "as many keys as queries",
        lambda N, M, d, d_head, h: products(N, N, N, N * N, d * h * d_head, h * d_head),
        "you took N keys, as in self-attention: here M keys answer N queries",
    ),
    Mistake(
        "keys from the queries' tokens",
        lambda N, M, d, d_head, h: products(N, N, N, N * M, d * h * d_head, h * d_head),
        "keys and values are made from M tokens, not from N",
    ),
    Mistake(
        "values from the queries' tokens",
        lambda N, M, d, d_head, h: products(N, M, N, N * M, d * h * d_head, h * d_head),
        "each key has a value: V is made from M tokens, as K is",
    ),
    Mistake(
        "queries and keys swapped",
        lambda N, M, d, d_head, h: products(M, N, N, N * M, d * h * d_head, h * d_head),
        "you swapped the tokens: N of them ask, so Q and the output have N rows, and K and V have M",
    ),
    Mistake(
        "output for each key",
        lambda N, M, d, d_head, h: [*products(N, M, M, N * M, d * h * d_head, h * d_head)[:5], 2 * M * d * h * d_head],
        "the output has one row for each query: N rows, not M",
    ),
    Mistake("heads are d wide", lambda N, M, d, d_head, h: products(N, M, M, N * M, d * d, d), ONE_WIDTH),
    Mistake(
        "heads are d wide",
        lambda N, M, d, d_head, h: products(N, M, M, N * M, d * d, h * d_head),
        "the projections make the heads' features, h * d_head in all: a matrix is (d, h * d_head), not (d, d)",
    ),
    Mistake(
        "heads are d wide",
        lambda N, M, d, d_head, h: products(N, M, M, N * M, d * h * d, h * d),
        "you took each head to be d wide: it has d_head features",
    ),
    Mistake(
        "heads are d wide",
        lambda N, M, d, d_head, h: products(N, M, M, N * M, d * h * d_head, d),
        "scores and mixture run over the heads' features, h * d_head in all, not over the d features of a token",
    ),
    Mistake(
        "heads are d wide",
        lambda N, M, d, d_head, h: products(N, M, M, N * M, d * h * d_head, h * d_head, out=d * d),
        "the output projection takes the heads side by side: its matrix is (h * d_head, d), not (d, d)",
    ),
    Mistake(
        "heads are d wide",
        lambda N, M, d, d_head, h: products(N, M, M, N * M, d * h * d_head, h * d),
        "each head's dot products have d_head terms, not d",
    ),
]


def crossover(answer):
    """Check ``answer(d, f)``, the tokens at which scores and mixing cost as much as the rest of a block."""
    return check_function(
        "crossover", answer, right=lambda d, f: 2 * d + f, inputs=[(4, 7), (10, 40), (64, 24)], mistakes=CROSS_MISTAKES
    )


CROSS_MISTAKES = [
    Mistake(
        "attention alone",
        lambda d, f: 2 * d,
        "this is the line of the attention layer alone: the two matrices of the block take 4·N·d·f FLOPs more",
    ),
    Mistake(
        "one of two matrices",
        lambda d, f: 2 * d + f / 2,
        "you counted one of the two matrices: (d, f) and (f, d) take 2·N·d·f FLOPs each",
    ),
    Mistake(
        "no output projection",
        lambda d, f: 1.5 * d + f,
        "the output projection W_o is missing: attention has four projections, 8·N·d² FLOPs",
    ),
    Mistake(
        "scores alone",
        lambda d, f: 4 * d + 2 * f,
        "you counted the scores and not the mixing: each takes 2·N²·d FLOPs",
    ),
    Mistake(
        "matrices alone",
        lambda d, f: f,
        "the four projections are missing: they take 8·N·d² FLOPs",
    ),
    Mistake(
        "operations mixed",
        lambda d, f: 2 * d + 2 * f,
        "one part is in FLOPs and another in multiply-adds: count 2 for a multiply-add everywhere, or 1",
    ),
    Mistake(
        "operations mixed",
        lambda d, f: d + f / 2,
        "one part is in FLOPs and another in multiply-adds: count 2 for a multiply-add everywhere, or 1",
    ),
    Mistake(
        "f taken for 4d",
        lambda d, f: 6 * d,
        "you took f to be 4·d, as in GPT-2: f is an argument",
    ),
]


def cheapest(answer):
    """Check ``answer(a, b, c, e)``, the fewest multiply-adds for a product of three matrices."""
    return check_function(
        "cheapest",
        answer,
        right=lambda a, b, c, e: min(left_first(a, b, c, e), right_first(a, b, c, e)),
        inputs=[(7, 2, 5, 3), (2, 7, 3, 5), (3, 4, 6, 2), (9, 3, 9, 3), (3, 2, 4, 5), (2, 3, 6, 4)],
        mistakes=ORDER_MISTAKES,
    )


# In the last two inputs the first products, or the sizes of the matrices in the middle, point to the dearer order.
def left_first(a, b, c, e):
    return a * b * c + a * c * e


def right_first(a, b, c, e):
    return b * c * e + a * b * e


ONE_PRODUCT = "there are two products in each order: count both"
ORDER_MISTAKES = [
    Mistake("always from the left", left_first, "this is always (AB)C: try A(BC) too, and take the smaller count"),
    Mistake("always from the right", right_first, "this is always A(BC): try (AB)C too, and take the smaller count"),
    Mistake(
        "dearest",
        lambda a, b, c, e: max(left_first(a, b, c, e), right_first(a, b, c, e)),
        "this is the dearer order: take the minimum",
    ),
    Mistake(
        "both orders",
        lambda a, b, c, e: left_first(a, b, c, e) + right_first(a, b, c, e),
        "you added up both orders: one of them is enough",
    ),
    Mistake(
        "FLOPs",
        lambda a, b, c, e: 2 * min(left_first(a, b, c, e), right_first(a, b, c, e)),
        "these are FLOPs: the question is for multiply-adds, half as many",
    ),
    Mistake(
        "all sizes multiplied",
        lambda a, b, c, e: a * b * c * e,
        "a·b·c·e would be four nested loops: two products after each other are two times three loops",
    ),
    Mistake(
        "first product decides",
        lambda a, b, c, e: (left_first if a < e else right_first)(a, b, c, e),
        "you chose the order whose first product is cheaper: compare the sums of both products",
    ),
    Mistake(
        "size in the middle decides",
        lambda a, b, c, e: (left_first if a * c < b * e else right_first)(a, b, c, e),
        "you chose the order with the smaller matrix in the middle: compare the multiply-adds of both products",
    ),
    Mistake("one product", lambda a, b, c, e: min(a * b * c, b * c * e), ONE_PRODUCT),
    Mistake("one product", lambda a, b, c, e: min(a * c * e, a * b * e), ONE_PRODUCT),
    Mistake(
        "features forgotten",
        lambda a, b, c, e: min(a * c, b * e),
        "this is the size of the matrix in the middle: each of its numbers is a dot product, whose terms count",
    ),
    Mistake(
        "features forgotten",
        lambda a, b, c, e: min(a * c + a * e, b * e + a * e),
        "these are the sizes of the results: each of their numbers is a dot product, whose terms count",
    ),
]


def attention_in_blocks(answer):
    """Check ``answer(Q, K, V, block)``, attention with the usual scale and few rows of scores at a time."""
    peaks = []
    report = check_function(
        "attention_in_blocks",
        watched(answer, peaks) if callable(answer) else answer,
        right=lambda Q, K, V, block: attend(Q, K, V),
        inputs=BLOCKS,
        mistakes=BLOCK_MISTAKES,
        form="give one array of shape (N, d_v): the outputs of all blocks below each other",
    )
    if peaks and report.ok and peaks[-1] > MOST_BYTES:
        return Report(report.name, False, ALL_AT_ONCE, "all scores at once")
    return report


def watched(answer, peaks):
    """Return the same function, which also notes the most bytes that its arrays hold at one moment."""

    def run(*arguments):
        mine = not tracemalloc.is_tracing()
        if mine:
            tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            result = answer(*arguments)
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
            return result
        finally:
            if mine:
                tracemalloc.stop()

    return run


def attend(Q, K, V, *, scale=None, weights=softmax):
    return weights(Q @ K.T * (Q.shape[1] ** -0.5 if scale is None else scale)) @ V


def by_blocks(Q, K, V, block, *, rows=None, **options):
    """Return the blocks' outputs below each other; `rows` may stop early."""
    starts = range(0, len(Q) if rows is None else rows, block)
    return np.vstack([attend(Q[start : start + block], K, V, **options) for start in starts])


def without_the_rest(Q, K, V, block, *, fill):
    """Forget the last queries where N is no multiple of the block, and give them no output, or one of zeros."""
    whole = len(Q) // block * block
    output = by_blocks(Q, K, V, block, rows=whole)[:whole]
    return np.vstack([output, np.zeros((len(Q) - whole, V.shape[1]))]) if fill else output


def queries_keys_values(N, M, d_k, d_v, block, seed):
    Q, K, V = random((N, d_k), (M, d_k), (M, d_v), seed=seed)
    return 2 * Q, 2 * K, V, block


# The last is the one whose memory counts: all its scores take 8 · 700 · 500 bytes, a block's rows 8 · 8 · 500.
BLOCKS = [
    queries_keys_values(7, 5, 4, 3, block=3, seed=0),
    queries_keys_values(6, 6, 6, 6, block=6, seed=1),
    queries_keys_values(700, 500, 2, 2, block=8, seed=2),
]
MOST_BYTES = 8 * 700 * 500 // 4
ALL_AT_ONCE = "the numbers are right, and all N×M scores exist at once: make the scores of one block inside the loop"
REST = "the last queries are missing: N need not be a multiple of the block, so let range run to N"
BLOCK_AXIS = "you shared out over the queries of a block: share each query's weight out over the keys, with axis=-1"
BLOCK_MISTAKES = [
    Mistake("rest forgotten", lambda *a: without_the_rest(*a, fill=True), REST),
    Mistake("rest forgotten", lambda *a: without_the_rest(*a, fill=False), REST),
    Mistake(
        "first block only",
        lambda Q, K, V, block: attend(Q[:block], K, V),
        "you return after the first block: is the return inside the loop?",
    ),
    Mistake(
        "last block only",
        lambda Q, K, V, block: attend(Q[(len(Q) - 1) // block * block :], K, V),
        "you return the last block alone: keep the outputs of all blocks, each in its own rows",
    ),
    Mistake(
        "not scaled",
        lambda Q, K, V, block: attend(Q, K, V, scale=1.0),
        "the scale is missing: divide the scores by √d_k",
    ),
    Mistake(
        "scaled by d_k",
        lambda Q, K, V, block: attend(Q, K, V, scale=1 / Q.shape[1]),
        "you divided by d_k: the scale divides the scores by its square root",
    ),
    Mistake(
        "shared out over queries",
        lambda Q, K, V, block: by_blocks(Q, K, V, block, weights=lambda S: softmax(S, axis=0)),
        BLOCK_AXIS,
    ),
    Mistake(
        "no softmax",
        lambda Q, K, V, block: attend(Q, K, V, weights=lambda S: S),
        "the softmax is missing: scores are not weights",
    ),
    Mistake(
        "weights do not sum to 1",
        lambda Q, K, V, block: attend(Q, K, V, weights=np.exp),
        "the exponentials do not sum to 1 yet: divide each row by its sum, or use softmax",
    ),
    Mistake(
        "one sum a block",
        lambda Q, K, V, block: by_blocks(Q, K, V, block, weights=lambda S: shares(S, axis=None)),
        "you divided by the sum of the whole block: each query's weights sum to 1 by themselves, with axis=-1",
    ),
    Mistake(
        "blocks of keys too",
        lambda Q, K, V, block: np.vstack(
            [
                attend(Q[i : i + block], K[i : i + block], V[i : i + block])
                for i in range(0, min(len(Q), len(K)), block)
            ]
        ),
        "you cut the keys as well: each query attends to all of them, so slice Q alone",
    ),
]


def generation_flops(answer):
    """Check ``answer(T, d)``, the FLOPs of writing T tokens with cached keys and values."""
    return check_function(
        "generation_flops",
        answer,
        right=lambda T, d: sum(step(t, d) for t in range(1, T + 1)),
        inputs=[(1, 3), (4, 3), (7, 5)],
        mistakes=GENERATION_MISTAKES,
    )


def step(keys, d, *, projections=4, queries=1, projected=1):
    """Return the FLOPs of one step: `projected` tokens go through the projections, `queries` attend to `keys`."""
    return 2 * projections * projected * d * d + 4 * queries * keys * d


GENERATION_MISTAKES = [
    Mistake(
        "no cache",
        lambda T, d: sum(step(t, d, queries=t, projected=t) for t in range(1, T + 1)),
        "every step repeats the whole layer: with a cache one new token is projected, and one query attends",
    ),
    Mistake(
        "no cache",
        lambda T, d: sum(step((t + 1) / 2, d, queries=t, projected=t) for t in range(1, T + 1)),
        "every step repeats the whole layer: with a cache one new token is projected, and one query attends",
    ),
    Mistake(
        "keys projected again",
        lambda T, d: sum(4 * d * d + 4 * t * d * d + 4 * t * d for t in range(1, T + 1)),
        "you project all keys and values in every step: the cache keeps them, so project the new token alone",
    ),
    Mistake(
        "all pairs",
        lambda T, d: T * step(T, d),
        "every query meets all T keys: token t meets the t that exist by then",
    ),
    Mistake(
        "half of all pairs",
        lambda T, d: T * step(T / 2, d),
        "you took half of T² pairs: the diagonal counts whole, and 1 + 2 + … + T is T(T + 1)/2",
    ),
    Mistake(
        "not itself",
        lambda T, d: sum(step(t - 1, d) for t in range(1, T + 1)),
        "token t meets t - 1 keys in your count: its own key is among them too",
    ),
    Mistake(
        "one key too many",
        lambda T, d: sum(step(t + 1, d) for t in range(1, T + 1)),
        "token t meets t + 1 keys in your count: the first token meets one, its own",
    ),
    Mistake(
        "no output projection",
        lambda T, d: sum(step(t, d, projections=3) for t in range(1, T + 1)),
        "the output projection W_o is missing: each token goes through four matrices",
    ),
    Mistake(
        "no projections",
        lambda T, d: sum(step(t, d, projections=0) for t in range(1, T + 1)),
        "the projections are missing: each token goes through four matrices, 8·d² FLOPs",
    ),
    Mistake(
        "one pass of projections",
        lambda T, d: sum(step(t, d, projections=0) for t in range(1, T + 1)) + 8 * d * d,
        "the projections are counted once: each of the T tokens goes through them",
    ),
    Mistake(
        "scores alone",
        lambda T, d: sum(step(t / 2, d) for t in range(1, T + 1)),
        "you counted the scores and not the mixing: each takes 2·d FLOPs a key",
    ),
    Mistake(
        "multiply-adds",
        lambda T, d: sum(step(t, d) for t in range(1, T + 1)) / 2,
        HALF,
    ),
    Mistake(
        "last token alone",
        step,
        "this is the last token alone: add up all T",
    ),
]
