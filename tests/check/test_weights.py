"""The self-checks of chapter 03: right answers pass in any style, each typical mistake is called by its name."""

import math
from fractions import Fraction

import numpy as np
import pytest

from attention_lib import check, log_softmax, softmax, softmax_jacobian


def stable(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def in_place(x):
    x -= x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


def row_of_math(row):
    m = max(row)
    total = math.fsum(math.exp(s - m) for s in row)
    return [math.exp(s - m) / total for s in row]


def by_recursion(x):
    return [by_recursion(row) for row in x] if np.ndim(x) > 1 else row_of_math(x)


def by_index(x):
    result = np.zeros_like(x)
    for index in np.ndindex(x.shape[:-1]):
        result[index] = row_of_math(x[index])
    return result


def by_matmul(x):
    e = np.exp(x - x.max(axis=-1)[..., None])
    return e / (e @ np.ones((x.shape[-1], 1)))


def by_einsum(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.einsum("...m,...->...m", e, 1 / np.einsum("...m->...", e))


def by_differences(x):
    with np.errstate(over="ignore"):
        return 1 / np.exp(x[..., None, :] - x[..., :, None]).sum(axis=-1)


@pytest.mark.parametrize(
    "answer",
    [
        stable,
        in_place,
        by_recursion,
        by_index,
        by_matmul,
        by_einsum,
        by_differences,
        softmax,
        lambda x: softmax(x.astype(np.float32)),
        lambda x: stable(x.astype(np.float16)),
        lambda x: np.exp(log_softmax(x)),
        lambda x: np.apply_along_axis(stable, -1, x),
        lambda x: np.moveaxis(stable(np.moveaxis(x, -1, -1)), -1, -1),
        lambda x: (lambda e: (e.T / e.sum(axis=-1).T).T)(np.exp(x - x.max(-1, keepdims=True))),
    ],
)
def test_softmax_takes_every_right_answer(answer):
    assert check.softmax(answer).ok


def one_row_only(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def builtin_sum(x):
    e = np.exp(x)
    return e / sum(e)


def math_loop(x):
    if x.ndim > 1:
        return np.stack([math_loop(row) for row in x])
    e = [math.exp(s) for s in x]
    return np.array([each / sum(e) for each in e])


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("queries", lambda x: np.exp(x) / np.exp(x).sum(axis=0)),
        ("queries", lambda x: np.exp(x) / np.exp(x).sum(axis=-2, keepdims=True)),
        ("queries", lambda x: softmax(x, axis=0)),
        ("queries", lambda x: softmax(x, axis=-2)),
        ("queries", builtin_sum),
        ("queries", lambda x: (lambda e: e / e.sum(axis=0))(np.exp(x - x.max(axis=-1, keepdims=True)))),
        ("queries", lambda x: (lambda e: e / e.sum(axis=0))(np.exp(x - x.max(axis=0)))),
        ("queries", lambda x: (lambda e: e / e.sum(axis=0))(np.exp(x - x.max()))),
        ("all entries", lambda x: np.exp(x) / np.exp(x).sum()),
        ("all entries", one_row_only),
        ("axis 1", lambda x: np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)),
        ("axis 1", lambda x: softmax(x, axis=1)),
        ("keepdims", lambda x: np.exp(x) / np.exp(x).sum(axis=-1)),
        ("keepdims", lambda x: (lambda e: e / e.sum(-1))(np.exp(x - x.max(-1)))),
        ("keepdims", lambda x: (lambda e: e / e.sum(-1, keepdims=True))(np.exp(x - x.max(-1)))),
        ("keepdims", lambda x: (lambda e: e / e.sum(-1))(np.exp(x - x.max(-1, keepdims=True)))),
        ("keepdims", lambda x: np.exp(x) / np.exp(x).sum(axis=1)),
        ("keepdims", lambda x: (lambda e: e / e.sum(1))(np.exp(x - x.max()))),
        ("keepdims", lambda x: (lambda e: e / e.sum(1))(np.exp(x - x.max(1)))),
        ("keepdims", lambda x: (lambda e: e / e.sum(1))(np.exp(x - x.max(1, keepdims=True)))),
        ("keepdims", lambda x: (lambda e: e / e.sum(-1))(np.exp(x - x.max(1, keepdims=True)))),
        ("keepdims", lambda x: (lambda e: e / e.sum(1, keepdims=True))(np.exp(x - x.max(1)))),
        ("axis 1", lambda x: (lambda e: e / e.sum(1, keepdims=True))(np.exp(x - x.max(1, keepdims=True)))),
        ("axis 1", lambda x: softmax(x - x.max(1, keepdims=True))),
        ("transposed", lambda x: stable(x).T),
        ("transposed", lambda x: np.swapaxes(stable(x), -1, -2)),
        ("transposed", lambda x: np.exp(x).T / np.exp(x).sum(axis=-1)),
        ("sign", lambda x: stable(-x)),
        ("sign", lambda x: np.exp(-x) / np.exp(-x).sum(axis=-1, keepdims=True)),
        ("sign", lambda x: (lambda e: e / e.sum(-1, keepdims=True))(np.exp(x.max(-1, keepdims=True) - x))),
        ("softmax twice", lambda x: stable(stable(x))),
        ("softmax twice", lambda x: (lambda p: np.exp(p) / np.exp(p).sum(-1, keepdims=True))(stable(x))),
        ("half a shift", lambda x: np.exp(x - x.max(-1, keepdims=True)) / np.exp(x).sum(-1, keepdims=True)),
        ("half a shift", lambda x: np.exp(x) / np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)),
        ("half a shift", lambda x: np.exp(x - x.max()) / np.exp(x).sum(-1)[..., None]),
        ("shift of columns", lambda x: (lambda e: e / e.sum(-1, keepdims=True))(np.exp(x - x.max(axis=0)))),
        ("no exponential", lambda x: x / x.sum(axis=-1, keepdims=True)),
        ("not divided", np.exp),
        ("not divided", lambda x: np.exp(x - x.max(axis=-1, keepdims=True))),
        ("base 2", lambda x: 2**x / (2**x).sum(axis=-1, keepdims=True)),
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
        ("logarithm", log_softmax),
        ("no shift", lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)),
        ("no shift", math_loop),
        ("shift of all", lambda x: (lambda e: e / e.sum(-1, keepdims=True))(np.exp(x - x.max()))),
        ("shift of at least 0", lambda x: (lambda e: e / e.sum(-1, keepdims=True))(
            np.exp(x - np.max(x, axis=-1, keepdims=True, initial=0)))),
        ("minimum", lambda x: (lambda e: e / e.sum(-1, keepdims=True))(np.exp(x - x.min(-1, keepdims=True)))),
        ("mean", lambda x: (lambda e: e / e.sum(-1, keepdims=True))(np.exp(x - x.mean(-1, keepdims=True)))),
    ],
)  # fmt: skip
def test_softmax_names_the_mistake(mistake, answer):
    report = check.softmax(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def test_the_wrong_axis_is_told_in_the_words_of_the_chapter():
    message = check.softmax(lambda x: softmax(x, axis=-2)).message
    assert message.startswith("your columns sum to 1, your rows do not: you normalised over queries")


@pytest.mark.parametrize("offset", [0.0, 10.0])
def test_a_softmax_that_is_nearly_right_is_refused(offset):
    def answer(x):
        p = stable(x)
        p[..., 0] *= 1.001
        return p + offset

    report = check.softmax(answer)
    assert not report.ok
    assert "expected" in report.message


@pytest.mark.parametrize(
    "right",
    [
        [1 / 6, 1 / 6, 2 / 3],
        (0.167, 0.167, 0.667),
        [0.17, 0.17, 0.67],
        [0.16, 0.16, 0.66],
        [0.17, 0.17, 0.66],
        np.float32([1, 1, 4]) / 6,
        np.float16([1, 1, 4]) / 6,
        [Fraction(1, 6), Fraction(1, 6), Fraction(2, 3)],
    ],
)
def test_doubled_weights_takes_every_right_answer(right):
    assert check.doubled_weights(right).ok


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([0.25, 0.25, 0.5], "before"),
        ([0.5, 0.5, 1], "you doubled the weights"),
        ([0.0625, 0.0625, 0.25], "new sum"),
        ([1, 1, 4], "new exponentials"),
        ([0.107, 0.107, 0.787], "not the scores"),
        ([0.11, 0.11, 0.79], "not the scores"),
        ([0.06, 0.06, 0.25], "new sum"),
        ([0.316, 0.316, 0.368], "added it later"),
        ([0.32, 0.32, 0.37], "added it later"),
        ([0.2, 0.2, 0.7], "sum to 1"),
        ([0.15, 0.2, 0.65], "two decimals or more"),
        ([0.2, 0.2, 0.2], "sum to 1"),
        ([0.1, 0.2, 0.7], "squares its exponential"),
        ([0.5, 0.5], "three numbers"),
        (2 / 3, "three numbers"),
    ],
)
def test_doubled_weights_says_what_went_wrong(answer, words):
    report = check.doubled_weights(answer)
    assert not report.ok
    assert words in report.message


def axis_by_loop(A):
    matrices = A.reshape(-1, *A.shape[-2:])
    if all(math.isclose(sum(row), 1, abs_tol=1e-8) for matrix in matrices for row in matrix):
        return -1
    if all(math.isclose(sum(column), 1, abs_tol=1e-8) for matrix in matrices for column in matrix.T):
        return -2
    return 0


def axis_by_sums(A):
    ones = np.ones(A.shape[-1])
    if (abs(A @ ones - 1) < 1e-6).all():
        return np.int64(-1)
    return -2.0 if np.allclose(np.einsum("...nm->...m", A), 1) else 0


@pytest.mark.parametrize(
    "answer",
    [
        axis_by_loop,
        axis_by_sums,
        lambda A: -1 if np.allclose(A.sum(-1), 1) else -2 if np.allclose(A.sum(-2), 1) else 0,
        lambda A: axis_by_sums(A.astype(np.float32)),
    ],
)
def test_softmax_axis_takes_every_right_answer(answer):
    assert check.softmax_axis(answer).ok


def axis_with(passes, axes=(-1, -2), names=(-1, -2)):
    def answer(A):
        for axis, name in zip(axes, names, strict=True):
            if passes(A.sum(axis=axis)):
                return name
        return 0

    return answer


def close(sums):
    return np.allclose(sums, 1)


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("swapped", axis_with(close, axes=(-2, -1))),
        ("queries first", axis_with(close, axes=(-2, -1), names=(-2, -1))),
        ("no rounding", axis_with(lambda sums: np.all(sums == 1))),
        ("any", axis_with(lambda sums: np.any(np.isclose(sums, 1)))),
        ("first only", axis_with(lambda sums: np.isclose(np.ravel(sums)[0], 1))),
        ("mean", axis_with(lambda sums: np.isclose(np.mean(sums), 1))),
        ("counted from the front", axis_with(close, axes=(1, 0))),
    ],
)
def test_softmax_axis_names_the_mistake(mistake, answer):
    report = check.softmax_axis(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def log_by_math(x):
    if x.ndim > 1:
        return [log_by_math(row) for row in x]
    m = max(x)
    total = m + math.log(sum(math.exp(s - m) for s in x))
    return [s - total for s in x]


@pytest.mark.parametrize(
    "answer",
    [
        log_softmax,
        log_by_math,
        lambda x: log_softmax(x.astype(np.float32)),
        lambda x: x - np.logaddexp.reduce(x, axis=-1, keepdims=True),
        lambda x: (lambda y: y - np.log(np.einsum("...m->...", np.exp(y)))[..., None])(x - x.max(-1, keepdims=True)),
    ],
)
def test_log_softmax_takes_every_right_answer(answer):
    assert check.log_softmax(answer).ok


def shifted_sum(x, axis=-1):
    m = x.max(axis=-1, keepdims=True)
    return m, np.log(np.exp(x - m).sum(axis=axis, keepdims=True))


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("queries", lambda x: log_softmax(x, axis=-2)),
        ("queries", lambda x: log_softmax(x, axis=0)),
        ("queries", lambda x: x - np.log(np.exp(x).sum(axis=0))),
        ("all entries", lambda x: x - np.log(np.exp(x).sum())),
        ("axis 1", lambda x: x - np.log(np.exp(x).sum(axis=1, keepdims=True))),
        ("keepdims", lambda x: x - np.log(np.exp(x).sum(axis=-1))),
        ("keepdims", lambda x: x - x.max(-1) - np.log(np.exp(x - x.max(-1)).sum(-1))),
        ("log of softmax", lambda x: np.log(stable(x))),
        ("log of softmax", lambda x: np.log(np.exp(x) / np.exp(x).sum(-1, keepdims=True))),
        ("epsilon", lambda x: np.log(stable(x) + 1e-9)),
        ("epsilon", lambda x: np.log(np.clip(stable(x), 1e-12, 1))),
        ("no shift", lambda x: x - np.log(np.exp(x).sum(axis=-1, keepdims=True))),
        ("shift of all", lambda x: x - x.max() - np.log(np.exp(x - x.max()).sum(-1, keepdims=True))),
        ("maximum not put back", lambda x: x - shifted_sum(x)[1]),
        ("sign of the maximum", lambda x: x + shifted_sum(x)[0] - shifted_sum(x)[1]),
        ("log-sum-exp", lambda x: np.logaddexp.reduce(x, axis=-1)),
        ("log-sum-exp", lambda x: sum(shifted_sum(x)) + 0 * x),
        ("weights", stable),
        ("queries", lambda x: np.log(softmax(x, axis=0))),
        ("keepdims", lambda x: x - np.log(np.exp(x).sum(axis=1))),
        ("keepdims", lambda x: x - x.max(1) - np.log(np.exp(x - x.max(1)).sum(1))),
        ("keepdims", lambda x: (lambda y: y - np.log(np.exp(y).sum(1)))(x - x.max(1, keepdims=True))),
        ("transposed", lambda x: log_softmax(x).T),
        ("wrong base", lambda x: x - x.max(-1, keepdims=True) - shifted_sum(x)[1] / np.log(2)),
        ("wrong base", lambda x: np.log2(stable(x))),
        ("wrong base", lambda x: np.log10(stable(x))),
        ("negative", lambda x: -log_softmax(x)),
        ("negative", lambda x: -np.log(stable(x))),
        ("negative", lambda x: np.log(np.exp(x).sum(-1, keepdims=True)) - x),
        ("sign of the logarithm", lambda x: x - shifted_sum(x)[0] + shifted_sum(x)[1]),
        ("sign of the logarithm", lambda x: x + np.log(np.exp(x).sum(-1, keepdims=True))),
        ("maximum taken off twice", lambda x: x - x.max(-1, keepdims=True) - np.log(np.exp(x).sum(-1, keepdims=True))),
        ("shift of columns", lambda x: (lambda y: y - np.log(np.exp(y).sum(-1, keepdims=True)))(x - x.max(axis=0))),
    ],
)  # fmt: skip
def test_log_softmax_names_the_mistake(mistake, answer):
    report = check.log_softmax(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def jacobian_by_loop(p):
    n = p.shape[-1]
    result = np.zeros((*p.shape, n))
    for index in np.ndindex(p.shape):
        for k in range(n):
            result[(*index, k)] = p[index] * ((index[-1] == k) - p[index[:-1]][k])
    return result


def jacobian_by_lists(p):
    if p.ndim > 1:
        return [jacobian_by_lists(row) for row in p]
    return [[a * ((j == k) - b) for k, b in enumerate(p)] for j, a in enumerate(p)]


@pytest.mark.parametrize(
    "answer",
    [
        softmax_jacobian,
        jacobian_by_loop,
        jacobian_by_lists,
        lambda p: softmax_jacobian(p.astype(np.float32)),
        lambda p: p[..., None] * (np.eye(p.shape[-1]) - p[..., None, :]),
        lambda p: np.einsum("...j,jk->...jk", p, np.eye(p.shape[-1])) - np.einsum("...j,...k->...jk", p, p),
        lambda p: np.eye(p.shape[-1]) * p[..., None] - p[..., None] @ p[..., None, :],
        lambda p: np.vectorize(lambda r: np.diag(r) - np.outer(r, r), signature="(n)->(n,n)")(p),
    ],
)
def test_softmax_jacobian_takes_every_right_answer(answer):
    assert check.softmax_jacobian(answer).ok


def diagonal(p):
    return np.einsum("...j,jk->...jk", p, np.eye(p.shape[-1]))


def outer(p):
    return np.einsum("...j,...k->...jk", p, p)


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("one row only", lambda p: np.diag(p) - np.outer(p, p)),
        ("own score only", lambda p: p * (1 - p)),
        ("own score only", lambda p: diagonal(p) * (1 - p)[..., None]),
        ("no diagonal", lambda p: -outer(p)),
        ("no outer product", diagonal),
        ("sign", lambda p: diagonal(p) + outer(p)),
        ("sign", lambda p: outer(p) - diagonal(p)),
        ("inner product", lambda p: diagonal(p) - np.einsum("...j,...j->...", p, p)[..., None, None]),
        ("scores", lambda x: diagonal(softmax(x)) - outer(softmax(x))),
    ],
)
def test_softmax_jacobian_names_the_mistake(mistake, answer):
    report = check.softmax_jacobian(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def by_bisection(scores, top, low=1e-9, high=1e9):
    for _ in range(200):
        tau = math.sqrt(low * high)
        low, high = (tau, high) if stable(scores / tau).max() > top else (low, tau)
    return tau


def by_newton(scores, top):
    """Solve for the inverse temperature: log of the sum of exp(-β gap) equals -log top, convex and falling in β."""
    gaps = scores.max() - scores
    beta = 0.0
    for _ in range(500):
        e = np.exp(-beta * gaps)
        step = (np.log(e.sum()) + np.log(top)) / ((gaps * e).sum() / e.sum())
        beta += step
    return 1 / beta


def by_grid(scores, top):
    taus = np.geomspace(1e-4, 1e4, 200_001)
    return taus[np.argmin(abs(stable(scores / taus[:, None]).max(axis=-1) - top))]


@pytest.mark.parametrize(
    "answer",
    [
        by_bisection,
        by_newton,
        by_grid,
        lambda scores, top: np.float32(by_bisection(scores, top)),
        lambda scores, top: by_bisection(np.array(scores), float(top)) * 1.001,
    ],
)
def test_temperature_takes_every_right_answer(answer):
    assert check.temperature(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("inverse", lambda scores, top: 1 / by_bisection(scores, top)),
        ("two keys", lambda s, top: (np.sort(s)[-1] - np.sort(s)[-2]) / np.log(top / (1 - top))),
        ("largest weight", lambda scores, top: stable(scores).max()),
        ("top", lambda scores, top: top),
    ],
)
def test_temperature_names_the_mistake(mistake, answer):
    report = check.temperature(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def test_temperature_refuses_an_answer_one_percent_off():
    report = check.temperature(lambda scores, top: 1.01 * by_bisection(scores, top))
    assert not report.ok
    assert "expected" in report.message


def test_temperature_is_as_strict_where_it_is_tiny():
    def answer(scores, top):
        tau = by_bisection(scores, top)
        return 1.02 * tau if tau < 1e-3 else tau

    assert "expected 0.000" in check.temperature(answer).message


@pytest.mark.parametrize(("low", "high"), [(1e-2, 1e9), (1e-9, 1e2)])
def test_temperature_refuses_a_search_in_too_narrow_an_interval(low, high):
    report = check.temperature(lambda scores, top: by_bisection(scores, top, low, high))
    assert not report.ok
    assert "expected" in report.message
