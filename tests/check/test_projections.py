"""The self-checks of chapter 05: right answers pass in any style, each typical mistake is called by its name."""

from decimal import Decimal

import numpy as np
import pytest

from attention_lib import attention, check, softmax
from attention_lib import training


def head_by_loops(X, W_q, W_k, W_v):
    if X.ndim > 2:
        return np.array([head_by_loops(sequence, W_q, W_k, W_v) for sequence in X])
    rows = []
    for x in X:
        scores = [sum((x @ W_q) * (y @ W_k)) / W_q.shape[1] ** 0.5 for y in X]
        e = np.exp(np.array(scores) - max(scores))
        rows.append(sum(share * (y @ W_v) for share, y in zip(e / e.sum(), X, strict=True)))
    return np.array(rows)


def head_by_merging(X, W_q, W_k, W_v):
    return softmax(X @ (W_q @ W_k.T) @ np.swapaxes(X, -1, -2) / np.sqrt(W_k.shape[1])) @ X @ W_v


@pytest.mark.parametrize(
    "answer",
    [
        head_by_loops,
        head_by_merging,
        lambda X, W_q, W_k, W_v: attention(X @ W_q, X @ W_k, X @ W_v),
        lambda X, W_q, W_k, W_v: training.head((W_q, W_k, W_v), X),
        lambda X, *W: attention(*(np.einsum("...nd,df->...nf", X, each) for each in W)),
        lambda X, W_q, W_k, W_v: attention(X @ W_q / W_q.shape[1] ** 0.5, X @ W_k, X @ W_v, scale=1.0),
        lambda X, *W: attention(*(X.astype(np.float32) @ each.astype(np.float32) for each in W)),
        lambda X, *W: attention(*(X @ each for each in W)).tolist(),
    ],
)
def test_head_takes_every_right_answer(answer):
    assert check.head(answer).ok


def head_with(X, W_q, W_k, W_v, *, scale=None, axis=-1):
    scores = X @ W_q @ np.swapaxes(X @ W_k, -1, -2) * (W_q.shape[1] ** -0.5 if scale is None else scale)
    return softmax(scores, axis=axis) @ (X @ W_v)


def forgets_keepdims(X, W_q, W_k, W_v):
    e = np.exp(X @ W_q @ (X @ W_k).mT / np.sqrt(W_q.shape[1]))
    return e / e.sum(axis=-1) @ (X @ W_v)


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("scaled by d", lambda X, *W: head_with(X, *W, scale=1 / np.sqrt(X.shape[-1]))),
        ("scaled by d", lambda X, W_q, W_k, W_v: head_with(X, W_q, W_k, W_v, scale=len(W_q) ** -0.5)),
        ("scaled by d_v", lambda X, *W: head_with(X, *W, scale=1 / np.sqrt(W[2].shape[1]))),
        ("scaled by n", lambda X, *W: head_with(X, *W, scale=1 / np.sqrt(X.shape[-2]))),
        ("no scale", lambda X, *W: head_with(X, *W, scale=1.0)),
        ("no root", lambda X, *W: head_with(X, *W, scale=1 / W[0].shape[1])),
        ("multiplied", lambda X, *W: head_with(X, *W, scale=np.sqrt(W[0].shape[1]))),
        ("scaled after the softmax", lambda X, *W: head_with(X, *W, scale=1.0) / np.sqrt(W[0].shape[1])),
        ("values not projected", lambda X, W_q, W_k, W_v: attention(X @ W_q, X @ W_k, X)),
        ("no softmax", lambda X, W_q, W_k, W_v: X @ W_q @ (X @ W_k).mT / np.sqrt(W_q.shape[1]) @ (X @ W_v)),
        ("queries and keys exchanged", lambda X, W_q, W_k, W_v: attention(X @ W_k, X @ W_q, X @ W_v)),
        ("shared out over queries", lambda X, *W: head_with(X, *W, axis=-2)),
        ("keepdims", forgets_keepdims),
        ("transposed matrices", lambda X, *W: attention(*(X @ each.T for each in W))),
        ("matrices on the left", lambda X, *W: attention(*(each @ X for each in W))),
        (
            "batch turned around",
            lambda X, W_q, W_k, W_v: softmax((X @ W_q) @ (X @ W_k).T / np.sqrt(W_q.shape[1])) @ (X @ W_v),
        ),
    ],
)
def test_head_recognises_the_mistake(mistake, answer):
    report = check.head(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def merged_by_loops(weight_q, weight_k):
    d = weight_q.shape[1]
    return [[sum(weight_q[:, a] * weight_k[:, b]) for b in range(d)] for a in range(d)]


@pytest.mark.parametrize(
    "answer",
    [
        merged_by_loops,
        lambda weight_q, weight_k: weight_q.T @ weight_k,
        lambda weight_q, weight_k: (weight_k.T @ weight_q).T,
        lambda weight_q, weight_k: np.einsum("ka,kb->ab", weight_q, weight_k),
        lambda weight_q, weight_k: sum(np.outer(q, k) for q, k in zip(weight_q, weight_k, strict=True)),
        lambda weight_q, weight_k: np.eye(weight_q.shape[1]) @ weight_q.T @ (np.eye(weight_k.shape[1]) @ weight_k.T).T,
    ],
)
def test_merged_takes_every_right_answer(answer):
    assert check.merged(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("meant for (d_in, d_out)", lambda weight_q, weight_k: np.inner(weight_q, weight_k)),
        ("roles exchanged", lambda weight_q, weight_k: weight_k.T @ weight_q),
        ("not transposed", lambda weight_q, weight_k: np.matmul(weight_q, weight_k)),
        ("both transposed", lambda weight_q, weight_k: np.matmul(weight_q.T, weight_k.T)),
        ("scaled", lambda weight_q, weight_k: weight_q.T @ weight_k / weight_q.shape[0] ** 0.5),
    ],
)
def test_merged_recognises_the_mistake(mistake, answer):
    report = check.merged(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def rolls_the_queries(W_q, W_k, W_v):
    n = W_q.shape[1]
    moved = W_q.copy()
    moved[:n] = np.roll(W_q[:n], -2, axis=0)  # the query of place i becomes that of i + 2, which reads i + 1
    return moved, W_k, W_v


def rolls_the_keys(W_q, W_k, W_v):
    n = W_q.shape[1]
    return W_q, np.concatenate([np.roll(W_k[:n], 2, axis=0), W_k[n:]]), W_v


def shares_the_loudness(W_q, W_k, W_v):
    return [W_k * 4, W_q / 4, W_v.tolist()]


@pytest.mark.parametrize(
    "answer",
    [
        lambda W_q, W_k, W_v: (W_k, W_q, W_v),
        lambda W_q, W_k, W_v: (-W_k, -W_q, W_v),
        rolls_the_queries,
        rolls_the_keys,
        shares_the_loudness,
    ],
)
def test_look_ahead_takes_every_right_answer(answer):
    assert check.look_ahead(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("nothing changed", lambda *W: W),
        ("nothing changed", lambda W_q, W_k, W_v: (2 * W_q, W_k / 2, W_v)),
        ("what, not where", lambda W_q, W_k, W_v: (W_q, W_k, W_v[:, np.arange(1, W_v.shape[1] + 1) % W_v.shape[1]])),
        ("at itself", lambda W_q, W_k, W_v: (W_q, W_q, W_v)),
        ("at itself", lambda W_q, W_k, W_v: (100 * W_k, W_k, W_v)),
        ("away from it", lambda W_q, W_k, W_v: (W_q, -W_k, W_v)),
        ("wrong pair", lambda W_q, W_k, W_v: (W_v, W_k, W_q)),
        ("wrong pair", lambda W_q, W_k, W_v: (W_q, W_v, W_k)),
    ],
)
def test_look_ahead_recognises_the_mistake(mistake, answer):
    report = check.look_ahead(answer)
    assert (report.ok, report.mistake) == (False, mistake)


@pytest.mark.parametrize(
    "answer",
    [
        lambda W_q, W_k, W_v: (W_k, W_q),
        lambda W_q, W_k, W_v: (W_q.T, W_k.T, W_v),
        lambda W_q, W_k, W_v: W_q @ W_k.T,
        lambda W_q, W_k, W_v: ("W_k", "W_q", "W_v"),
    ],
)
def test_look_ahead_asks_for_three_matrices(answer):
    assert "return the three matrices W_q, W_k and W_v" in check.look_ahead(answer).message


def symmetric(*off, diagonal=0.0):
    """Return 4 × 4 scores from those above the diagonal, row by row."""
    S = np.zeros((4, 4))
    S[np.triu_indices(4, 1)] = off
    return S + S.T + diagonal * np.eye(4)


FALLING = (3, 0, 0, 2, 0, 1)


@pytest.mark.parametrize(
    "answer",
    [
        symmetric(*FALLING),
        symmetric(*FALLING, diagonal=0.5).tolist(),
        symmetric(0, -9, -9, -1, -9, -2, diagonal=-5),
        symmetric(*FALLING).astype(np.float32),
        [[Decimal(int(s)) for s in row] for row in symmetric(*FALLING)],
        np.diag([9, 0, 0, 0]) + symmetric(*FALLING),  # guest 1 is not asked
    ],
)
def test_line_scores_takes_every_right_answer(answer):
    assert check.line_scores(answer).ok


@pytest.mark.parametrize(
    ("hint", "answer"),
    [
        ("shape (4, 4)", np.zeros((3, 3))),
        ("shape (4, 4)", [3, 2, 1]),
        ("finite", symmetric(np.inf, 0, 0, 2, 0, 1)),
        ("not symmetric: guest 2", np.eye(4, k=-1)),
        ("must be symmetric", np.eye(4, k=1)),
        ("yours rise", symmetric(1, 0, 0, 2, 0, 3)),
        ("fall along the line", symmetric(1, 0, 0, 1, 0, 1)),
        ("make the diagonal lower", symmetric(*FALLING, diagonal=3)),
        ("make the diagonal lower", symmetric(*FALLING, diagonal=1)),
        ("in row 2, 3 or 4", np.zeros((4, 4))),
        ("in row 2, 3 or 4", symmetric(3, 5, 0, 2, 0, 1)),
    ],
)
def test_line_scores_says_what_is_missing(hint, answer):
    report = check.line_scores(answer)
    assert not report.ok
    assert hint in report.message


def slopes_by_copies(loss, W, h):
    slopes = np.zeros_like(W)
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            up, down = W.copy(), W.copy()
            up[i, j] += h
            down[i, j] -= h
            slopes[i, j] = (loss(up) - loss(down)) / (2 * h)
    return slopes


def slopes_taken_back(loss, W, h):
    slopes = np.empty(W.shape)
    for place, w in np.ndenumerate(W.copy()):
        W[place] = w + h
        up = loss(W)
        W[place] = w - h
        slopes[place] = (up - loss(W)) / 2 / h
        W[place] = w
    return slopes


def slopes_in_a_list(loss, W, h):
    units = np.eye(W.size).reshape(-1, *W.shape)
    flat = [(loss(W + h * unit) - loss(W - h * unit)) / (2 * h) for unit in units]
    return np.reshape(flat, W.shape).tolist()


@pytest.mark.parametrize("answer", [slopes_by_copies, slopes_taken_back, slopes_in_a_list])
def test_slopes_takes_every_right_answer(answer):
    assert check.slopes(answer).ok


def slopes_with(slope):
    def answer(loss, W, h):
        result = []
        for i in range(W.size):
            up, down = W.copy().ravel(), W.copy().ravel()
            up[i] += h
            down[i] -= h
            result.append(slope(loss(up.reshape(W.shape)), loss(W), loss(down.reshape(W.shape)), h))
        return np.array(result).reshape(W.shape)

    return answer


def two_names(loss, W, h):
    slopes = np.zeros(W.shape)
    for place in np.ndindex(W.shape):
        up = down = W
        up[place] += h
        down[place] -= h
        slopes[place] = (loss(up) - loss(down)) / (2 * h)
    return slopes


def stays_below(loss, W, h):
    slopes = np.zeros(W.shape)
    for place in np.ndindex(W.shape):
        nudged = W
        nudged[place] += h
        up = loss(nudged)
        nudged[place] -= 2 * h
        slopes[place] = (up - loss(nudged)) / (2 * h)
    return slopes


def adds_up(loss, W, h):
    up, down, slopes = W.copy(), W.copy(), np.zeros(W.shape)
    for place in np.ndindex(W.shape):
        up[place], down[place] = up[place] + h, down[place] - h
        slopes[place] = (loss(up) - loss(down)) / (2 * h)
    return slopes


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("one side", slopes_with(lambda up, here, down, h: (up - here) / h)),
        ("one side", slopes_with(lambda up, here, down, h: (here - down) / h)),
        ("divided by h", slopes_with(lambda up, here, down, h: (up - down) / h)),
        ("divided by 2, times h", slopes_with(lambda up, here, down, h: (up - down) / 2 * h)),
        ("not divided", slopes_with(lambda up, here, down, h: up - down)),
        ("wrong sign", slopes_with(lambda up, here, down, h: (down - up) / (2 * h))),
        ("nudges stay", stays_below),
        ("nudges stay", adds_up),
        ("nudges cancel", two_names),
        ("all together", lambda loss, W, h: np.ones_like(W) * (loss(W + h) - loss(W - h)) / (2 * h)),
        ("all together", lambda loss, W, h: (loss(W + h) - loss(W - h)) / (2 * h)),
    ],
)
def test_slopes_recognises_the_mistake(mistake, answer):
    report = check.slopes(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def on_a_circle(n=20, r=10.0, turn=0.0):
    angles = 2 * np.pi * np.arange(n) / n
    Q, K = (np.stack([np.cos(a), np.sin(a)], axis=1) for a in (angles + turn, angles))
    return r * Q, r * K


@pytest.mark.parametrize(
    "answer",
    [
        on_a_circle(),
        np.array(on_a_circle(r=100)).tolist(),
        (100 * on_a_circle(r=1)[0], on_a_circle(r=1)[1]),  # long queries, short keys
        np.float32(on_a_circle(r=12, turn=0.05)),
    ],
)
def test_circle_takes_every_right_answer(answer):
    assert check.circle(answer).ok


@pytest.mark.parametrize(
    ("hint", "answer"),
    [
        ("shape (2, 20, 2)", on_a_circle(n=8)),
        ("shape (2, 20, 2)", on_a_circle()[0]),
        ("finite", np.full((2, 20, 2), np.nan)),
        ("point each query", np.zeros((2, 20, 2))),
        ("point each query", on_a_circle(turn=1.0)),
        ("point each query", [[[i, 0] for i in range(20)]] * 2),  # on a line
        ("make the arrows longer", on_a_circle(r=4)),
    ],
)
def test_circle_says_what_is_missing(hint, answer):
    report = check.circle(answer)
    assert not report.ok
    assert hint in report.message
