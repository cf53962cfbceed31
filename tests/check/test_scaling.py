"""The self-checks of chapter 06: right answers pass in any style, each typical mistake is called by its name."""

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest

from attention_lib import check, softmax_jacobian


@pytest.mark.parametrize("answer", [24, 24.0, np.float32(24), Fraction(24), np.sqrt(576), 23.999])
def test_divisor_takes_every_right_answer(answer):
    assert check.divisor(answer).ok


@pytest.mark.parametrize(
    ("hint", "answer"),
    [
        ("one number", [24.0]),
        ("one number", [2, 3]),
        ("variance of the score", 576),
        ("√d_k alone", 4),
        ("one product: the score adds", 6),
        ("does not grow as d_k", 96),
        ("does not grow as d_k", 16),
        ("variance of one product", 36),
        ("they do not add", np.sqrt(16 * (4 + 9))),
        ("they do not add", (2 + 3) * 4),
        ("factor to multiply", 1 / 24),
        ("sum of 16", 12),
        ("sum of 16", -24),
    ],
)
def test_divisor_says_what_is_missing(hint, answer):
    report = check.divisor(answer)
    assert not report.ok
    assert hint in report.message


@pytest.mark.parametrize(
    "answer",
    [
        lambda d_model, n_heads, n_tokens: 1 / math.sqrt(d_model // n_heads),
        lambda d_model, n_heads, n_tokens: (d_model / n_heads) ** (-1 / 2),
        lambda d_model, n_heads, n_tokens: np.sqrt(n_heads / d_model),
        lambda d_model, n_heads, n_tokens: np.linspace(0, d_model, n_heads + 1)[1] ** -0.5,
    ],
)
def test_head_scale_takes_every_right_answer(answer):
    assert check.head_scale(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("model dimension", lambda d_model, n_heads, n_tokens: 1 / np.sqrt(d_model)),
        ("number of tokens", lambda d_model, n_heads, n_tokens: 1 / math.sqrt(n_tokens)),
        ("number of heads", lambda d_model, n_heads, n_tokens: 1 / math.sqrt(n_heads)),
        ("multiplied by the heads", lambda d_model, n_heads, n_tokens: 1 / math.sqrt(d_model * n_heads)),
        ("root before the division", lambda d_model, n_heads, n_tokens: 1 / (math.sqrt(d_model) / n_heads)),
        ("no root", lambda d_model, n_heads, n_tokens: 1 / (d_model // n_heads)),
        ("divisor", lambda d_model, n_heads, n_tokens: math.sqrt(d_model // n_heads)),
        ("precedence", lambda d_model, n_heads, n_tokens: 1 / ((d_model // n_heads) ** 1 / 2)),
        ("precedence", lambda d_model, n_heads, n_tokens: (d_model // n_heads) ** -1 / 2),
        ("precedence", lambda d_model, n_heads, n_tokens: (d_model // n_heads) ** 1 / 2),
        ("fourth root", lambda d_model, n_heads, n_tokens: 1 / math.sqrt(math.sqrt(d_model / n_heads))),
    ],
)
def test_head_scale_recognises_the_mistake(mistake, answer):
    report = check.head_scale(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def error_of(values):
    return np.std(values, ddof=1) / np.sqrt(len(values))


def rows_by_hand(scores):
    variances = []
    for row in scores:
        mean = sum(row) / len(row)
        variances.append(sum((x - mean) ** 2 for x in row) / (len(row) - 1))
    return np.mean(variances), error_of(variances)


def by_statistics(scores):
    variances = [statistics.variance(row) for row in scores.tolist()]
    return [statistics.mean(variances), statistics.stdev(variances) / len(variances) ** 0.5]


@pytest.mark.parametrize(
    "answer",
    [
        rows_by_hand,
        by_statistics,
        lambda s: np.array([s.var(axis=1, ddof=1).mean(), error_of(s.var(axis=-1, ddof=1))]),
        lambda s: (np.diag(np.cov(s)).mean(), error_of(np.diag(np.cov(s)))),
        lambda s: rows_by_hand(s.astype(np.float32)),
    ],
)
def test_variance_and_error_takes_every_right_answer(answer):
    assert check.variance_and_error(answer).ok


def variances(scores):
    return scores.var(axis=1, ddof=1)


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("standard deviation for error", lambda s: (variances(s).mean(), variances(s).std(ddof=1))),
        ("divided by the number", lambda s: (variances(s).mean(), variances(s).std(ddof=1) / len(s))),
        ("root of the pairs", lambda s: (variances(s).mean(), variances(s).std(ddof=1) / np.sqrt(s.shape[1]))),
        ("half an interval", lambda s: (variances(s).mean(), 2.262 * error_of(variances(s)))),
        ("half an interval", lambda s: (variances(s).mean(), 1.96 * error_of(variances(s)))),
        ("standard deviations", lambda s: (s.std(axis=1, ddof=1).mean(), error_of(s.std(axis=1, ddof=1)))),
        ("columns", lambda s: (s.var(axis=0, ddof=1).mean(), error_of(s.var(axis=0, ddof=1)))),
        ("all at once", lambda s: (s.var(ddof=1), error_of(variances(s)))),
        ("one seed", lambda s: (variances(s)[0], error_of(variances(s)))),
        ("variance of the means", lambda s: (s.mean(axis=1).mean(), error_of(s.mean(axis=1)))),
        ("ddof", lambda s: (s.var(axis=1).mean(), s.var(axis=1).std() / len(s) ** 0.5)),
        ("ddof", lambda s: (s.var(axis=1).mean(), error_of(s.var(axis=1)))),
        ("ddof", lambda s: (variances(s).mean(), variances(s).std() / len(s) ** 0.5)),
        ("swapped", lambda s: (error_of(variances(s)), variances(s).mean())),
        (
            "ends",
            lambda s: (variances(s).mean() - error_of(variances(s)), variances(s).mean() + error_of(variances(s))),
        ),
        ("mean alone", lambda s: variances(s).mean()),
    ],
)
def test_variance_and_error_recognises_the_mistake(mistake, answer):
    report = check.variance_and_error(answer)
    assert (report.ok, report.mistake) == (False, mistake)


@pytest.mark.parametrize(
    "answer",
    [
        lambda X: X / math.sqrt(math.sqrt(X.shape[1])),
        lambda X: X * X.shape[-1] ** -0.25,
        lambda X: [[x / len(row) ** (1 / 4) for x in row] for row in X.tolist()],
        lambda X: np.multiply(X, np.power(float(X.shape[1]), -1 / 4)).astype(np.float32),
    ],
)
def test_fair_share_takes_every_right_answer(answer):
    assert check.fair_share(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("full root", lambda X: X / np.sqrt(X.shape[-1])),
        ("no root", lambda X: X / X.shape[-1]),
        ("unchanged", lambda X: X),
        ("half", lambda X: X / (np.sqrt(X.shape[-1]) / 2)),
        ("multiplied", lambda X: X * X.shape[-1] ** 0.25),
        ("number of tokens", lambda X: X / len(X) ** 0.25),
        ("number of tokens", lambda X: X / np.sqrt(len(X))),
        ("number of entries", lambda X: X / X.size**0.25),
        ("precedence", lambda X: X / (X.shape[-1] ** 1 / 4)),
        ("precedence", lambda X: X / X.shape[-1] ** 1 / 4),
        ("unit length", lambda X: X / np.sqrt((X**2).sum(axis=1))[:, None]),
        ("eighth root", lambda X: X / np.sqrt(np.sqrt(np.sqrt(X.shape[-1])))),
    ],
)
def test_fair_share_recognises_the_mistake(mistake, answer):
    report = check.fair_share(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def dead_by_loop(A):
    dead = 0
    for p in A:
        J = np.diag(p) - np.outer(p, p)
        dead += math.sqrt((J**2).sum()) < 0.01
    return dead / len(A)


def dead_by_sums(A):
    square = (A**2).sum(axis=1)
    return float(np.mean(np.sqrt(np.maximum(square - 2 * (A**3).sum(axis=1) + square**2, 0)) < 0.01))


@pytest.mark.parametrize(
    "answer",
    [
        dead_by_loop,
        dead_by_sums,
        lambda A: np.mean([np.linalg.norm(softmax_jacobian(p)) < 0.01 for p in A]),
        lambda A: (np.linalg.norm(softmax_jacobian(A), "fro", axis=(1, 2)) < 0.01).sum() / len(A),
        lambda A: np.mean(np.einsum("nij,nij->n", softmax_jacobian(A), softmax_jacobian(A)) < 0.01**2),
    ],
)
def test_dead_share_takes_every_right_answer(answer):
    assert check.dead_share(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("squared", lambda A: ((softmax_jacobian(A) ** 2).sum(axis=(1, 2)) < 0.01).mean()),
        ("alive", lambda A: 1 - dead_by_loop(A)),
        ("count", lambda A: round(dead_by_loop(A) * len(A))),
        ("one norm for all", lambda A: float(np.linalg.norm(softmax_jacobian(A)) < 0.01)),
        ("eigenvalue", lambda A: np.mean([np.linalg.norm(softmax_jacobian(p), 2) < 0.01 for p in A])),
        ("eigenvalue", lambda A: (np.linalg.eigvalsh(softmax_jacobian(A))[:, -1] < 0.01).mean()),
        ("largest entry", lambda A: (softmax_jacobian(A).max(axis=(1, 2)) < 0.01).mean()),
        ("sum of the entries", lambda A: (softmax_jacobian(A).sum(axis=(1, 2)) < 0.01).mean()),
        ("largest weight", lambda A: np.mean(A.max(axis=1) > 0.99)),
        ("share of entries", lambda A: (abs(softmax_jacobian(A)) < 0.01).mean()),
        ("norm of the weights", lambda A: (np.linalg.norm(A, axis=1) < 0.01).mean()),
    ],
)
def test_dead_share_recognises_the_mistake(mistake, answer):
    report = check.dead_share(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def double_sum(C_q, C_k):
    d = range(len(C_q))
    return sum(C_q[f, g] * C_k[f, g] for f in d for g in d)


@pytest.mark.parametrize(
    "answer",
    [
        double_sum,
        lambda C_q, C_k: np.trace(C_q @ C_k),
        lambda C_q, C_k: np.sum(np.multiply(C_q, C_k)),
        lambda C_q, C_k: C_q.ravel() @ C_k.ravel(),
        lambda C_q, C_k: np.einsum("fg,fg", C_q, C_k),
        lambda C_q, C_k: np.linalg.eigvals(C_q @ C_k).real.sum(),
    ],
)
def test_score_spread_takes_every_right_answer(answer):
    assert check.score_spread(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("diagonals only", lambda C_q, C_k: np.diag(C_q) @ np.diag(C_k)),
        ("diagonals only", lambda C_q, C_k: np.trace(C_q * C_k)),
        ("product of traces", lambda C_q, C_k: np.trace(C_q) * np.trace(C_k)),
        ("product of sums", lambda C_q, C_k: C_q.sum() * C_k.sum()),
        ("d_k", lambda C_q, C_k: C_q.shape[0]),
        ("sum of the matrix product", lambda C_q, C_k: np.sum(C_q @ C_k)),
        ("one of the two", lambda C_q, C_k: np.sum(C_q)),
        ("one of the two", lambda C_q, C_k: np.sum(C_k)),
        ("standard deviation", lambda C_q, C_k: math.sqrt(double_sum(C_q, C_k))),
        ("mean", lambda C_q, C_k: np.mean(C_q * C_k)),
        ("divided by d_k", lambda C_q, C_k: np.trace(C_q @ C_k) / len(C_q)),
        ("not summed", lambda C_q, C_k: C_q * C_k),
        ("not summed", lambda C_q, C_k: sum(C_q * C_k)),
        ("added", lambda C_q, C_k: (C_q + C_k).sum()),
    ],
)
def test_score_spread_recognises_the_mistake(mistake, answer):
    report = check.score_spread(answer)
    assert (report.ok, report.mistake) == (False, mistake)
