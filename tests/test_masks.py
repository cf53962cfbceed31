"""Masks, against their definitions entry by entry."""

import numpy as np
import pytest

from attention_lib import attention_weights, block_diagonal_mask, causal_mask, padding_mask, window_mask

SIZES = [(n, m) for n in range(5) for m in range(5)]


def from_rule(n, m, rule):
    """Return the (n, m) mask of a rule for one query and one key."""
    return np.array([[rule(i, j) for j in range(m)] for i in range(n)], bool).reshape(n, m)


def assert_mask(mask, expected):
    assert mask.dtype == bool
    assert mask.shape == expected.shape
    assert (mask == expected).all()


@pytest.mark.parametrize("n, m", SIZES)
def test_causal(n, m):
    assert_mask(causal_mask(n, m), from_rule(n, m, lambda i, j: j <= i + (m - n)))
    assert_mask(causal_mask(n, m, align="bottom-right"), causal_mask(n, m))
    assert_mask(causal_mask(n, m, align="top-left"), from_rule(n, m, lambda i, j: j <= i))


def test_causal_by_hand():
    assert causal_mask(3).astype(int).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert causal_mask(1, 4).all()  # one new query sees every cached key
    assert causal_mask(3, 1).astype(int).tolist() == [[0], [0], [1]]  # and a query before the first key sees none


@pytest.mark.parametrize("left", [0, 1, 2, 7, None])
@pytest.mark.parametrize("right", [0, 1, 3, 10**30, None])
def test_window(left, right):
    back, ahead = (10**9 if limit is None else limit for limit in (left, right))
    for n, m in SIZES:
        expected = from_rule(n, m, lambda i, j: i + m - n - back <= j <= i + m - n + ahead)
        assert_mask(window_mask(n, m, left=left, right=right), expected)
    assert_mask(window_mask(3, left=left, right=right), window_mask(3, 3, left=left, right=right))


@pytest.mark.parametrize("n, m", SIZES)
def test_window_without_a_left_end_is_causal(n, m):
    assert_mask(window_mask(n, m, left=None, right=0), causal_mask(n, m))
    assert window_mask(n, m, left=None, right=None).all()


def test_window_by_hand():
    expected = [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    assert window_mask(4, left=1, right=0).astype(int).tolist() == expected
    assert window_mask(2, 4, left=0, right=1).astype(int).tolist() == [[0, 0, 1, 1], [0, 0, 0, 1]]


def test_padding():
    assert padding_mask([0, 2, 3], 3).astype(int).tolist() == [[[0, 0, 0]], [[1, 1, 0]], [[1, 1, 1]]]
    for lengths in (2, np.int32(2), np.array(2)):
        assert_mask(padding_mask(lengths, 3), np.array([[True, True, False]]))
    assert_mask(padding_mask(np.array([[1], [3]]), 3), np.array([[[[1, 0, 0]]], [[[1, 1, 1]]]], bool))
    assert_mask(padding_mask(np.array([1, 2], np.uint64), 2), np.array([[[1, 0]], [[1, 1]]], bool))
    assert_mask(padding_mask([], 3), np.ones((0, 1, 3), bool))
    assert_mask(padding_mask([0], 0), np.ones((1, 1, 0), bool))


def test_padding_broadcasts_over_queries_and_heads():
    weights = attention_weights(np.ones((2, 4, 1)), np.ones((2, 3, 1)), mask=padding_mask([1, 3], 3))
    assert weights[0].tolist() == [[1, 0, 0]] * 4
    heads = attention_weights(np.ones((2, 5, 4, 1)), np.ones((2, 5, 3, 1)), mask=padding_mask([[1], [3]], 3))
    assert (heads == weights[:, None]).all()


@pytest.mark.parametrize("lengths", [[], [3], [1, 2], [2, 0, 1], [0, 0], [1, 1, 1]])
@pytest.mark.parametrize("dtype", [int, np.uint8, np.uint64])
def test_block_diagonal(lengths, dtype):
    owner = [which for which, length in enumerate(lengths) for _ in range(length)]
    expected = from_rule(len(owner), len(owner), lambda i, j: owner[i] == owner[j])
    assert_mask(block_diagonal_mask(np.array(lengths, dtype)), expected)
    assert_mask(block_diagonal_mask(lengths), expected)


def test_packed_sequences_attend_as_if_alone():
    rng = np.random.default_rng(0)
    Q, K = rng.normal(size=(2, 5, 4))
    weights = attention_weights(Q, K, mask=block_diagonal_mask([2, 3]) & causal_mask(5))
    np.testing.assert_allclose(weights[2:, 2:], attention_weights(Q[2:], K[2:], mask=causal_mask(3)), rtol=1e-14)
    assert not weights[2:, :2].any()
    assert not weights[:2, 2:].any()


@pytest.mark.parametrize("size", [2, np.int8(2), np.uint64(2), np.array(2)])
def test_any_integer_is_a_size(size):
    assert_mask(causal_mask(size, size), causal_mask(2))
    assert_mask(window_mask(size, left=size, right=size), np.ones((2, 2), bool))
    assert_mask(padding_mask([1], size), padding_mask([1], 2))


def test_a_mask_is_the_caller_s_to_change():
    mask = causal_mask(2)
    mask[0, 1] = True
    assert not causal_mask(2)[0, 1]
    lengths = np.array([1, 2])
    assert padding_mask(lengths, 2).flags.writeable
    assert lengths.tolist() == [1, 2]
