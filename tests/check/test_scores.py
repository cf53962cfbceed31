"""The self-checks of chapter 02: right answers pass in any style, each typical mistake is called by its name."""

from fractions import Fraction

import numpy as np
import pytest

from attention_lib import attention_scores, check


def by_numpy_loop(Q, K):
    result = np.empty((Q.shape[0], K.shape[0]))
    for i in range(Q.shape[0]):
        for j in range(K.shape[0]):
            result[i, j] = np.dot(Q[i], K[j])
    return result


def by_three_loops(Q, K):
    result = np.zeros((len(Q), len(K)))
    for i, q in enumerate(Q):
        for j, k in enumerate(K):
            for f in range(len(q)):
                result[i, j] += q[f] * k[f]
    return result


def by_list(Q, K):
    return [[sum(a * b for a, b in zip(q, k, strict=True)) for k in K.tolist()] for q in Q.tolist()]


def by_rows(Q, K):
    return np.stack([K @ q for q in Q])


def in_float32(Q, K):
    return Q.astype(np.float32) @ K.astype(np.float32).T


def in_place(Q, K):
    Q[...] *= 1.0
    return Q @ K.T


@pytest.mark.parametrize(
    "answer",
    [
        by_numpy_loop,
        by_three_loops,
        by_list,
        by_rows,
        in_float32,
        in_place,
        lambda Q, K: Q @ K.T,
        lambda Q, K: np.inner(Q, K),
        lambda Q, K: np.einsum("if,jf->ij", Q, K),
        lambda Q, K: (Q[:, None, :] * K[None, :, :]).sum(axis=-1),
        lambda Q, K: attention_scores(Q, K, scale=1.0),
    ],
)
def test_score_matrix_takes_every_right_answer(answer):
    assert check.score_matrix(answer).ok


def loop(Q, K, *, rows=None, columns=None, shape=None, dtype=float, term=np.dot, return_in=None):
    """Write the exercise's loops with their bounds, their result, their term or their return gone wrong."""
    N, M = len(Q), len(K)
    result = np.zeros(shape or (N, M), dtype)
    for i in range(rows or N):
        for j in range(columns or M):
            result[i, j] = term(Q[i], K[j])
            if return_in == "inner loop":
                return result
        if return_in == "outer loop":
            return result
    return result


def last_feature(Q, K):
    result = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            for f in range(Q.shape[1]):
                result[i, j] = Q[i, f] * K[j, f]
    return result


def cosine(q, k):
    return q @ k / (np.sqrt(q @ q) * np.sqrt(k @ k))


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("transposed", lambda Q, K: loop(K, Q)),
        ("scaled", lambda Q, K: Q @ K.T / np.sqrt(Q.shape[1])),
        ("scaled", attention_scores),
        ("queries only", lambda Q, K: loop(Q, Q)),
        ("keys only", lambda Q, K: K @ K.T),
        ("not summed", lambda Q, K: np.einsum("if,jf->ijf", Q, K)),
        ("summed over keys", lambda Q, K: (Q[:, None, :] * K[None, :, :]).sum(axis=1)),
        ("summed over queries", lambda Q, K: (Q[:, None, :] * K[None, :, :]).sum(axis=0)),
        ("summed over everything", lambda Q, K: (Q[:, None, :] * K[None, :, :]).sum()),
        ("summed over everything", lambda Q, K: np.zeros((len(Q), len(K))) + (Q[:, None] * K).sum()),
        ("own key only", lambda Q, K: np.array([np.dot(Q[i], K[i]) for i in range(len(Q))])),
        ("own key only", lambda Q, K: np.sum(Q * K, axis=1)),
        ("square", lambda Q, K: loop(Q, K, columns=len(Q))),
        ("square", lambda Q, K: loop(Q, K, columns=len(Q), shape=(len(Q), len(Q)))),
        ("early return", lambda Q, K: loop(Q, K, return_in="outer loop")),
        ("early return", lambda Q, K: loop(Q, K, return_in="inner loop")),
        ("last feature only", last_feature),
        ("product of sums", lambda Q, K: loop(Q, K, term=lambda q, k: q.sum() * k.sum())),
        ("cosine", lambda Q, K: loop(Q, K, term=cosine)),
        ("whole numbers", lambda Q, K: loop(Q, K, dtype=int)),
        ("not transposed", lambda Q, K: np.matmul(Q, K)),
        ("entry by entry", lambda Q, K: np.multiply(Q, K)),
        ("distance", lambda Q, K: loop(Q, K, term=lambda q, k: np.sqrt(((q - k) ** 2).sum()))),
    ],
)
def test_score_matrix_recognises_the_mistake(mistake, answer):
    report = check.score_matrix(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def test_score_matrix_describes_a_mistake_it_does_not_know():
    report = check.score_matrix(lambda Q, K: Q @ K.T + 1)
    assert report.mistake is None
    assert "result[0][0]" in report.message


def test_score_matrix_misses_no_missing_return():
    def answer(Q, K):
        Q @ K.T

    assert "return" in check.score_matrix(answer).message


def batch_by_batch(Q, K):
    leading = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2])
    Q, K = np.broadcast_to(Q, leading + Q.shape[-2:]), np.broadcast_to(K, leading + K.shape[-2:])
    result = np.empty((*leading, Q.shape[-2], K.shape[-2]))
    for place in np.ndindex(leading):
        result[place] = Q[place] @ K[place].T
    return result


@pytest.mark.parametrize(
    "answer",
    [
        batch_by_batch,
        lambda Q, K: Q @ K.mT,
        lambda Q, K: Q @ np.swapaxes(K, -1, -2),
        lambda Q, K: Q @ np.moveaxis(K, -1, -2),
        lambda Q, K: np.matmul(Q, np.matrix_transpose(K)),
        lambda Q, K: np.einsum("...if,...jf->...ij", Q, K),
        lambda Q, K: (Q[..., :, None, :] * K[..., None, :, :]).sum(-1),
        lambda Q, K: (Q.astype(np.float32) @ K.astype(np.float32).mT).tolist(),
        lambda Q, K: attention_scores(Q, K, scale=1.0),
    ],
)
def test_batched_scores_takes_every_right_answer(answer):
    assert check.batched_scores(answer).ok


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("all axes reversed", lambda Q, K: Q @ np.transpose(K)),
        ("first axes swapped", lambda Q, K: Q @ np.swapaxes(K, 0, 1)),
        ("across the batch", lambda Q, K: np.dot(Q, K.mT)),
        ("across the batch", lambda Q, K: np.tensordot(Q, K, axes=(-1, -1))),
        ("three axes only", lambda Q, K: np.einsum("bif,bjf->bij", Q, K)),
        ("three axes only", lambda Q, K: Q @ np.transpose(K, (0, 2, 1))),
        ("three axes only", lambda Q, K: np.matmul(Q, K.swapaxes(1, 2))),
        ("two axes only", lambda Q, K: np.einsum("if,jf->ij", Q, K)),
        ("transposed", lambda Q, K: np.einsum("...if,...jf->...ji", Q, K)),
        ("scaled", attention_scores),
        ("own key only", lambda Q, K: np.einsum("...f,...f->...", Q, K)),
        ("not transposed", lambda Q, K: np.matmul(Q, K)),
        ("entry by entry", lambda Q, K: np.multiply(Q, K)),
    ],
)
def test_batched_scores_recognises_the_mistake(mistake, answer):
    report = check.batched_scores(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def pearson_pair(x, y):
    x, y = x - x.mean(), y - y.mean()
    return (x * y).sum() / np.sqrt((x**2).sum() * (y**2).sum())


def by_z_scores(X):
    Z = (X - X.mean(1, keepdims=True)) / X.std(1, keepdims=True)
    return Z @ Z.T / X.shape[1]


def from_covariance(X):
    C = np.cov(X)
    return C / np.sqrt(np.outer(np.diag(C), np.diag(C)))


@pytest.mark.parametrize(
    "answer",
    [
        np.corrcoef,
        by_z_scores,
        from_covariance,
        lambda X: [[pearson_pair(x, y) for y in X] for x in X],
        lambda X: by_z_scores(X.astype(np.float32)),
    ],
)
def test_pearson_takes_every_right_answer(answer):
    assert check.pearson(answer).ok


def length(X):
    return np.sqrt((X**2).sum(1, keepdims=True))


def cosines(X):
    return (X / length(X)) @ (X / length(X)).T


def outer_deviations(X, ddof=0):
    deviation = X.std(1, ddof=ddof)
    return np.outer(deviation, deviation)


def mixed_variances(X):
    return np.cov(X) / outer_deviations(X)


def lengths_as_a_row(X):
    C = X - X.mean(1, keepdims=True)
    return C / np.linalg.norm(C, axis=1) @ C.T


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("not centred", cosines),
        ("centred over tokens", lambda X: cosines(X - X.mean(axis=0))),
        ("one mean for all", lambda X: cosines(X - X.mean())),
        ("one mean for all", lambda X: (C := X - X.mean()) @ C.T),
        ("means as a row", lambda X: cosines(X - X.mean(axis=1))),
        ("means as a row", lambda X: (C := X - X.mean(1)) / np.sqrt((C**2).sum(1)) @ C.T),
        ("lengths as a row", lengths_as_a_row),
        ("not divided", np.cov),
        ("not divided", lambda X: (C := X - X.mean(1, keepdims=True)) @ C.T),
        ("not divided", lambda X: (C := X - X.mean(1, keepdims=True)) @ C.T / X.shape[1]),
        ("one side only", lambda X: (C := X - X.mean(1, keepdims=True)) / length(C) @ C.T),
        ("one side only", lambda X: (C := X - X.mean(1, keepdims=True)) @ C.T / np.linalg.norm(C, axis=1)),
        ("divided by deviations", lambda X: by_z_scores(X) * X.shape[1]),
        ("divided by deviations", lambda X: (C := X - X.mean(1, keepdims=True)) @ C.T / outer_deviations(X, ddof=1)),
        ("divided before centring", lambda X: (C := (U := X / length(X)) - U.mean(1, keepdims=True)) @ C.T),
        ("two kinds of variance", mixed_variances),
        ("features, not tokens", lambda X: np.corrcoef(X, rowvar=False)),
    ],
)
def test_pearson_recognises_the_mistake(mistake, answer):
    report = check.pearson(answer)
    assert (report.ok, report.mistake) == (False, mistake)


@pytest.mark.parametrize(
    "answer",
    [
        [[1, 1], [2, 2], [3, 3], [4, 4]],
        np.array([[5, 5], [1, 0], [0, 1], [1, 1]], dtype=np.float32),
        ((0.1, 0), (0.1, 0.01), (9, 0), (0.2, 0)),
        np.array([[60, 60], [120, 120], [180, 180], [240, 240]], dtype=np.uint8),  # their products overflow a uint8
        np.array([[100, 100], [200, 200], [300, 300], [400, 400]], dtype=np.float16),  # and a float16
        [[Fraction(1, 3), 0], [Fraction(1, 2), 0], [1, 0], [Fraction(7, 3), 0]],
    ],
)
def test_lone_winner_takes_every_right_answer(answer):
    assert check.lone_winner(answer).ok


@pytest.mark.parametrize(
    ("hint", "answer"),
    [
        ("shape", [[1, 2], [3, 4]]),
        ("shape", np.ones((2, 4))),
        ("finite", [[1, 1], [2, 2], [3, 3], [np.inf, 4]]),
        ("every token still wins", [[1, 0], [0, 1], [-1, 0], [0, -1]]),
        ("every token still wins", np.ones((4, 2))),
        ("more than one", [[1, 0], [2, 0], [0, 1], [0, 2]]),
        ("more than one", [[1, 0], [2, 0], [0, 1], [-3, 0]]),
        ("a tie is not a loss", [[1, 0], [2, 0], [3, 0], [3, 0]]),  # the longest twice
        ("a tie is not a loss", [[1, 0], [1, 1], [1, 1.5], [0.1, 0.1]]),  # longer ones that only reach its score
        ("a tie is not a loss", [[0, 0], [2, 0], [3, 0], [4, 0]]),  # zeros tie with everything
    ],
)
def test_lone_winner_says_what_is_missing(hint, answer):
    report = check.lone_winner(answer)
    assert not report.ok
    assert hint in report.message


def by_eigh(S):
    values, vectors = np.linalg.eigh(S)
    return vectors * np.sqrt(np.maximum(values, 0))


def by_svd(S):
    U, s, _ = np.linalg.svd(S, hermitian=True)
    return U @ np.diag(np.sqrt(s))


def symmetric_root(S):
    values, vectors = np.linalg.eigh(S)
    return vectors @ np.diag(np.sqrt(abs(values))) @ vectors.T


def largest_only(S):
    values, vectors = np.linalg.eigh(S)
    keep = values > 1e-6
    return vectors[:, keep] * np.sqrt(values[keep])


@pytest.mark.parametrize(
    "answer",
    [
        by_eigh,
        by_svd,
        symmetric_root,
        largest_only,
        lambda S: (-by_eigh(S)).tolist(),
        lambda S: by_eigh(S).astype(np.float32),
    ],
)
def test_tokens_from_scores_takes_every_right_answer(answer):
    assert check.tokens_from_scores(answer).ok


def eigen(S, combine):
    values, vectors = np.linalg.eigh(S)
    return combine(values, vectors)


@pytest.mark.parametrize(
    ("mistake", "answer"),
    [
        ("root of a negative", lambda S: eigen(S, lambda values, V: V @ np.diag(np.sqrt(values)))),
        ("root of a negative", lambda S: eigen(S, lambda values, V: V * np.emath.sqrt(values))),
        ("root of a negative", lambda S: eigen(S, lambda values, V: V @ np.diag(values.astype(complex) ** 0.5))),
        ("Cholesky", lambda S: np.linalg.cholesky(S)),
        ("no root", lambda S: eigen(S, lambda values, V: V @ np.diag(values))),
        ("no root", lambda S: S),
        ("no eigenvalues", lambda S: eigen(S, lambda values, V: V)),
        ("rows scaled", lambda S: eigen(S, lambda values, V: np.diag(np.sqrt(abs(values))) @ V)),
        ("rows scaled", lambda S: by_eigh(S).T),
        ("root of each entry", lambda S: S**0.5),
    ],
)
def test_tokens_from_scores_recognises_the_mistake(mistake, answer):
    report = check.tokens_from_scores(answer)
    assert (report.ok, report.mistake) == (False, mistake)


def test_tokens_from_scores_misses_no_missing_return():
    assert "return" in check.tokens_from_scores(lambda S: None).message


@pytest.mark.parametrize(
    "answer",
    [
        np.linalg.eigh,
        lambda S: tuple(np.linalg.eigh(S)),
        lambda S: np.sqrt(abs(np.linalg.eigvalsh(S))),
        lambda S: [by_eigh(S)],
        lambda S: largest_only(S).T,
        lambda S: by_eigh(S).tolist()[1:],
        lambda S: str(S),
    ],
)
def test_tokens_from_scores_asks_for_one_array(answer):
    assert check.tokens_from_scores(answer).message == "return one array with one token a row"


def test_tokens_from_scores_refuses_complex_tokens():
    report = check.tokens_from_scores(lambda S: by_eigh(S) + 0j)
    assert not report.ok
    assert "complex" in report.message


def test_tokens_from_scores_describes_the_scores_and_not_the_tokens():
    report = check.tokens_from_scores(lambda S: 2 * by_eigh(S))
    assert report.mistake is None
    assert "(X @ X.T)[0][0] is " in report.message
