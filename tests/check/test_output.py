"""The self-checks of chapter 04: right answers pass in any style, each typical mistake is called by its name."""

from decimal import Decimal

import numpy as np
import pytest

from attention_lib import attention, check, softmax


def mix_by_loops(A, V):
    O = np.zeros((A.shape[0], V.shape[1]))
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            for f in range(V.shape[1]):
                O[i, f] += A[i, j] * V[j, f]
    return O


def mix_by_list(A, V):
    return [[sum(a * v for a, v in zip(row, column, strict=True)) for column in V.T.tolist()] for row in A.tolist()]


def mix_in_place(A, V):
    A *= 1.0
    return A @ V


@pytest.mark.parametrize(
    "answer",
    [
        mix_by_loops,
        mix_by_list,
        mix_in_place,
        lambda A, V: A @ V,
        lambda A, V: np.dot(A, V),
        lambda A, V: np.einsum("ij,jf->if", A, V),
        lambda A, V: (A[:, :, None] * V[None, :, :]).sum(axis=1),
        lambda A, V: np.stack([sum(a * v for a, v in zip(row, V, strict=True)) for row in A]),
        lambda A, V: (V.T @ A.T).T,
        lambda A, V: np.tensordot(A, V, axes=1),
        lambda A, V: A.astype(np.float32) @ V.astype(np.float32),
        lambda A, V: attention(np.log(A), np.eye(len(V)), V, scale=1.0),
    ],
)
def test_mix_takes_every_right_answer(answer):
    assert check.mix(answer).ok


def mix_loop(A, V, share, *, collect=lambda old, new: old + new, start=np.zeros):
    """Write the exercise's loop with its share, its collecting or its start gone wrong."""
    O = start((len(A), V.shape[1]))
    for i in range(len(A)):
        for j in range(len(V)):
            O[i] = collect(O[i], share(A, V, i, j))
    return O


def right_share(A, V, i, j):
    return A[i, j] * V[j]


def adds_to_integers(A, V):
    O = np.zeros_like(V, shape=(len(A), V.shape[1]))  # V may hold integers
    for i in range(len(A)):
        for j in range(len(V)):
            O[i] += A[i, j] * V[j]
    return O


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("weights by columns", lambda A, V: mix_loop(A, V, lambda A, V, i, j: A[j, i] * V[j])),
        ("weights by columns", lambda A, V: np.einsum("ji,jf->if", A, V)),
        ("last value only", lambda A, V: mix_loop(A, V, right_share, collect=lambda old, new: new)),
        ("divided by M", lambda A, V: mix_loop(A, V, right_share) / V.shape[0]),
        ("divided by M", lambda A, V: (A[:, :, None] * V).mean(axis=1)),
        ("plain mean", lambda A, V: np.array([V.mean(0) for _ in A])),
        ("plain sum", lambda A, V: mix_loop(A, V, lambda A, V, i, j: V[j])),
        ("largest weight only", lambda A, V: np.array([V[np.argmax(row)] for row in A])),
        ("transposed", lambda A, V: V.T @ A.T),
        ("entry by entry", lambda A, V: np.multiply(A, V)),
        ("one query", lambda A, V: sum(A[0, j] * V[j] for j in range(len(V)))),
        ("whole numbers", lambda A, V: mix_loop(A, V, right_share, start=lambda shape: np.zeros(shape, int))),
        (
            "whole numbers",
            lambda A, V: mix_loop(A, V, right_share, start=lambda shape: np.zeros_like(V, shape=shape)),
        ),
        ("whole numbers", adds_to_integers),
    ],
)
def test_mix_recognises_the_mistake(mistake, answer):
    report = check.mix(answer)
    assert (report.ok, report.mistake) == (False, mistake)


@pytest.mark.parametrize(
    "answer",
    [
        np.log([2 / 3, 1 / 6, 1 / 6]),
        [np.log(4), 0, 0],
        (1.386, 0.0, 0.0),
        np.array([101.3863, 100, 100], dtype=np.float32),
        [Decimal("1.386"), Decimal(0), Decimal(0)],
    ],
)
def test_aim_takes_every_right_answer(answer):
    assert check.aim(answer).ok


@pytest.mark.parametrize(
    ("hint", "answer"),
    [
        ("three scores", [1.0, 2.0]),
        ("three scores", [[1.386, 0, 0]]),
        ("three scores", 1.386),
        ("finite", [np.inf, 0, 0]),
        ("finite", [np.nan, 0, 0]),
        ("they are the weights", [2 / 3, 1 / 6, 1 / 6]),
        ("reverse order", [0, 0, np.log(4)]),
        ("solve for the weights", [4, 1, 1]),  # the weights' ratios, without the logarithm
        ("solve for the weights", [0, 0, 0]),
    ],
)
def test_aim_says_what_is_missing(hint, answer):
    report = check.aim(answer)
    assert not report.ok
    assert hint in report.message


def bells_by_loops(Q, K, V, h):
    O = []
    for q in Q:
        scores = np.array([-sum((a - b) ** 2 for a, b in zip(q, k, strict=True)) / (2 * h * h) for k in K])
        e = np.exp(scores - scores.max())
        O.append((e / e.sum()) @ V)
    return O


def bells_by_feature(Q, K, V, h):
    ones, half = np.ones((len(Q), 1)), -(K**2).sum(1, keepdims=True) / 2
    return attention(np.hstack([Q, ones]), np.hstack([K, half]), V, scale=1 / h**2)


@pytest.mark.parametrize(
    "answer",
    [
        bells_by_loops,
        bells_by_feature,
        lambda Q, K, V, h: attention(Q, K, V, scale=1 / h**2, bias=-np.square(K).sum(1) / (2 * h**2)),
        lambda Q, K, V, h: attention(Q / h**2, K, V, scale=1.0, bias=-np.einsum("jf,jf->j", K, K) / (2 * h**2)),
        lambda Q, K, V, h: softmax(-0.5 * (np.linalg.norm(Q[:, None] - K, axis=-1) / h) ** 2) @ V,
        lambda Q, K, V, h: bells_by_loops(*(x.astype(np.float32) for x in (Q, K, V)), np.float32(h)),
        lambda Q, K, V, h: bells_by_feature(*(x.astype(np.float32) for x in (Q, K, V)), h).tolist(),
    ],
)
def test_gaussian_attention_takes_every_right_answer(answer):
    assert check.gaussian_attention(answer).ok


def bells(Q, K, V, exponent, normalise=softmax):
    """Attend with an exponent gone wrong: a function of all pairs' distances."""
    distances = np.array([[np.sqrt(((q - k) ** 2).sum()) for k in K] for q in Q])
    return normalise(exponent(distances)) @ V


def plain_softmax(S, axis=1, keepdims=True):
    return np.exp(S) / np.exp(S).sum(axis=axis, keepdims=keepdims)


def without_keepdims(S):
    return plain_softmax(S, keepdims=False)


def shifted_without_keepdims(S):
    return plain_softmax(S - np.max(S, axis=1, keepdims=True), keepdims=False)


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("no key bias", lambda Q, K, V, h: attention(Q, K, V, scale=1 / h**2)),
        (  # a term of the queries alone changes nothing
            "no key bias",
            lambda Q, K, V, h: attention(Q, K, V, scale=1 / h**2, bias=-(Q**2).sum(1, keepdims=True) / (2 * h**2)),
        ),
        (
            "bias with the wrong sign",
            lambda Q, K, V, h: attention(Q, K, V, scale=1 / h**2, bias=(K**2).sum(1) / (2 * h**2)),
        ),
        (
            "bias without its half",
            lambda Q, K, V, h: attention(Q, K, V, scale=1 / h**2, bias=-(K**2).sum(1) / h**2),
        ),
        ("scaled twice", lambda Q, K, V, h: attention(Q / h**2, K, V, bias=-(K**2).sum(1) / (2 * h**2))),
        ("wrong sign", lambda Q, K, V, h: bells(Q, K, V, lambda D: D**2 / (2 * h**2))),
        ("h not squared", lambda Q, K, V, h: bells(Q, K, V, lambda D: -(D**2) / (2 * h))),
        ("h not squared", lambda Q, K, V, h: attention(Q, K, V, scale=1 / h, bias=-(K**2).sum(1) / (2 * h))),
        ("no half", lambda Q, K, V, h: bells(Q, K, V, lambda D: -((D / h) ** 2))),
        ("distance not squared", lambda Q, K, V, h: bells(Q, K, V, lambda D: -D / (2 * h**2))),
        ("distance not squared", lambda Q, K, V, h: bells(Q, K, V, lambda D: -D / h)),
        (
            "shared out over queries",
            lambda Q, K, V, h: bells(Q, K, V, lambda D: -(D**2) / (2 * h**2), lambda S: softmax(S, axis=0)),
        ),
        ("keepdims", lambda Q, K, V, h: bells(Q, K, V, lambda D: -(D**2) / (2 * h**2), without_keepdims)),
        ("keepdims", lambda Q, K, V, h: bells(Q, K, V, lambda D: -(D**2) / (2 * h**2), shifted_without_keepdims)),
        ("weights do not sum to 1", lambda Q, K, V, h: bells(Q, K, V, lambda D: -(D**2) / (2 * h**2), np.exp)),
        ("underflow", lambda Q, K, V, h: bells(Q, K, V, lambda D: -(D**2) / (2 * h**2), plain_softmax)),
    ],
)
def test_gaussian_attention_recognises_the_mistake(mistake, answer):
    report = check.gaussian_attention(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def gap_by_loops(f, X, order):
    one, other = f(np.array([X[i] for i in order])), f(X)
    return max(abs(one[k][c] - other[i][c]) for k, i in enumerate(order) for c in range(X.shape[1]))


def gap_by_matrix(f, X, order):
    P = np.eye(len(X))[order]
    return np.linalg.norm((f(P @ X) - P @ f(X)).ravel(), np.inf)


@pytest.mark.parametrize(
    "answer",
    [
        gap_by_loops,
        gap_by_matrix,
        lambda f, X, order: np.abs(f(X[order]) - f(X)[order]).max(),
        lambda f, X, order: np.abs(f(X[order])[np.argsort(order)] - f(X)).max(),
        lambda f, X, order: float(abs(f(np.take(X, order, axis=0)) - np.take(f(X), order, axis=0)).max()),
        lambda f, X, order: np.float32(np.abs(f(X[order].astype(np.float32)) - f(X)[order]).max()),
        lambda f, X, order: max(D.max(), -D.min()) if (D := f(X)[order] - f(X[order])) is not None else 0,
    ],
)
def test_equivariance_gap_takes_every_right_answer(answer):
    assert check.equivariance_gap(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("invariance", lambda f, X, order: np.max(np.abs(f(X) - f(X[order])))),
        ("input not shuffled", lambda f, X, order: np.abs(f(X)[order] - f(X)).max()),
        ("shuffled twice", lambda f, X, order: np.abs(f(X) - f(X[order])[order]).max()),
        ("features shuffled", lambda f, X, order: np.abs(f(X.T[order].T) - f(X).T[order].T).max()),
        ("not absolute", lambda f, X, order: np.max(f(X[order]) - f(X)[order])),
        ("not absolute", lambda f, X, order: np.max(f(X)[order] - f(X[order]))),
        ("absolute too late", lambda f, X, order: np.abs(np.max(f(X[order]) - f(X)[order]))),
        ("mean", lambda f, X, order: np.mean(np.abs(f(X)[order] - f(X[order])))),
        ("yes or no", lambda f, X, order: bool(np.isclose(f(X[order]), f(X)[order]).all())),
    ],
)
def test_equivariance_gap_recognises_the_mistake(mistake, answer):
    report = check.equivariance_gap(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def leaves_out_by_deleting(t, y, h):
    predictions = []
    for i in range(len(t)):
        others, values = np.delete(t, i), np.delete(y, i)
        predictions.append(softmax(-((t[i] - others) ** 2) / (2 * h**2)) @ values)
    return predictions


def leaves_out_by_mask(t, y, h):
    keep = ~np.eye(len(t), dtype=bool)
    bias = -(t**2) / (2 * h**2)
    return attention(t[:, None], t[:, None], y[:, None], scale=1 / h**2, bias=bias, mask=keep)[:, 0]


def far_below(t, y, h):
    S = -((t[:, None] - t) ** 2) / (2 * h**2)
    S[np.arange(len(t)), np.arange(len(t))] = -1e9
    return softmax(S) @ y


def in_float32(t, y, h):
    return np.asarray(leaves_out_by_deleting(t.astype(np.float32), y.astype(np.float32), np.float32(h)))


@pytest.mark.parametrize("answer", [leaves_out_by_deleting, leaves_out_by_mask, far_below, in_float32])
def test_leave_one_out_takes_every_right_answer(answer):
    assert check.leave_one_out(answer).ok


def squares(t, h):
    return -(np.subtract.outer(t, t) ** 2) / (2 * h**2)


def others_only(t, h):
    return np.where(np.eye(len(t), dtype=bool), -np.inf, squares(t, h))


def score_zero(t, y, h):
    S = squares(t, h)
    np.fill_diagonal(S, 0)
    return softmax(S) @ y


def weight_zero(t, y, h):
    A = softmax(squares(t, h))
    return (A - np.diag(np.diag(A))) @ y


def value_zero(t, y, h):
    return np.array([softmax(squares(t, h))[i] @ np.where(np.arange(len(y)) == i, 0, y) for i in range(len(y))])


def plain_loop(t, y, h):
    predictions = []
    for i in range(len(t)):
        bell = np.exp(-((t[i] - t) ** 2) / (2 * h**2))
        bell[i] = 0
        predictions.append((bell * y).sum() / bell.sum())
    return np.array(predictions)


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("reads itself", score_zero),
        ("reads itself", lambda t, y, h: softmax(squares(t, h)) @ y),
        ("not shared out again", weight_zero),
        ("not shared out again", value_zero),
        ("underflow", plain_loop),
        ("keepdims", lambda t, y, h: without_keepdims(others_only(t, h)) @ y),
        ("keepdims", lambda t, y, h: shifted_without_keepdims(others_only(t, h)) @ y),
        ("h not squared", lambda t, y, h: leaves_out_by_deleting(t, y, np.sqrt(h))),
        ("no half", lambda t, y, h: leaves_out_by_deleting(t, y, h / np.sqrt(2))),
        ("error returned", lambda t, y, h: leaves_out_by_deleting(t, y, h) - y),
        ("error returned", lambda t, y, h: y - leaves_out_by_deleting(t, y, h)),
        ("error returned", lambda t, y, h: ((leaves_out_by_deleting(t, y, h) - y) ** 2).mean()),
        ("error returned", lambda t, y, h: np.sqrt(((leaves_out_by_deleting(t, y, h) - y) ** 2).mean())),
    ],
)
def test_leave_one_out_recognises_the_mistake(mistake, answer):
    report = check.leave_one_out(answer)
    assert (report.ok, report.mistake) == (False, mistake)
