"""Weights: softmax and its relatives, and masks and biases before it."""

import math

import numpy as np
import pytest

from attention_lib import attention_weights, causal_mask, log_softmax, softmax, softmax_jacobian

FLOATS = [np.float16, np.float32, np.float64, np.longdouble]
INF, NAN = np.inf, np.nan


# softmax


def test_softmax_by_hand():
    x = [0, math.log(2), math.log(5)]  # exponentials 1, 2 and 5
    np.testing.assert_allclose(softmax(x), [1 / 8, 2 / 8, 5 / 8], rtol=1e-15)


def test_softmax_along_each_axis():
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    for axis in (0, 1, 2, -1, -2, -3, np.int64(1)):
        p = softmax(x, axis=axis)
        np.testing.assert_allclose(p.sum(axis=axis), 1, rtol=1e-15)
        np.testing.assert_allclose(p, np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True), rtol=1e-14)
    assert (softmax(x) == softmax(x, axis=2)).all()


@pytest.mark.parametrize(
    "x, expected",
    [
        ([0, 0, 1000, 1000], [0, 0, 0.5, 0.5]),
        ([-1000, -1000], [0.5, 0.5]),
        ([1e308, -1e308], [1, 0]),
        ([-1.7e308, -1.7e308], [0.5, 0.5]),
        ([np.finfo(float).min, -INF], [1, 0]),
        ([-INF, 0, 0], [0, 0.5, 0.5]),
        ([-INF, -INF], [0, 0]),  # nothing to share
        ([INF, 3, INF], [0.5, 0, 0.5]),
        ([INF, -INF], [1, 0]),
        ([-INF, -1e9, -INF], [0, 1, 0]),  # far below any finite fill that could stand for -inf
        ([-INF, -1e300], [0, 1]),
        ([5], [1]),
        ([], []),
        ([True, True], [0.5, 0.5]),
    ],
)
def test_softmax_of_extremes(x, expected):
    with np.errstate(all="raise"):
        assert softmax(x).tolist() == expected


def test_softmax_of_nan_is_nan_in_its_row_only():
    p = softmax([[NAN, 1, -INF], [0, 0, -INF]])
    assert np.isnan(p[0]).all()
    assert p[1].tolist() == [0.5, 0.5, 0]


@pytest.mark.parametrize("shape, axis", [((0, 3), 0), ((0, 3), 1), ((3, 0), -1), ((2, 0, 3), 1), ((1, 1), 0)])
def test_softmax_of_empty_and_single_axes(shape, axis):
    assert softmax(np.ones(shape), axis=axis).shape == shape
    assert log_softmax(np.ones(shape), axis=axis).shape == shape


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_keeps_the_dtype_and_sums_to_one(dtype):
    x = np.linspace(-5, 5, 7).astype(dtype)
    p = softmax(x)
    assert p.dtype == log_softmax(x).dtype == softmax_jacobian(p).dtype == dtype
    assert abs(p.sum() - 1) <= 4 * np.finfo(dtype).eps


def test_integers_become_float64():
    assert softmax([0, 0]).dtype == softmax(np.array([0, 0], np.uint8)).dtype == np.float64
    assert softmax(np.array([250, 255], np.uint8))[1] == softmax([250.0, 255.0])[1]


def test_float16_is_computed_in_float32():
    x = np.zeros(40_000, np.float16)  # float16 cannot count beyond 2048 by ones
    assert softmax(x)[0] == np.float16(1 / 40_000)
    assert log_softmax(x)[0] == np.float16(-math.log(40_000))
    p = np.full(2, 2049 / 4096, np.float32).astype(np.float16)
    assert softmax_jacobian(p)[0, 1] == -np.float16(float(p[0]) * float(p[1]))


@pytest.mark.skipif(np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="longdouble is float64 here")
def test_longdouble_is_computed_in_longdouble():
    x = np.longdouble([0, 1]) / 3
    assert abs(softmax(x)[0] - 1 / (1 + np.exp(np.longdouble(1) / 3))) < 1e-18


# log_softmax


def test_log_softmax_by_hand():
    np.testing.assert_allclose(log_softmax([0, math.log(3)]), [-math.log(4), math.log(3 / 4)], rtol=1e-15)


@pytest.mark.parametrize(
    "x, expected",
    [
        ([0, 1000], [-1000, 0]),  # the weight itself is 0 in floating point
        ([0, -1e300], [0, -1e300]),
        ([-INF, 7], [-INF, 0]),
        ([-INF, -INF], [-INF, -INF]),
        ([INF, 0], [0, -INF]),
        ([1e308, -1e308], [0, -INF]),
        ([5], [0]),
    ],
)
def test_log_softmax_of_extremes(x, expected):
    with np.errstate(all="raise"):
        assert log_softmax(x).tolist() == expected


def test_log_softmax_along_an_axis():
    x = np.random.default_rng(0).normal(size=(3, 4))
    for axis in (0, 1, -1, -2):
        np.testing.assert_allclose(log_softmax(x, axis=axis), np.log(softmax(x, axis=axis)), rtol=1e-13)
    assert np.isnan(log_softmax([NAN, 0])).all()


# softmax_jacobian


def test_jacobian_by_hand():
    assert softmax_jacobian([0.25, 0.75]).tolist() == [[0.1875, -0.1875], [-0.1875, 0.1875]]
    assert softmax_jacobian([1.0, 0.0]).tolist() == [[0, 0], [0, 0]]


def test_jacobian_against_differences():
    x, step = np.array([0.3, -1.2, 0.8, 0.1]), 1e-6
    columns = [(softmax(x + step * e) - softmax(x - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(softmax_jacobian(softmax(x)), np.stack(columns, axis=1), rtol=0, atol=1e-10)


def test_jacobian_of_a_batch_is_a_batch_of_jacobians():
    p = softmax(np.random.default_rng(0).normal(size=(2, 3, 4)))
    jacobian = softmax_jacobian(p)
    assert jacobian.shape == (2, 3, 4, 4)
    assert (jacobian[1, 2] == np.diag(p[1, 2]) - np.outer(p[1, 2], p[1, 2])).all()
    assert softmax_jacobian(np.ones((2, 0))).shape == (2, 0, 0)


def test_jacobian_of_tiny_weights_raises_nothing():
    with np.errstate(all="raise"):
        assert softmax_jacobian([1e-300, 1.0])[0, 1] == -1e-300


# attention_weights


def test_weights_by_hand():
    # dot products 1 and 1 + log 3, so the shares are 1 : 3
    weights = attention_weights([[1.0]], [[1.0], [1 + math.log(3)]])
    np.testing.assert_allclose(weights, [[0.25, 0.75]], rtol=1e-15)


def test_rows_sum_to_one_and_columns_need_not():
    Q, K = np.random.default_rng(0).normal(size=(2, 5, 4))
    weights = attention_weights(Q, K)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-15)
    assert not np.allclose(weights.sum(axis=-2), 1)


def test_default_and_given_scale():
    Q, K = np.random.default_rng(1).normal(size=(2, 3, 16))
    np.testing.assert_allclose(attention_weights(Q, K), softmax(Q @ K.T / 4), rtol=1e-14)
    np.testing.assert_allclose(attention_weights(Q, K, scale=0.5), softmax(Q @ K.T / 2), rtol=1e-14)


def test_masked_keys_get_exactly_nothing_and_the_others_share_the_rest():
    mask = np.array([[True, False, True]])
    weights = attention_weights([[0.0]], [[1.0], [2.0], [3.0]], mask=mask)
    assert weights.tolist() == [[0.5, 0, 0.5]]


def test_bias_is_added_to_the_scores():
    weights = attention_weights([[0.0]], [[1.0], [1.0]], bias=[[0.0, math.log(3)]])
    np.testing.assert_allclose(weights, [[0.25, 0.75]], rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("score", [-1e4, -1e9, -1e12, -1e37])
def test_no_allowed_score_is_low_enough_to_lose_to_a_masked_one(score, dtype):
    # A mask that fills with -1e9 instead of -inf hands all the weight to the masked key.
    Q, K = np.ones((1, 1), dtype), np.array([[score], [0.0]], dtype)
    for masked in ({"mask": [True, False]}, {"bias": [0.0, -INF]}):
        assert attention_weights(Q, K, scale=1.0, **masked).tolist() == [[1, 0]]


HIDDEN = {
    "mask": {"mask": [[False, False], [True, True]]},
    "bias": {"bias": [[-INF, -INF], [0.0, 0.0]]},
    "both, whole rows": {"mask": [[False, False], [True, True]], "bias": [[-INF, -INF], [0.0, 0.0]]},
    "both, each one key": {"mask": [[False, True], [True, True]], "bias": [[0.0, -INF], [0.0, 0.0]]},
}


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("poison", [0.0, NAN, INF, -INF])
def test_a_query_that_may_attend_to_nothing_has_no_weights(hidden, dtype, poison):
    Q = dtype([[poison], [0]])  # whatever its scores would have been
    with np.errstate(all="raise"):
        assert attention_weights(Q, dtype([[1], [1]]), **hidden).tolist() == [[0, 0], [0.5, 0.5]]


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_what_is_masked_has_no_influence(value):
    Q, K = np.ones((2, 2)), np.ones((3, 2))
    K[2] = value
    with np.errstate(all="raise"):
        for hidden in (
            {"mask": [True, True, False]},
            {"bias": [0.0, 0.0, -INF]},
            {"mask": [True, True, False], "bias": [0.0, 0.0, value]},
        ):
            assert attention_weights(Q, K, **hidden).tolist() == [[0.5, 0.5, 0]] * 2


def test_nan_that_may_be_seen_is_seen():
    Q, K = np.ones((2, 1)), np.array([[1.0], [NAN]])
    assert np.isnan(attention_weights(Q, K)).all()
    assert np.isnan(attention_weights(Q, K, mask=causal_mask(2))).tolist() == [[False, False], [True, True]]
    assert np.isnan(attention_weights(Q, Q, bias=[[NAN, 0.0], [0.0, 0.0]])).tolist() == [[True, True], [False, False]]


def test_bias_of_inf_takes_all_the_weight():
    assert attention_weights([[1.0]], [[1.0], [9.0]], bias=[INF, 0.0]).tolist() == [[1, 0]]


def test_overflowing_scores_give_finite_weights():
    for dtype, large in ((np.float16, 6e4), (np.float32, 3e38), (np.float64, 1e308)):
        weights = attention_weights(dtype([[large]]), dtype([[large], [large], [0], [-large]]))
        assert weights.tolist() == [[0.5, 0.5, 0, 0]]


def test_float16_scores_are_not_rounded_before_the_softmax():
    Q, K = np.full((1, 64), 40, np.float16), np.full((2, 64), 40, np.float16)
    K[1, 0] = 39.5  # scores 12,800 and 12,797.5 lie 2.5 apart, but float16 has only multiples of 8 there
    weights = attention_weights(Q, K)
    assert weights.dtype == np.float16
    np.testing.assert_allclose(weights, softmax(np.array([[2.5, 0]])), rtol=2e-3)
    bias = np.array([[0, 2.5]], np.float16)
    np.testing.assert_allclose(attention_weights(Q, K, bias=bias), [[0.5, 0.5]], rtol=2e-3)


@pytest.mark.parametrize("dtype", FLOATS)
def test_weights_keep_the_dtype_of_queries_and_keys_whatever_the_bias(dtype):
    Q = np.ones((2, 3), dtype)
    for bias in FLOATS:
        assert attention_weights(Q, Q, bias=np.zeros((2, 2), bias), mask=np.eye(2, dtype=bool)).dtype == dtype


def test_a_bias_of_a_wider_dtype_is_not_cut_down():
    Q, K = np.float32([[0]]), np.float32([[0], [0]])  # -1e300 is below float32's range, but it is not -inf
    assert attention_weights(Q, K, bias=[-1e300, -1e300]).tolist() == [[0.5, 0.5]]
    assert attention_weights(Q, K, bias=[0.0, -1e300]).tolist() == [[1, 0]]


@pytest.mark.parametrize(
    "shape", [(), (1,), (4,), (3, 1), (3, 4), (1, 4), (2, 1, 1), (2, 3, 4), (5, 1, 3, 4), (5, 2, 1, 1)]
)
def test_masks_and_biases_broadcast_and_may_add_leading_axes(shape):
    rng = np.random.default_rng(0)
    Q, K = rng.normal(size=(2, 3, 6)), rng.normal(size=(1, 4, 6))
    mask, bias = rng.random(shape) < 0.7, rng.normal(size=shape)
    full = np.broadcast_shapes(shape, (2, 3, 4))
    expected = softmax(np.where(np.broadcast_to(mask, full), Q @ K.mT / np.sqrt(6) + bias, -INF))
    np.testing.assert_allclose(attention_weights(Q, K, mask=mask, bias=bias), expected, rtol=1e-14)


def test_mask_and_bias_may_bring_different_leading_axes():
    Q, K, mask, bias = np.ones((2, 1)), np.ones((3, 1)), np.ones((5, 1, 1), bool), np.zeros((4, 1, 2, 3))
    assert attention_weights(Q, K, mask=mask, bias=bias).shape == (4, 5, 2, 3)


def test_empty_axes():
    assert attention_weights(np.ones((2, 3)), np.ones((0, 3)), mask=np.ones((2, 0), bool)).shape == (2, 0)
    assert attention_weights(np.ones((0, 3)), np.ones((4, 3)), mask=np.ones((1, 4), bool)).shape == (0, 4)
    assert attention_weights(np.ones((2, 0)), np.ones((4, 0))).tolist() == [[0.25] * 4] * 2
