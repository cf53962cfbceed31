"""The self-checks of chapter 07: right answers pass in any style, each typical mistake is called by its name."""

import tracemalloc

import numpy as np
import pytest

from attention_lib import attention, attention_cost, check, softmax


def sizes(N, M, d, d_head, h):
    """The shapes of the six products, as pairs of matrices."""
    w = h * d_head
    return [
        ((N, d), (d, w)),
        ((M, d), (d, w)),
        ((M, d), (d, w)),
        ((N, d_head), (d_head, M)),
        ((N, M), (M, d_head)),
        ((N, w), (w, d)),
    ]


def flops_from_shapes(N, M, d, d_head, h):
    repeats = [1, 1, 1, h, h, 1]
    return [2 * k * a[0] * a[1] * b[1] for k, (a, b) in zip(repeats, sizes(N, M, d, d_head, h), strict=True)]


def flops_from_the_library(N, M, d, d_head, h):
    return list(attention_cost(N, M, d_model=d, d_head=d_head, n_heads=h).flops.values())


@pytest.mark.parametrize(
    "answer",
    [
        flops_from_shapes,
        flops_from_the_library,
        lambda *a: tuple(flops_from_shapes(*a)),
        lambda *a: np.array(flops_from_shapes(*a)),
        lambda N, M, d, d_head, h: attention_cost(N, M, d_model=d, d_head=d_head, n_heads=h).flops,
        lambda *a: dict(zip("QKVSAO", flops_from_shapes(*a), strict=True)).values(),
        lambda *a: (flops for flops in flops_from_shapes(*a)),
    ],
)
def test_layer_flops_takes_every_right_answer(answer):
    assert check.layer_flops(answer).message == "all correct"


def six(q, k, v, scores, mixture, output, factor=2):
    return [factor * each for each in (q, k, v, scores, mixture, output)]


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("multiply-adds", lambda *a: [each // 2 for each in flops_from_shapes(*a)]),
        (
            "features forgotten",
            lambda N, M, d, e, h: six(N * d * h * e, M * d * h * e, M * d * h * e, N * M, N * M, N * d * h * e),
        ),
        (
            "features forgotten",
            lambda N, M, d, e, h: six(
                N * d * h * e, M * d * h * e, M * d * h * e, N * M * h, N * M * h, N * d * h * e
            ),
        ),
        ("one head's layer", lambda N, M, d, e, h: flops_from_shapes(N, M, d, e, 1)),
        (
            "one head's scores",
            lambda N, M, d, e, h: [
                one if k in (3, 4) else all_
                for k, (one, all_) in enumerate(
                    zip(flops_from_shapes(N, M, d, e, 1), flops_from_shapes(N, M, d, e, h), strict=True)
                )
            ],
        ),
        ("as many keys as queries", lambda N, M, d, e, h: flops_from_shapes(N, N, d, e, h)),
        ("queries and keys swapped", lambda N, M, d, e, h: flops_from_shapes(M, N, d, e, h)),
        ("heads are d wide", lambda N, M, d, e, h: flops_from_shapes(N, M, d, d, 1)),
        ("heads are d wide", lambda N, M, d, e, h: flops_from_shapes(N, M, d, d, h)),
        (
            "heads are d wide",
            lambda N, M, d, e, h: six(N * d * d, M * d * d, M * d * d, N * M * h * e, N * M * h * e, N * d * d),
        ),
        (
            "one head's projections",
            lambda N, M, d, e, h: six(N * d * e, M * d * e, M * d * e, N * M * h * e, N * M * h * e, N * d * e),
        ),
        ("output for each key", lambda *a: [*flops_from_shapes(*a)[:-1], flops_from_shapes(*a)[1]]),
        (
            "one addition fewer",
            lambda N, M, d, e, h: [
                k * a[0] * b[1] * (2 * a[1] - 1)
                for k, (a, b) in zip([1, 1, 1, h, h, 1], sizes(N, M, d, e, h), strict=True)
            ],
        ),
        (
            "keys from the queries' tokens",
            lambda N, M, d, e, h: six(*[N * d * h * e] * 3, N * M * h * e, N * M * h * e, N * d * h * e),
        ),
        (
            "values from the queries' tokens",
            lambda N, M, d, e, h: six(
                N * d * h * e, M * d * h * e, N * d * h * e, N * M * h * e, N * M * h * e, N * d * h * e
            ),
        ),
    ],
)
def test_layer_flops_recognises_the_mistake(mistake, answer):
    report = check.layer_flops(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def test_layer_flops_says_what_to_return():
    assert "six numbers" in check.layer_flops(lambda *a: sum(flops_from_shapes(*a))).message


@pytest.mark.parametrize(
    "answer", [lambda d, f: 2 * d + f, lambda d, f: (8 * d**2 + 4 * d * f) / (4 * d), lambda d, f: np.int64(d + d + f)]
)
def test_crossover_takes_every_right_answer(answer):
    assert check.crossover(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("attention alone", lambda d, f: 8 * d / 4),
        ("one of two matrices", lambda d, f: (8 * d + 2 * f) / 4),
        ("no output projection", lambda d, f: (6 * d + 4 * f) / 4),
        ("scores alone", lambda d, f: (8 * d + 4 * f) / 2),
        ("matrices alone", lambda d, f: 4 * f / 4),
        ("operations mixed", lambda d, f: (4 * d + 2 * f) / 4),
        ("operations mixed", lambda d, f: (4 * d + 4 * f) / 2),
        ("f taken for 4d", lambda d, f: 24 * d / 4),
    ],
)
def test_crossover_recognises_the_mistake(mistake, answer):
    report = check.crossover(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def by_counting(a, b, c, e):
    return sorted([(a * c) * b + (a * e) * c, (b * e) * c + (a * e) * b])[0]


@pytest.mark.parametrize("answer", [by_counting, lambda *a: float(by_counting(*a))])
def test_cheapest_takes_every_right_answer(answer):
    assert check.cheapest(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("always from the left", lambda a, b, c, e: a * c * (b + e)),
        ("always from the right", lambda a, b, c, e: b * e * (c + a)),
        ("dearest", lambda a, b, c, e: max(a * c * (b + e), b * e * (c + a))),
        ("both orders", lambda a, b, c, e: a * c * (b + e) + b * e * (c + a)),
        ("FLOPs", lambda *a: 2 * by_counting(*a)),
        ("all sizes multiplied", lambda a, b, c, e: a * b * c * e),
        ("one product", lambda a, b, c, e: b * c * min(a, e)),
        ("first product decides", lambda a, b, c, e: a * c * (b + e) if a * b * c < b * c * e else b * e * (c + a)),
        ("size in the middle decides", lambda a, b, c, e: a * c * (b + e) if a * c < b * e else b * e * (c + a)),
        ("features forgotten", lambda a, b, c, e: min(a * (c + e), e * (a + b))),
    ],
)
def test_cheapest_recognises_the_mistake(mistake, answer):
    report = check.cheapest(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def in_blocks(Q, K, V, block, *, stop=None, attend=attention):
    output = np.zeros((len(Q), V.shape[1]))
    for start in range(0, len(Q) if stop is None else stop, block):
        output[start : start + block] = attend(Q[start : start + block], K, V)
    return output


def by_queries(Q, K, V, block):
    return [softmax(K @ q / len(q) ** 0.5) @ V for q in Q]


def by_array_split(Q, K, V, block):
    return np.concatenate([attention(part, K, V) for part in np.array_split(Q, max(len(Q) // block, 1))])


def in_loops(Q, K, V, block):
    output = []
    for q in Q.tolist():
        scores = [sum(a * b for a, b in zip(q, k, strict=True)) / len(q) ** 0.5 for k in K.tolist()]
        e = [2.718281828459045 ** (s - max(scores)) for s in scores] if len(scores) < 100 else np.exp(scores)
        output.append(np.array(e) @ V / sum(e))
    return output


def float32_in_place(Q, K, V, block):
    output = np.empty((len(Q), V.shape[1]), np.float32)
    for start in range(0, len(Q), block):
        S = (Q[start : start + block] @ K.T / np.sqrt(Q.shape[1])).astype(np.float32)
        S -= S.max(axis=1, keepdims=True)
        np.exp(S, out=S)
        output[start : start + block] = S @ V / S.sum(axis=1, keepdims=True)
    return output


@pytest.mark.parametrize("answer", [in_blocks, by_queries, by_array_split, in_loops, float32_in_place])
def test_attention_in_blocks_takes_every_right_answer(answer):
    assert check.attention_in_blocks(answer).message == "all correct"


def all_in_place(Q, K, V, block):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    np.exp(S, out=S)
    S /= S.sum(axis=1, keepdims=True)
    return S @ V


def scores_first(Q, K, V, block):
    S = (Q @ K.T / np.sqrt(Q.shape[1])).astype(np.float16).astype(float)
    del S  # used for nothing, but it was there
    return in_blocks(Q, K, V, block)


@pytest.mark.parametrize("answer", [lambda Q, K, V, block: attention(Q, K, V), all_in_place, scores_first])
def test_attention_in_blocks_sees_all_scores_at_once(answer):
    report = check.attention_in_blocks(answer)
    assert (report.ok, report.mistake) == (False, "all scores at once")


def test_attention_in_blocks_leaves_tracing_as_it_was():
    assert not tracemalloc.is_tracing()
    check.attention_in_blocks(in_blocks)
    assert not tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        whole = np.ones(10**6)  # what is there before is not the answer's
        assert check.attention_in_blocks(in_blocks).ok
        assert not check.attention_in_blocks(all_in_place).ok
        assert tracemalloc.is_tracing() and whole.size
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("rest forgotten", lambda Q, K, V, block: in_blocks(Q, K, V, block, stop=len(Q) - block + 1)),
        ("first block only", lambda Q, K, V, block: in_blocks(Q[:block], K, V, block)),
        ("not scaled", lambda Q, K, V, block: in_blocks(Q, K, V, block, attend=lambda q, k, v: softmax(q @ k.T) @ v)),
        ("scaled by d_k", lambda Q, K, V, block: attention(Q, K, V, scale=1 / K.shape[1])),
        (
            "shared out over queries",
            lambda Q, K, V, block: in_blocks(
                Q, K, V, block, attend=lambda q, k, v: softmax(q @ k.T / np.sqrt(k.shape[1]), axis=0) @ v
            ),
        ),
        ("no softmax", lambda Q, K, V, block: Q @ (K.T @ V) / np.sqrt(Q.shape[1])),
        ("weights do not sum to 1", lambda Q, K, V, block: np.exp(Q @ K.T / np.sqrt(Q.shape[1])) @ V),
    ],
)
def test_attention_in_blocks_recognises_the_mistake(mistake, answer):
    report = check.attention_in_blocks(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def test_attention_in_blocks_says_what_to_return():
    blocks = check.attention_in_blocks(
        lambda Q, K, V, block: [attention(Q[k : k + block], K, V) for k in range(0, len(Q), block)]
    )
    assert "one array of shape (N, d_v)" in blocks.message


def last_block(Q, K, V, block):
    for start in range(0, len(Q), block):
        output = attention(Q[start : start + block], K, V)
    return output


def test_attention_in_blocks_recognises_the_last_block():
    assert check.attention_in_blocks(last_block).mistake == "last block only"


@pytest.mark.parametrize(
    "answer",
    [
        lambda T, d: 8 * T * d**2 + 2 * T * (T + 1) * d,
        lambda T, d: attention_cost(T, d_model=d, causal=True).total_flops,
        lambda T, d: 2 * (4 * T * d * d + 2 * d * sum(range(T + 1))),
    ],
)
def test_generation_flops_takes_every_right_answer(answer):
    assert check.generation_flops(answer).ok


def steps(T, flops):
    return sum(flops(t) for t in range(1, T + 1))


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("no cache", lambda T, d: steps(T, lambda t: attention_cost(t, d_model=d).total_flops)),
        ("no cache", lambda T, d: steps(T, lambda t: attention_cost(t, d_model=d, causal=True).total_flops)),
        ("keys projected again", lambda T, d: steps(T, lambda t: attention_cost(1, t, d_model=d).total_flops)),
        ("all pairs", lambda T, d: attention_cost(T, d_model=d).total_flops),
        ("half of all pairs", lambda T, d: 8 * T * d * d + 2 * T**2 * d),
        ("not itself", lambda T, d: 8 * T * d * d + 2 * T * (T - 1) * d),
        ("one key too many", lambda T, d: sum(8 * d * d + 4 * d * len(range(t + 2)) for t in range(T))),
        ("no output projection", lambda T, d: 6 * T * d * d + 2 * T * (T + 1) * d),
        ("no projections", lambda T, d: 2 * T * (T + 1) * d),
        ("one pass of projections", lambda T, d: 8 * d * d + 2 * T * (T + 1) * d),
        ("scores alone", lambda T, d: 8 * T * d * d + T * (T + 1) * d),
        ("multiply-adds", lambda T, d: 4 * T * d * d + T * (T + 1) * d),
        ("last token alone", lambda T, d: 8 * d * d + 4 * T * d),
    ],
)
def test_generation_flops_recognises_the_mistake(mistake, answer):
    report = check.generation_flops(answer)
    assert (report.ok, report.mistake) == (False, mistake)
