"""The self-checks of chapter 01: right answers pass in any style, each typical mistake is called by its name."""

import math

import numpy as np
import pytest

from attention_lib import attention, attention_weights, check, softmax

# ---- attention_shapes ----


def shapes_from_sizes(Q, K, V):
    (N, _), (M, d_v) = Q.shape, V.shape
    return (N, M), (N, M), (N, d_v)


def shapes_by_running(Q, K, V):
    output, weights = attention(Q, K, V, return_weights=True)
    return (Q @ K.T).shape, weights.shape, output.shape


@pytest.mark.parametrize(
    "answer",
    [
        shapes_from_sizes,
        shapes_by_running,
        lambda Q, K, V: [[len(Q), len(K)], [len(Q), len(K)], [len(Q), len(V[0])]],
        lambda Q, K, V: np.array([[len(Q), len(K)], [len(Q), len(K)], [len(Q), V.shape[1]]]),
    ],
)
def test_attention_shapes_takes_every_right_answer(answer):
    assert check.attention_shapes(answer).ok


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("keys first", lambda Q, K, V: ((len(K), len(Q)), (len(K), len(Q)), (len(Q), V.shape[1]))),
        ("keys first", lambda Q, K, V: ((K @ Q.T).shape, (K @ Q.T).shape, V.shape)),
        ("output per key", lambda Q, K, V: ((len(Q), len(K)), (len(Q), len(K)), V.shape)),
        ("output like weights", lambda Q, K, V: ((Q @ K.T).shape,) * 3),
        ("output like query", lambda Q, K, V: ((len(Q), len(K)), (len(Q), len(K)), Q.shape)),
        ("square", lambda Q, K, V: ((len(Q), len(Q)), (len(Q), len(Q)), (len(Q), V.shape[1]))),
        ("columns of K", lambda Q, K, V: ((N := len(Q), K.shape[1]), (N, K.shape[1]), (N, V.shape[1]))),
        ("feature scores", lambda Q, K, V: ((Q.T @ Q).shape, (Q.T @ Q).shape, (len(Q), V.shape[1]))),
    ],
)
def test_attention_shapes_names_the_mistake(name, answer):
    report = check.attention_shapes(answer)
    assert (report.ok, report.mistake) == (False, name)


def test_attention_shapes_asks_for_shapes_and_not_for_attention():
    for answer in (
        attention,
        lambda Q, K, V: (Q @ K.T, softmax(Q @ K.T), V),
        lambda Q, K, V: ("N, M", "N, M", "N, d_v"),
        lambda Q, K, V: "((5, 3), (5, 3), (5, 2))",
        lambda Q, K, V: (len(Q), len(K), V.shape[1]),
    ):
        report = check.attention_shapes(answer)
        assert not report.ok
        assert "three pairs of numbers" in report.message


# ---- soft_lookup ----


def lookup_by_loops(query, keys, values):
    exps = []
    for key in keys:
        score = 0.0
        for q, k in zip(query, key, strict=True):
            score += q * k
        exps.append(math.exp(score))
    total = sum(exps)
    return sum(e / total * v for e, v in zip(exps, values, strict=True))


def lookup_without_overflow(query, keys, values):
    scores = [sum(q * k for q, k in zip(query, key, strict=True)) for key in keys]
    exps = [math.exp(s - max(scores)) for s in scores]
    return sum(e * v for e, v in zip(exps, values, strict=True)) / sum(exps)


def lookup_in_float32(query, keys, values):
    scores = np.asarray(keys, np.float32) @ np.asarray(query, np.float32)
    return softmax(scores) @ np.asarray(values, np.float32)


@pytest.mark.parametrize(
    "answer",
    [
        lookup_by_loops,
        lookup_without_overflow,
        lookup_in_float32,
        lambda query, keys, values: softmax(np.einsum("f,jf->j", query, keys)) @ np.asarray(values),
        lambda query, keys, values: np.average(values, weights=np.exp(np.inner(keys, query))),
        lambda q, k, v: attention([q], k, np.asarray(v)[:, None], scale=1.0).item(),
    ],
)
def test_soft_lookup_takes_every_right_answer(answer):
    assert check.soft_lookup(answer).ok


def hard(query, keys, values):
    best, answer = -math.inf, None
    for key, value in zip(keys, values, strict=True):
        score = sum(q * k for q, k in zip(query, key, strict=True))
        if score > best:
            best, answer = score, value
    return answer


def loops(weigh, mix=lambda weights, keys, values: sum(w * v for w, v in zip(weights, values, strict=True))):
    """Return a lookup in loops whose weights are ``weigh(scores)``."""

    def lookup(query, keys, values):
        return mix(weigh([sum(q * k for q, k in zip(query, key, strict=True)) for key in keys]), keys, values)

    return lookup


def right_weights(scores):
    return [math.exp(s) / sum(map(math.exp, scores)) for s in scores]


def terms(weights, keys, values):
    return [w * v for w, v in zip(weights, values, strict=True)]


def lookup_without_adding_to_the_score(query, keys, values):
    exps = []
    for key in keys:
        for q, k in zip(query, key, strict=True):
            s = q * k
        exps.append(math.exp(s))
    return sum(e * v for e, v in zip(exps, values, strict=True)) / sum(exps)


def lookup_of_the_chapter(query, keys, values):
    scores = np.asarray(keys) @ query
    weights = np.exp(scores) / np.exp(scores).sum()
    return weights @ values, weights


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("hard", hard),
        ("no softmax", loops(lambda scores: scores)),
        ("no exponential", loops(lambda scores: [s / sum(scores) for s in scores])),
        ("not divided", loops(lambda scores: [math.exp(s) for s in scores])),
        ("scaled", lambda q, k, v: loops(right_weights)([x / math.sqrt(len(q)) for x in q], k, v)),
        ("weights", loops(right_weights, mix=lambda weights, keys, values: weights)),
        ("mixed keys", lambda q, k, v: np.array(loops(right_weights, lambda w, k, v: w)(q, k, v)) @ np.array(k)),
        ("mean", lambda query, keys, values: sum(values) / len(values)),
        ("divided by M", lambda q, k, v: loops(right_weights)(q, k, v) / len(v)),
        ("sign", loops(lambda scores: right_weights([-s for s in scores]))),
        ("softmax twice", loops(lambda scores: right_weights(right_weights(scores)))),
        ("not added up", loops(right_weights, mix=terms)),
        ("not added up", loops(lambda scores: [math.exp(s) for s in scores], mix=terms)),
        ("last feature only", lookup_without_adding_to_the_score),
        ("in a tuple", lookup_of_the_chapter),
        ("base 2", loops(lambda scores: [2**s / sum(2**t for t in scores) for s in scores])),
    ],
)
def test_soft_lookup_names_the_mistake(name, answer):
    report = check.soft_lookup(answer)
    assert (report.ok, report.mistake) == (False, name)


# ---- scaled_attention ----


def attention_by_loops(Q, K, V):
    output = np.zeros((len(Q), V.shape[1]))
    for i, q in enumerate(Q):
        exps = [math.exp(q @ k / math.sqrt(len(q))) for k in K]
        for e, v in zip(exps, V, strict=True):
            output[i] += e / sum(exps) * v
    return output


def attention_as_list(Q, K, V):
    return attention_by_loops(Q, K, V).tolist()


def attention_in_float32(Q, K, V):
    return attention(Q.astype(np.float32), K.astype(np.float32), V.astype(np.float32))


def attention_in_place(Q, K, V):
    Q /= np.sqrt(Q.shape[1])
    return softmax(Q @ K.T) @ V


@pytest.mark.parametrize(
    "answer",
    [
        attention,
        attention_by_loops,
        attention_as_list,
        attention_in_float32,
        attention_in_place,
        lambda Q, K, V: attention_weights(Q, K) @ V,
        lambda Q, K, V: softmax(np.einsum("if,jf->ij", Q, K) * K.shape[1] ** -0.5, axis=1) @ V,
        lambda Q, K, V: (V.T @ softmax(K @ Q.T / np.sqrt(Q.shape[1]), axis=0)).T,
    ],
)
def test_scaled_attention_takes_every_right_answer(answer):
    assert check.scaled_attention(answer).ok


def scaled(Q, K):
    return Q @ K.T / np.sqrt(Q.shape[1])


def scaled_by(factor):
    return lambda Q, K, V: attention(Q, K, V, scale=factor(Q, K, V))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("no scale", scaled_by(lambda Q, K, V: 1.0)),
        ("divided by d_k", scaled_by(lambda Q, K, V: 1 / Q.shape[1])),
        ("multiplied", scaled_by(lambda Q, K, V: Q.shape[1] ** 0.5)),
        ("wrong count", scaled_by(lambda Q, K, V: V.shape[1] ** -0.5)),
        ("wrong count", scaled_by(lambda Q, K, V: Q.shape[0] ** -0.5)),
        ("wrong count", scaled_by(lambda Q, K, V: K.shape[0] ** -0.5)),
        ("over queries", lambda Q, K, V: softmax(Q @ K.T / np.sqrt(Q.shape[1]), axis=0) @ V),
        ("over everything", lambda Q, K, V: (lambda e: e / e.sum())(np.exp(Q @ K.T / np.sqrt(Q.shape[1]))) @ V),
        ("scaled too late", lambda Q, K, V: softmax(Q @ K.T) / np.sqrt(Q.shape[1]) @ V),
        ("no softmax", lambda Q, K, V: (Q @ K.T) / np.sqrt(Q.shape[1]) @ V),
        (
            "no exponential",
            lambda Q, K, V: (Q @ K.T) / (Q @ K.T).sum(axis=1, keepdims=True) @ V,  # the scale cancels
        ),
        ("not divided", lambda Q, K, V: np.exp(Q @ K.T / Q.shape[1] ** 0.5) @ V),
        ("weights", lambda Q, K, V: attention_weights(Q, K)),
        ("mixed keys", lambda Q, K, V: attention_weights(Q, K) @ K),
        ("keepdims", lambda Q, K, V: (E := np.exp(Q @ K.T / np.sqrt(Q.shape[1]))) / E.sum(1) @ V),
        ("keepdims", lambda Q, K, V: (E := np.exp(scaled(Q, K) - scaled(Q, K).max())) / E.sum(axis=-1) @ V),
        ("keepdims", lambda Q, K, V: (E := np.exp((S := scaled(Q, K)) - S.max(1)[:, None])) / E.sum(1) @ V),
        ("keepdims", lambda Q, K, V: (E := np.exp((S := scaled(Q, K)) - S.max(1))) / E.sum(1) @ V),
        ("keepdims", lambda Q, K, V: softmax((S := scaled(Q, K)) - S.max(axis=1)) @ V),
        ("keepdims", lambda Q, K, V: (E := np.exp(Q @ K.T)) / E.sum(axis=1) @ V),  # the scale is missing too
        ("keepdims", lambda Q, K, V: (E := np.exp((S := Q @ K.T) - S.max(1))) / E.sum(1) @ V),
        ("in a tuple", lambda Q, K, V: attention(Q, K, V, return_weights=True)),
        ("in a tuple", lambda Q, K, V: ((W := softmax(scaled(Q, K))), W @ V)),
        ("sign", lambda Q, K, V: attention(-Q, K, V)),
        ("softmax twice", lambda Q, K, V: softmax(attention_weights(Q, K)) @ V),
        ("not transposed", lambda Q, K, V: softmax(Q @ K / np.sqrt(Q.shape[1])) @ V),
        ("keys first", lambda Q, K, V: softmax(K @ Q.T / np.sqrt(Q.shape[1])) @ V),
        ("transposed", lambda Q, K, V: V.T @ attention_weights(Q, K).T),
    ],
)
def test_scaled_attention_names_the_mistake(name, answer):
    report = check.scaled_attention(answer)
    assert (report.ok, report.mistake) == (False, name)


# ---- self_attention_columns ----


def columns_by_loops(X):
    d, n = X.shape
    output = np.zeros((d, n))
    for i in range(n):
        exps = [math.exp(X[:, i] @ X[:, j]) for j in range(n)]
        for j in range(n):
            output[:, i] += exps[j] / sum(exps) * X[:, j]
    return output


@pytest.mark.parametrize(
    "answer",
    [
        columns_by_loops,
        lambda X: X @ softmax(X.T @ X, axis=0),
        lambda X: X @ softmax(X.T @ X).T,
        lambda X: (softmax(X.T @ X) @ X.T).T,
        lambda X: attention(X.T, X.T, X.T, scale=1.0).T,
        lambda X: np.einsum("fj,ji->fi", X, softmax(np.einsum("fj,fi->ji", X, X), axis=0)).tolist(),
        lambda X: X.astype(np.float32) @ softmax(X.astype(np.float32).T @ X.astype(np.float32), axis=0),
    ],
)
def test_self_attention_columns_takes_every_right_answer(answer):
    assert check.self_attention_columns(answer).ok


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("features", lambda X: attention(X, X, X, scale=1.0)),
        ("features", lambda X: softmax(X @ X.T, axis=0) @ X),
        ("wrong axis", lambda X: X @ softmax(X.T @ X, axis=1)),
        ("wrong axis", lambda X: (softmax(X.T @ X, axis=0) @ X.T).T),
        ("rows", lambda X: softmax(X.T @ X) @ X.T),
        ("no softmax", lambda X: X @ (X.T @ X)),
        ("scaled", lambda X: attention(X.T, X.T, X.T).T),
        ("over everything", lambda X: X @ (np.exp(X.T @ X) / np.exp(X.T @ X).sum())),
        ("not divided", lambda X: X @ np.exp(X.T @ X)),
        ("sign", lambda X: X @ softmax(-X.T @ X, axis=0)),
        ("softmax twice", lambda X: X @ softmax(softmax(X.T @ X, axis=0), axis=0)),
    ],
)
def test_self_attention_columns_names_the_mistake(name, answer):
    report = check.self_attention_columns(answer)
    assert (report.ok, report.mistake) == (False, name)


# ---- loudness ----


def loudness_by_bisection(weight, M):
    low, high = -50.0, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        if math.exp(middle) / (math.exp(middle) + M - 1) < weight:
            low = middle
        else:
            high = middle
    return low


@pytest.mark.parametrize(
    "answer",
    [
        loudness_by_bisection,
        lambda weight, M: math.log(weight / (1 - weight) * (M - 1)),
        lambda weight, M: np.log(weight) + np.log(M - 1) - np.log1p(-weight),
        lambda weight, M: np.float32(np.log((M - 1) / (1 / weight - 1))),
        lambda weight, M: math.log2(weight * (M - 1) / (1 - weight)) / math.log2(math.e),
    ],
)
def test_loudness_takes_every_right_answer(answer):
    assert check.loudness(answer).ok


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("one rival", lambda weight, M: math.log(weight / (1 - weight))),
        ("M rivals", lambda weight, M: math.log(weight / (1 - weight) * M)),
        ("divided by the rivals", lambda weight, M: math.log(weight / ((1 - weight) * (M - 1)))),
        ("no logarithm", lambda weight, M: weight / (1 - weight) * (M - 1)),
        ("wrong base", lambda weight, M: math.log10(weight * (M - 1) / (1 - weight))),
        ("wrong base", lambda weight, M: math.log2(weight * (M - 1) / (1 - weight))),
        ("upside down", lambda weight, M: math.log((1 - weight) / (weight * (M - 1)))),
        ("zero scores vanish", lambda weight, M: math.log(weight)),
        ("rivals undivided", lambda weight, M: math.log(weight * (M - 1))),
        ("scaled", lambda weight, M: math.sqrt(M) * math.log(weight * (M - 1) / (1 - weight))),
    ],
)
def test_loudness_names_the_mistake(name, answer):
    report = check.loudness(answer)
    assert (report.ok, report.mistake) == (False, name)


# ---- the chapter's own cells ----


@pytest.mark.parametrize(
    "name", ["attention_shapes", "loudness", "scaled_attention", "self_attention_columns", "soft_lookup"]
)
def test_the_chapters_solution_is_right_and_its_stub_is_not_written(chapter, name):
    names = chapter("01").names
    assert getattr(check, name)(names[f"{name}_solution"]).ok
    assert getattr(check, name)(names[f"my_{name}"]).message == "not written yet"


@pytest.mark.parametrize("M", [2, 10, 1000])
@pytest.mark.parametrize("weight", [0.05, 0.5, 0.99])
def test_the_loudness_gives_the_weight_back(chapter, weight, M):
    c = chapter("01").names["loudness_solution"](weight, M)
    weights = attention_weights(c * np.eye(M)[:1], np.eye(M), scale=1.0)
    assert weights[0, 0] == pytest.approx(weight)


def test_an_unknown_mistake_is_told_with_the_numbers_it_was_seen_on():
    report = check.loudness(lambda weight, M: 2.0)
    assert report.mistake is None
    assert report.message == "for (0.9, 3) result is 2, expected 2.89037"
