"""Output: the whole of attention."""

import numpy as np
import pytest
from loops import attention_in_loops

from attention_lib import attention, attention_weights, causal_mask, padding_mask

FLOATS = [np.float16, np.float32, np.float64, np.longdouble]
INF, NAN = np.inf, np.nan


def test_equal_keys_give_the_plain_mean():
    output = attention(np.ones((1, 2)), np.ones((3, 2)), [[1, 10], [2, 20], [6, 60]])
    np.testing.assert_allclose(output, [[3, 30]], rtol=1e-15)


def test_two_queries_by_hand():
    # The first query's scores are 0 and log 3, so it weighs 1 : 3; the second's are both 0.
    K = np.log([[1.0], [3.0]])
    output, weights = attention([[1.0], [0.0]], K, [[8, 0], [0, 4]], return_weights=True)
    np.testing.assert_allclose(weights, [[0.25, 0.75], [0.5, 0.5]], rtol=1e-15)
    np.testing.assert_allclose(output, [[2, 3], [4, 2]], rtol=1e-15)


def test_one_key_gives_its_value_exactly():
    V = [[0.1, -7.3, 1e300]]
    assert attention([[5.0]], [[-2.0]], V).tolist() == V


def test_identity_weights_give_self_attention_of_the_article():
    X = np.random.default_rng(0).normal(size=(4, 3))
    e = np.exp(X @ X.T)
    np.testing.assert_allclose(attention(X, X, X, scale=1.0), e / e.sum(axis=1, keepdims=True) @ X, rtol=1e-13)


def test_weights_are_those_of_attention_weights():
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(3, 2, 4, 4))
    options = {"mask": causal_mask(4), "bias": rng.normal(size=(4, 4)), "scale": 0.3}
    output, weights = attention(Q, K, V, **options, return_weights=True)
    assert (weights == attention_weights(Q, K, **options)).all()
    np.testing.assert_allclose(output, weights @ V, rtol=1e-14)
    assert (attention(Q, K, V, **options) == output).all()


@pytest.mark.parametrize("seed", range(5))
def test_loops_agree(seed):
    rng = np.random.default_rng(seed)
    Q, K, V = rng.normal(size=(3, 1, 4, 5)), rng.normal(size=(2, 6, 5)), rng.normal(size=(1, 6, 7))
    mask, bias = rng.random((2, 4, 6)) < 0.6, rng.normal(size=(4, 6))
    for options in ({}, {"mask": mask}, {"bias": bias}, {"mask": mask, "bias": bias, "scale": -0.7}):
        output, weights = attention(Q, K, V, **options, return_weights=True)
        expected_output, expected_weights = attention_in_loops(Q, K, V, **options)
        np.testing.assert_allclose(weights, expected_weights, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(output, expected_output, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", FLOATS)
def test_dtype_is_kept(dtype):
    Q = np.ones((2, 3), dtype)
    output, weights = attention(Q, Q, Q, bias=np.zeros((2, 2)), return_weights=True)
    assert output.dtype == weights.dtype == dtype


def test_the_widest_of_the_three_dtypes_is_the_result_s():
    Q, V = np.ones((2, 3), np.float32), np.ones((2, 1), np.float64)
    output, weights = attention(Q, Q, V, return_weights=True)
    assert output.dtype == weights.dtype == np.float64
    output, weights = attention(Q, Q, V.astype(np.float16), return_weights=True)
    assert output.dtype == weights.dtype == np.float32
    assert attention(Q, Q, np.ones((2, 1), int)).dtype == np.float64


def test_float16_values_are_mixed_in_float32():
    # 4,096 shares of about 15: a running sum in float16 would stop at 32,768, where its steps are 32 wide.
    V = np.full((4096, 1), 60_000, np.float16)
    Q, K = np.ones((1, 1), np.float16), np.ones((4096, 1), np.float16)
    assert attention(Q, K, V).tolist() == [[60_000]]
    assert attention(Q, K, V).dtype == np.float16


def test_a_query_that_may_attend_to_nothing_gets_zero():
    Q, K, V = np.ones((2, 2)), np.ones((3, 2)), np.array([[1.0], [NAN], [INF]])
    mask = np.array([[False, False, False], [True, False, False]])
    with np.errstate(all="raise"):
        assert attention(Q, K, V, mask=mask).tolist() == [[0], [1]]
        assert attention(Q, K, V, bias=np.where(mask, 0.0, -INF)).tolist() == [[0], [1]]


def test_no_keys_give_zero():
    assert attention(np.ones((2, 3)), np.ones((0, 3)), np.ones((0, 4))).tolist() == [[0] * 4] * 2


@pytest.mark.parametrize("special", [NAN, INF, -INF])
def test_a_value_that_may_not_be_read_has_no_influence(special):
    V = np.arange(8.0).reshape(4, 2)
    expected = attention(np.ones((4, 1)), np.ones((4, 1)), V, mask=causal_mask(4))
    V[2, 0] = special
    with np.errstate(all="raise"):
        output = attention(np.ones((4, 1)), np.ones((4, 1)), V, mask=causal_mask(4))
    assert (output[:2] == expected[:2]).all()
    assert (output[:, 1] == expected[:, 1]).all()
    np.testing.assert_array_equal(output[2:, 0], [special, special])  # NaN equals NaN here


def test_infinite_values_add_up_as_in_any_sum():
    Q, K = np.ones((1, 1)), np.ones((3, 1))
    V = np.array([[INF, -INF, INF, NAN], [INF, 1, -INF, INF], [1, 1, 1, 1]])
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(attention(Q, K, V), [[INF, -INF, NAN, NAN]])


def test_each_batch_entry_reads_its_own_special_values():
    V = np.ones((2, 2, 1))
    V[0, 1] = NAN
    mask = np.array([[[True, False]], [[True, True]]])
    assert attention(np.ones((2, 1, 1)), np.ones((2, 2, 1)), V, mask=mask).tolist() == [[[1]], [[1]]]
    assert np.isnan(attention(np.ones((2, 1, 1)), np.ones((2, 2, 1)), V)).ravel().tolist() == [True, False]


def test_a_weight_that_rounds_to_zero_reads_nothing():
    # exp(-1000) is 0 in floating point: the key is allowed, and its value still goes unread.
    assert attention([[1.0]], [[0.0], [-1000.0]], [[3.0], [INF]], scale=1.0).tolist() == [[3]]


def test_a_weight_that_is_not_zero_reads_however_small_it_is():
    assert attention([[1.0]], [[0.0], [-700.0]], [[3.0], [INF]], scale=1.0).tolist() == [[INF]]  # exp(-700) is 1e-304


def test_padding_is_as_good_as_absence():
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(3, 2, 5, 4))
    output = attention(Q, K, V, mask=padding_mask([3, 5], 5))
    np.testing.assert_allclose(output[0], attention(Q[0], K[0, :3], V[0, :3]), rtol=1e-14)
    np.testing.assert_allclose(output[1], attention(Q[1], K[1], V[1]), rtol=1e-14)


def test_cached_keys_give_the_same_as_all_at_once():
    # The last queries alone, against all keys: what bottom-right alignment is for.
    Q, K, V = np.random.default_rng(0).normal(size=(3, 7, 4))
    whole = attention(Q, K, V, mask=causal_mask(7))
    np.testing.assert_allclose(attention(Q[5:], K, V, mask=causal_mask(2, 7)), whole[5:], rtol=1e-14)


@pytest.mark.parametrize(
    "q, k, v, mask, output",
    [
        ((2, 3), (4, 3), (4, 5), (2, 4), (2, 5)),
        ((2, 3), (4, 3), (4, 0), (4,), (2, 0)),
        ((0, 3), (4, 3), (4, 5), (1, 4), (0, 5)),
        ((2, 0), (4, 0), (4, 5), (), (2, 5)),
        ((7, 2, 3), (4, 3), (4, 5), (7, 1, 1), (7, 2, 5)),
        ((2, 3), (4, 3), (7, 4, 5), (1,), (7, 2, 5)),
        ((2, 3), (4, 3), (4, 5), (6, 7, 2, 4), (6, 7, 2, 5)),
        ((6, 1, 2, 3), (7, 4, 3), (1, 1, 1, 4, 5), (2, 1), (1, 6, 7, 2, 5)),
        ((0, 2, 3), (1, 4, 3), (4, 5), (2, 4), (0, 2, 5)),
    ],
)
def test_shapes(q, k, v, mask, output):
    assert attention(np.ones(q), np.ones(k), np.ones(v), mask=np.ones(mask, bool)).shape == output


def test_lists_and_views_do_as_well_as_arrays():
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(3, 4, 4))
    mask, bias = causal_mask(4), rng.normal(size=(4, 4))
    expected = attention(Q, K, V, mask=mask, bias=bias)
    lists = attention(Q.tolist(), K.tolist(), V.tolist(), mask=mask.tolist(), bias=bias.tolist())
    assert (lists == expected).all()

    def awkward(array):
        view = np.asfortranarray(np.repeat(array, 2, axis=0))[::2][::-1][::-1]
        view.flags.writeable = False
        return view

    views = [awkward(array) for array in (Q, K, V, mask, bias)]
    assert not any(view.flags.c_contiguous or view.flags.writeable for view in views)
    np.testing.assert_allclose(attention(*views[:3], mask=views[3], bias=views[4]), expected, rtol=1e-14)


def test_nothing_is_changed_and_nothing_is_shared():
    rng = np.random.default_rng(0)
    given = {name: rng.normal(size=(3, 3)) for name in ("Q", "K", "V", "bias")} | {"mask": causal_mask(3)}
    given["V"][0] = INF
    before = {name: array.copy() for name, array in given.items()}
    for result in attention(**given, return_weights=True):
        assert not any(np.shares_memory(result, array) for array in given.values())
    for name, array in given.items():
        assert (array == before[name]).all(), name
