"""The self-checks of chapter 08: right answers pass in any style, each typical mistake is called by its name."""

import numpy as np
import pytest

from attention_lib import attention, attention_weights, block_diagonal_mask, causal_mask, check, padding_mask, softmax


def cache_by_loops(n, m, past):
    mask = np.zeros((n, m), dtype=bool)
    for i in range(n):
        for j in range(m):
            if j <= past + i:
                mask[i, j] = True
    return mask


def cache_by_triangle(n, m, past):
    return np.tril(np.ones((n, m), bool), past)


def cache_by_padding(n, m, past):
    mask = np.zeros((n, m), bool)
    mask[:, : past + n] = causal_mask(n, past + n)
    return mask.tolist()


@pytest.mark.parametrize(
    "answer",
    [
        cache_by_loops,
        cache_by_triangle,
        cache_by_padding,
        lambda n, m, past: np.arange(m) <= np.arange(past, past + n)[:, None],
        lambda n, m, past: np.tri(n, m, past, dtype=bool),
        lambda n, m, past: causal_mask(past + n, m, align="top-left")[past:],
        lambda n, m, past: ~np.triu(np.ones((n, m), bool), past + 1),
        lambda n, m, past: [[j - i <= past for j in range(m)] for i in range(n)],
    ],
)
def test_cache_mask_takes_every_right_answer(answer):
    assert check.cache_mask(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("top-left", lambda n, m, past: np.tri(n, m, dtype=bool)),
        ("bottom-right", lambda n, m, past: np.tri(n, m, m - n)),
        ("bottom-right", lambda n, m, past: causal_mask(n, m) & padding_mask(past + n, m)),
        ("past hidden", lambda n, m, past: np.pad(np.tri(n), ((0, 0), (past, m - past - n)))),
        ("one ahead", lambda n, m, past: np.arange(m) < np.arange(n)[:, None] + past + 2),
        ("itself hidden", lambda n, m, past: np.tril(np.ones((n, m)), past - 1)),
        ("swapped", lambda n, m, past: np.triu(np.ones((n, m), bool), past + 1)),
        ("no order", lambda n, m, past: np.repeat(padding_mask(past + n, m), n, axis=0)),
        ("past alone", lambda n, m, past: np.repeat(padding_mask(past, m), n, axis=0)),
        ("empty places", lambda n, m, past: [[True] * m] * n),
        ("added", lambda n, m, past: np.triu(np.full((n, m), -np.inf), past + 1)),
        ("added", lambda n, m, past: np.triu(np.full((n, m), -1e9), past + 1)),
        ("transposed", lambda n, m, past: np.triu(np.ones((m, n)), -past)),
        ("ones and zeros", lambda n, m, past: np.tril(np.ones((n, m)), past)),
        ("ones and zeros", lambda n, m, past: cache_by_loops(n, m, past).astype(int).tolist()),
        ("ones and zeros", lambda n, m, past: np.tri(n, m, past, dtype=bool).astype(object)),
    ],
)
def test_cache_mask_recognises_the_mistake(mistake, answer):
    report = check.cache_mask(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def softmax_by_rows(S, mask):
    A = np.zeros(S.shape)
    for i in range(len(S)):
        seen = S[i][mask[i]]
        if len(seen):
            e = np.exp(seen - seen.max())
            A[i, mask[i]] = e / e.sum()
    return A


def softmax_with_where(S, mask):
    top = np.max(S, axis=1, keepdims=True, where=mask, initial=-1e300)
    e = np.where(mask, np.exp(np.where(mask, S - top, 0)), 0)
    return e / np.maximum(e.sum(axis=1, keepdims=True), 1e-30)


def softmax_nan_to_zero(S, mask):
    S = np.where(mask, S, -np.inf)
    e = np.exp(S - S.max(axis=-1, keepdims=True))
    A = e / e.sum(axis=-1, keepdims=True)
    A[~mask.any(axis=-1)] = 0
    return A


def softmax_in_its_type(S, mask):
    S = np.where(mask, S, -np.inf)
    e = np.exp(S - np.maximum(S.max(axis=-1, keepdims=True), np.finfo(S.dtype).min))
    return e / np.maximum(e.sum(axis=-1, keepdims=True), np.finfo(S.dtype).tiny)


def softmax_in_place(S, mask):
    S[~mask] = -np.inf
    return softmax(S)


@pytest.mark.parametrize(
    "answer",
    [
        softmax_by_rows,
        softmax_with_where,
        softmax_nan_to_zero,
        softmax_in_place,
        softmax_in_its_type,
        lambda S, mask: softmax(np.where(mask, S, -np.inf)),
        lambda S, mask: np.where(mask, softmax(np.where(mask, S, np.finfo(float).min)), 0),
        lambda S, mask: attention_weights(np.eye(len(S)), np.where(mask, S, 0).T, mask=mask, scale=1.0),
        lambda S, mask: softmax_by_rows(S.astype(np.float32), mask).tolist(),
    ],
)
def test_masked_softmax_takes_every_right_answer(answer):
    assert check.masked_softmax(answer).ok


def plain(S, axis=-1):
    e = np.exp(S - np.max(S, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def put(S, mask, fill):
    S = S.copy()
    S[~mask] = fill
    return S


def zeroed(A, mask):
    A = A.copy()
    A[~mask] = 0
    return A


def top(S, **options):
    return S.max(axis=-1, keepdims=True, **options)


def total(e, floor):
    return np.maximum(e.sum(axis=-1, keepdims=True), floor)


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("NaN in an empty row", lambda S, mask: plain(put(S, mask, -np.inf))),
        ("even shares", lambda S, mask: softmax(put(S, mask, -1e9))),
        ("even shares", lambda S, mask: plain(put(S, mask, -1e20))),
        ("even shares", lambda S, mask: plain(put(S, mask, -1e6))),
        ("even shares", lambda S, mask: plain(np.where(mask, S, -1e200))),
        (
            "float64 alone",
            lambda S, mask: (e := np.exp((T := put(S, mask, -np.inf)) - top(T, initial=-1e300))) / total(e, 1),
        ),
        (
            "float64 alone",
            lambda S, mask: (e := zeroed(np.exp((T := put(S, mask, -1e9)) - top(T)), mask)) / total(e, 1e-300),
        ),
        ("score 0", lambda S, mask: softmax(put(S, mask, 0))),
        ("score 0", lambda S, mask: plain(np.multiply(S, mask.astype(float)))),
        ("weight 0", lambda S, mask: zeroed(plain(S), mask)),
        ("weight 0", lambda S, mask: plain(S) * mask.astype(int)),
        ("masked afterwards", lambda S, mask: (A := zeroed(plain(S), mask)) / A.sum(-1, keepdims=True)),
        ("masked afterwards", lambda S, mask: (A := plain(S) * mask) / A.sum(axis=1)[:, None]),
        (
            "masked afterwards",
            lambda S, mask: (e := zeroed(np.exp(S - S.max(1)[:, None]), mask)) / e.sum(1)[:, None],
        ),
        ("masked afterwards", lambda S, mask: (e := zeroed(np.exp(S - S.max(1)[:, None]), mask)) / total(e, 1e-20)),
        ("masked afterwards", lambda S, mask: (e := zeroed(np.exp(S - S.max(1)[:, None]), mask)) / total(e, 1)),
        ("no mask", lambda S, mask: softmax(S)),
        ("no mask", lambda S, mask: plain(S)),
        ("infinity times 0", lambda S, mask: softmax(S + -np.inf * (1 - mask))),
        (
            "maximum of at least 0",
            lambda S, mask: (e := np.exp((T := put(S, mask, -np.inf)) - top(T, initial=0))) / total(e, 1),
        ),
        ("no maximum", lambda S, mask: (e := zeroed(np.exp(S), mask)) / total(e, 1)),
        (
            "one maximum for all rows",
            lambda S, mask: (e := np.exp((T := put(S, mask, -np.inf)) - T.max())) / total(e, 1e-20),
        ),
        (
            "one maximum for all rows",
            lambda S, mask: (e := np.exp((T := put(S, mask, -np.inf)) - T.max())) / total(e, 1),
        ),
        ("swapped", lambda S, mask: softmax(put(S, ~mask, -np.inf))),
        ("added", lambda S, mask: softmax(S + np.where(mask, 0.0, -np.inf))),
        ("added", lambda S, mask: softmax(S - 1e9 * ~mask)),
        ("plus infinity", lambda S, mask: softmax(put(S, mask, -float("-inf")))),
        ("overflow", lambda S, mask: (e := zeroed(np.exp(S), mask)) / e.sum(-1, keepdims=True)),
        ("overflow", lambda S, mask: (e := zeroed(np.exp(S), mask)) / total(e, 1e-20)),
        ("columns", lambda S, mask: softmax(put(S, mask, -np.inf), axis=-2)),
        ("keepdims", lambda S, mask: (e := np.exp((T := put(S, mask, -np.inf)) - T.max(-1))) / e.sum(-1)),
    ],
)
def test_masked_softmax_recognises_the_mistake(mistake, answer):
    report = check.masked_softmax(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def packed_by_loops(owner):
    n = len(owner)
    return [[owner[i] == owner[j] and j <= i for j in range(n)] for i in range(n)]


@pytest.mark.parametrize(
    "answer",
    [
        packed_by_loops,
        lambda owner: (owner[:, None] == owner) & causal_mask(len(owner)),
        lambda owner: np.tril(owner[:, None] == owner[None, :]),
        lambda owner: np.equal.outer(owner, owner) * np.tri(len(owner), dtype=bool),
        lambda owner: np.logical_and(np.subtract.outer(owner, owner) == 0, np.tri(len(owner))).tolist(),
    ],
)
def test_packed_mask_takes_every_right_answer(answer):
    assert check.packed_mask(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("no order", lambda owner: np.equal.outer(owner, owner)),
        ("no texts", lambda owner: np.tri(len(owner))),
        ("or", lambda owner: np.logical_or(np.equal.outer(owner, owner), np.tri(len(owner)))),
        ("swapped", lambda owner: ~np.tril(np.equal.outer(owner, owner))),
        ("itself hidden", lambda owner: np.tril(np.equal.outer(owner, owner), -1)),
        ("looks ahead", lambda owner: np.triu(np.equal.outer(owner, owner))),
        ("added", lambda owner: np.where(np.tril(np.equal.outer(owner, owner)), 0, -np.inf)),
        ("ones and zeros", lambda owner: np.tril(owner[:, None] == owner).astype(int)),
        ("ones and zeros", lambda owner: np.equal.outer(owner, owner) * np.tri(len(owner))),
        ("end to end", lambda owner: np.tril(block_diagonal_mask(np.bincount(owner)))),
        (
            "neighbours",
            lambda owner: np.tril(
                block_diagonal_mask(np.diff(np.flatnonzero(np.r_[True, owner[1:] != owner[:-1], True])))
            ),
        ),
    ],
)
def test_packed_mask_recognises_the_mistake(mistake, answer):
    report = check.packed_mask(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def loss_by_loops(losses, lengths):
    total, count = 0.0, 0
    for row, length in zip(losses, lengths, strict=True):
        for loss in row[:length]:
            total, count = total + loss, count + 1
    return total / count


@pytest.mark.parametrize(
    "answer",
    [
        loss_by_loops,
        lambda losses, lengths: losses[np.arange(losses.shape[1]) < lengths[:, None]].mean(),
        lambda losses, lengths: np.mean(losses, where=padding_mask(lengths, losses.shape[1])[:, 0]),
        lambda losses, lengths: np.concatenate([r[:k] for r, k in zip(losses, lengths, strict=True)]).mean(),
        lambda losses, lengths: (
            np.where(padding_mask(lengths, losses.shape[1])[:, 0], losses, 0).sum() / lengths.sum()
        ),
        lambda losses, lengths: [loss_by_loops(losses, lengths)][0],
    ],
)
def test_masked_loss_takes_every_right_answer(answer):
    assert check.masked_loss(answer).ok


def seen(losses, lengths):
    return padding_mask(lengths, losses.shape[1])[:, 0]


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("all tokens", lambda losses, lengths: np.average(losses)),
        ("0 times NaN", lambda losses, lengths: (losses * seen(losses, lengths)).sum() / seen(losses, lengths).sum()),
        ("0 times NaN", lambda losses, lengths: np.average(losses, weights=seen(losses, lengths))),
        ("divided by all", lambda losses, lengths: losses[seen(losses, lengths)].sum() / losses.size),
        (
            "mean of means",
            lambda losses, lengths: np.mean([r[:k].mean() for r, k in zip(losses, lengths, strict=True)]),
        ),
        ("mean of means", lambda losses, lengths: np.mean((losses * seen(losses, lengths)).sum(axis=1) / lengths)),
        ("NaN alone", lambda losses, lengths: np.mean(losses, where=~np.isnan(losses))),
        ("one too few", lambda losses, lengths: losses[seen(losses, lengths - 1)].mean()),
        ("one a sequence", lambda losses, lengths: [r[:k].mean() for r, k in zip(losses, lengths, strict=True)]),
        ("sum", lambda losses, lengths: losses[seen(losses, lengths)].sum()),
        ("divided by the sequences", lambda losses, lengths: losses[seen(losses, lengths)].sum() / len(losses)),
        (
            "one too many",
            lambda losses, lengths: np.concatenate(
                [r[: k + 1] for r, k in zip(losses, lengths, strict=True)]
            ).mean(),
        ),
        ("padding alone", lambda losses, lengths: np.mean(losses, where=~seen(losses, lengths))),
    ],
)
def test_masked_loss_recognises_the_mistake(mistake, answer):
    report = check.masked_loss(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def probe(f, X, t, new):
    changed = X.copy()
    changed[t] = new
    return f(changed)


def reads_with(new, differ=lambda after, before: ~np.isclose(after, before).all(axis=1)):
    """Return a right answer that changes tokens in its own way."""
    return lambda f, X: np.stack([differ(probe(f, X, t, new), f(X)) for t in range(len(X))], axis=1)


def reads_by_loops(f, X):
    result, before = np.zeros((len(X), len(X)), bool), f(X)
    for t in range(len(X)):
        kept = X[t].copy()
        X[t] = X[t] * -2 + 1
        after = f(X)
        X[t] = kept
        for i in range(len(X)):
            result[i, t] = np.abs(after[i] - before[i]).max() > 1e-9
    return result.tolist()


@pytest.mark.parametrize(
    "answer",
    [
        reads_by_loops,
        reads_with(0.0),
        reads_with(7.0),
        reads_with(np.nan),
        reads_with(-1.0, lambda after, before: (after != before).any(axis=1)),
        lambda f, X: np.array([[not np.allclose(probe(f, X, t, 5)[i], f(X)[i]) for t in range(5)] for i in range(5)]),
    ],
)
def test_token_reads_takes_every_right_answer(answer):
    assert check.token_reads(answer).ok


def same_array(f, X):
    result = np.zeros((len(X), len(X)), bool)
    for t in range(len(X)):
        changed = X
        changed[t] += 5
        result[:, t] = ~np.isclose(f(changed), f(X)).all(axis=1)
    return result


def piled_up(f, X):
    before, changed = f(X), X
    result = np.zeros((len(X), len(X)), bool)
    for t in range(len(X)):
        changed[t] = 9.0
        result[:, t] = ~np.isclose(f(changed), before).all(axis=1)
    return result


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("transposed", lambda f, X: np.array([~np.isclose(probe(f, X, t, 9), f(X)).all(axis=1) for t in range(5)])),
        ("changes pile up", piled_up),
        ("same array", same_array),
        (
            "sign alone",
            lambda f, X: np.stack([~np.isclose(probe(f, X, t, -X[t]), f(X)).all(axis=1) for t in range(5)], axis=1),
        ),
        ("every feature", reads_with(9.0, lambda after, before: ~np.isclose(after, before).any(axis=1))),
        (
            "compared with X",
            lambda f, X: np.stack([~np.isclose(probe(f, X, t, 9), X).all(axis=1) for t in range(5)], axis=1),
        ),
        ("leaks alone", lambda f, X: np.triu(reads_with(9.0)(f, X), k=1)),
        ("without itself", lambda f, X: reads_with(9.0)(f, X) * (1 - np.eye(5))),
        ("unmoved", reads_with(9.0, lambda after, before: np.isclose(after, before).all(axis=1))),
        ("ones and zeros", lambda f, X: reads_with(9.0)(f, X).astype(float)),
        ("features", lambda f, X: reads_with(9.0)(lambda columns: f(columns.T), X.T)),
    ],
)
def test_token_reads_recognises_the_mistake(mistake, answer):
    report = check.token_reads(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def test_token_reads_holds_functions_with_and_without_a_leak(exercise):
    options = exercise("token_reads")
    leaks = {f.__name__: bool(np.triu(options["right"](f, X), 1).any()) for f, X in options["inputs"]}
    assert leaks == {
        "attends_to_past": False,
        "sees_one_ahead": True,
        "normalised": True,
        "one_feature": False,
        "delayed": False,
    }


def test_the_checks_agree_with_the_library(exercise):
    for n, m, past in exercise("cache_mask")["inputs"]:
        if m == past + n:
            assert (exercise("cache_mask")["right"](n, m, past) == causal_mask(n, m)).all()
    for S, mask in exercise("masked_softmax")["inputs"]:
        K = np.where(mask, S, 0).T
        np.testing.assert_allclose(
            exercise("masked_softmax")["right"](S, mask), attention_weights(np.eye(len(S)), K, mask=mask, scale=1.0)
        )
    lengths = [3, 2, 1]
    owner = np.repeat(np.arange(3), lengths)
    assert (exercise("packed_mask")["right"](owner) == (block_diagonal_mask(lengths) & causal_mask(6))).all()
    Q, K, V = np.random.default_rng(0).normal(size=(3, 6, 2))
    mask = exercise("packed_mask")["right"](owner)
    alone = attention(Q[3:5], K[3:5], V[3:5], mask=causal_mask(2))
    np.testing.assert_allclose(attention(Q, K, V, mask=mask)[3:5], alone)
