"""The self-checks of chapter 09: right answers pass in any style, each typical mistake is called by its name."""

import math
from fractions import Fraction

import numpy as np
import pytest

from attention_lib import check


@pytest.mark.parametrize(
    "answer",
    [
        lambda d_model, d_k, s: 1 / (s**2 * np.sqrt(d_model * d_k)),
        lambda d_model, d_k, s: (d_model * d_k) ** -0.5 / s / s,
        lambda d_model, d_k, s: math.sqrt(1 / (d_model * d_k * s**4)),
        lambda d_model, d_k, s: np.exp(-0.5 * np.log(d_model * d_k) - 2 * np.log(s)),
        lambda d_model, d_k, s: np.float32(1 / (s * s)) / np.float32(math.sqrt(d_model)) / np.float32(math.sqrt(d_k)),
        lambda d_model, d_k, s: np.array([d_model * s**2, d_k * s**2]).prod() ** -0.5,
    ],
)
def test_query_std_takes_every_right_answer(answer):
    assert check.query_std(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("variance", lambda d_model, d_k, s: 1 / (d_model * d_k * s**4)),
        ("size forgotten", lambda d_model, d_k, s: (d_model * d_k) ** -0.5),
        ("size counted once", lambda d_model, d_k, s: (s**2 * d_model * d_k) ** -0.5),
        ("size the wrong way", lambda d_model, d_k, s: s * s / math.sqrt(d_model) / math.sqrt(d_k)),
        ("d_k forgotten", lambda d_model, d_k, s: d_model**-0.5 / s**2),
        ("d_model forgotten", lambda d_model, d_k, s: d_k**-0.5 / s**2),
        ("d_k without its root", lambda d_model, d_k, s: d_model**-0.5 / d_k / s**2),
        ("d_model without its root", lambda d_model, d_k, s: d_k**-0.5 / d_model / s**2),
        ("fourth root", lambda d_model, d_k, s: d_model**-0.5 * d_k**-0.25 / s**2),
    ],
)
def test_query_std_recognises_the_mistake(mistake, answer):
    report = check.query_std(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def fold_by_head(W_q, n_heads):
    heads = np.split(W_q, n_heads, axis=1)
    return np.hstack([head / math.sqrt(head.shape[1]) for head in heads])


def fold_in_place(W_q, n_heads):
    W_q /= math.sqrt(W_q.shape[1] // n_heads)
    return W_q


@pytest.mark.parametrize(
    "answer",
    [
        fold_by_head,
        fold_in_place,
        lambda W_q, n_heads: W_q / np.sqrt(W_q.shape[1] / n_heads),
        lambda W_q, n_heads: W_q * (n_heads / len(W_q[0])) ** 0.5,
        lambda W_q, n_heads: W_q @ np.diag(np.full(W_q.shape[1], (W_q.shape[1] / n_heads) ** -0.5)),
        lambda W_q, n_heads: (W_q.astype(np.float32) / np.sqrt(W_q.shape[1] // n_heads)).tolist(),
    ],
)
def test_fold_takes_every_right_answer(answer):
    assert check.fold(answer).ok


def folds_one_head(W_q, n_heads):
    d_k = W_q.shape[1] // n_heads
    W_q[:, :d_k] /= math.sqrt(d_k)
    return W_q


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("all heads as one", lambda W_q, n_heads: W_q / math.sqrt(W_q.shape[-1])),
        ("d_model", lambda W_q, n_heads: W_q / math.sqrt(len(W_q))),
        ("number of heads", lambda W_q, n_heads: W_q / n_heads**0.5),
        ("multiplied", lambda W_q, n_heads: W_q * math.sqrt(W_q.shape[1] // n_heads)),
        ("no root", lambda W_q, n_heads: W_q / (W_q.shape[1] // n_heads)),
        ("fourth root", lambda W_q, n_heads: W_q / math.sqrt(math.sqrt(W_q.shape[1] // n_heads))),
        ("first head only", folds_one_head),
        ("unchanged", lambda W_q, n_heads: W_q.copy()),
    ],
)
def test_fold_recognises_the_mistake(mistake, answer):
    report = check.fold(answer)
    assert (report.ok, report.mistake) == (False, mistake)


@pytest.mark.parametrize(
    "answer",
    [
        [1 / 64, 1 / 8, 1],
        (0.0156, 0.125, 1.0),
        np.array([1 / 64, 1 / 8, 1], dtype=np.float32),
        [Fraction(1, 64), Fraction(1, 8), Fraction(1)],
    ],
)
def test_query_rates_takes_every_right_answer(answer):
    assert check.query_rates(answer).ok


@pytest.mark.parametrize(
    ("hint", "answer"),
    [
        ("three factors", [1 / 64, 1 / 8]),
        ("three factors", 1 / 64),
        ("three factors", {"SGD": 1 / 64}),
        ("finite", [np.nan, 1 / 8, 1]),
        ("how much too far", [64, 8, 1]),
        ("exchanged", [1 / 8, 1 / 64, 1]),
        ("needs no factor", [1 / 64, 1 / 8, 1 / 8]),
        ("SGD: B has to move", [1 / 8, 1 / 8, 1]),
        ("SGD: B has to move", [1, 1, 1]),
        ("Adam: B has to move", [1 / 64, 1, 1]),
        ("relative step: its size", [1 / 64, 1 / 8, 1 / 64]),
    ],
)
def test_query_rates_says_what_is_missing(hint, answer):
    report = check.query_rates(answer)
    assert not report.ok
    assert hint in report.message


def steps_by_loops(W, U, rate):
    size = max(0.001, math.sqrt(sum(w * w for row in W for w in row) / W.size))
    return [[w - rate * size * u for w, u in zip(*rows, strict=True)] for rows in zip(W, U, strict=True)]


def steps_in_place(W, U, rate):
    W -= rate * np.maximum(1e-3, np.sqrt((W**2).mean())) * U
    return W


@pytest.mark.parametrize(
    "answer",
    [
        steps_by_loops,
        steps_in_place,
        lambda W, U, rate: W - rate * max(np.linalg.norm(W) / np.sqrt(W.size), 1e-3) * U,
        lambda W, U, rate: W - rate * np.hypot(W.std(), W.mean()).clip(1e-3) * U,
        lambda W, U, rate: (lambda w: w - np.float32(rate) * max(np.float32(1e-3), np.sqrt(np.mean(w * w))) * U)(
            W.astype(np.float32)
        ),
    ],
)
def test_sized_step_takes_every_right_answer(answer):
    assert check.sized_step(answer).ok


def step(W, U, rate, size):
    return W - rate * size * U


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("no floor", lambda W, U, rate: step(W, U, rate, np.linalg.norm(W) / W.size**0.5)),
        ("minimum for maximum", lambda W, U, rate: step(W, U, rate, np.minimum(0.001, np.sqrt((W * W).mean())))),
        ("floor added", lambda W, U, rate: step(W, U, rate, 0.001 + np.sqrt((W * W).mean()))),
        ("norm for RMS", lambda W, U, rate: step(W, U, rate, max(0.001, np.sqrt((W * W).sum())))),
        ("standard deviation for RMS", lambda W, U, rate: step(W, U, rate, max(0.001, np.std(W)))),
        ("mean square", lambda W, U, rate: step(W, U, rate, max(0.001, (W * W).mean()))),
        ("mean of sizes", lambda W, U, rate: step(W, U, rate, max(0.001, abs(W).mean()))),
        ("size of each entry", lambda W, U, rate: step(W, U, rate, np.clip(abs(W), 0.001, None))),
        ("size of the update", lambda W, U, rate: step(W, U, rate, max(0.001, np.sqrt(np.mean(U**2))))),
        ("absolute step", lambda W, U, rate: W - rate * U),
        ("wrong sign", lambda W, U, rate: W + rate * max(0.001, np.sqrt(np.mean(W**2))) * U),
        ("step alone", lambda W, U, rate: rate * max(0.001, np.sqrt(np.mean(W**2))) * U),
    ],
)
def test_sized_step_recognises_the_mistake(mistake, answer):
    report = check.sized_step(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def factor_by_loops(G):
    n, m = G.shape
    rows = [sum(G[i, j] ** 2 for j in range(m)) for i in range(n)]
    columns = [sum(G[i, j] ** 2 for i in range(n)) for j in range(m)]
    U = [[G[i, j] / math.sqrt(rows[i] * columns[j] / sum(rows)) for j in range(m)] for i in range(n)]
    size = math.sqrt(sum(u * u for row in U for u in row) / (n * m))
    return [[u / max(1, size) for u in row] for row in U]


def factor_by_broadcasting(G, dtype=np.float64):
    S = np.square(G, dtype=dtype)
    U = G.astype(dtype) * np.sqrt(S.mean() / S.mean(1, keepdims=True) / S.mean(0))
    return U / np.sqrt(np.mean(U**2)).clip(1)


def factor_with_means_from_columns(G):
    rows, columns = (G**2).mean(axis=1), (G**2).mean(axis=0)
    U = G / np.sqrt(rows[:, None] @ columns[None, :] / columns.mean())
    return U if np.sqrt(np.mean(U**2)) < 1 else U / np.sqrt(np.mean(U**2))


@pytest.mark.parametrize(
    "answer",
    [
        factor_by_loops,
        factor_by_broadcasting,
        factor_with_means_from_columns,
        lambda G: factor_by_broadcasting(G, np.float32),
    ],
)
def test_factored_update_takes_every_right_answer(answer):
    assert check.factored_update(answer).ok


def clip(U):
    return U / max(1, np.linalg.norm(U) / math.sqrt(U.size))


def sizes(G, power=2):
    rows, columns = (abs(G) ** power).mean(1), (abs(G) ** power).mean(0)
    return np.outer(rows, columns) / rows.mean()


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("not clipped", lambda G: G / sizes(G) ** 0.5),
        ("always normalised", lambda G: (U := G / sizes(G) ** 0.5) / np.sqrt((U**2).mean())),
        ("clipped by the norm", lambda G: (U := G / sizes(G) ** 0.5) / max(1, (U**2).sum() ** 0.5)),
        ("entries clipped", lambda G: (G / sizes(G) ** 0.5).clip(-1, 1)),
        ("not factored", lambda G: clip(G / np.sqrt(G**2))),
        ("no root", lambda G: clip(G / sizes(G))),
        ("squares counted twice", lambda G: clip(G / np.sqrt((G**2).mean(1))[:, None] / np.sqrt((G**2).mean(0)))),
        ("rows alone", lambda G: clip(G / np.sqrt((G**2).mean(1))[:, None])),
        ("columns alone", lambda G: clip(G / np.sqrt((G**2).mean(0)))),
        ("one size for all", lambda G: G / np.sqrt((G**2).mean())),
        ("absolute values", lambda G: clip(G / sizes(G, 1))),
        (
            "rows and columns exchanged",
            lambda G: clip(G / np.sqrt(np.outer((G**2).mean(0), (G**2).mean(1)) / (G**2).mean())),
        ),
    ],
)
def test_factored_update_recognises_the_mistake(mistake, answer):
    report = check.factored_update(answer)
    assert (report.ok, report.mistake) == (False, mistake)
