"""Gradients of the softmax and of attention, against differences of the functions themselves."""

import numpy as np
import pytest

from attention_lib import attention, attention_backward, causal_mask, softmax, softmax_backward, softmax_jacobian

FLOATS = [np.float16, np.float32, np.float64, np.longdouble]
INF, NAN = np.inf, np.nan
STEP = 1e-5


def differences(f, arrays, which):
    """Return the gradient of the number f(*arrays) with respect to one of them, entry by entry."""
    gradient = np.zeros(arrays[which].shape)
    for place in np.ndindex(gradient.shape):
        ends = []
        for step in (STEP, -STEP):
            moved = [array.astype(np.longdouble) for array in arrays]  # more digits, so that a small step loses few
            moved[which][place] += step
            ends.append(f(*moved))
        gradient[place] = (ends[0] - ends[1]) / (2 * STEP)
    return gradient


def assert_gradients_of_attention(dO, Q, K, V, **options):
    gradients = attention_backward(dO, Q, K, V, **options)
    for which, gradient in enumerate(gradients):
        expected = differences(lambda *arrays: (dO * attention(*arrays, **options)).sum(), (Q, K, V), which)
        assert gradient.shape == expected.shape
        np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-8)


class TestSoftmax:
    def test_two_equal_weights_by_hand(self):
        assert softmax_backward([0.5, 0.5], [1, 0]).tolist() == [0.25, -0.25]

    def test_is_the_jacobian_times_the_gradient(self):
        rng = np.random.default_rng(0)
        p, dp = softmax(rng.normal(size=(3, 4, 5))), rng.normal(size=(3, 4, 5))
        expected = (softmax_jacobian(p) @ dp[..., None])[..., 0]
        np.testing.assert_allclose(softmax_backward(p, dp), expected, rtol=1e-13, atol=1e-15)

    def test_differences_agree(self):
        rng = np.random.default_rng(1)
        x, dp = rng.normal(size=(2, 6)), rng.normal(size=(2, 6))
        expected = differences(lambda x: (dp * softmax(x)).sum(), [x], 0)
        np.testing.assert_allclose(softmax_backward(softmax(x), dp), expected, rtol=1e-9)

    @pytest.mark.parametrize("special", [NAN, INF, -INF])
    def test_what_has_no_weight_has_no_say(self, special):
        assert softmax_backward([0.5, 0.0, 0.5], [1, special, 0]).tolist() == [0.25, 0, -0.25]
        assert softmax_backward([0.0, 0.0], [special, 1]).tolist() == [0, 0]

    def test_same_gradient_everywhere_moves_nothing(self):
        dx = softmax_backward(softmax(np.arange(4.0)), np.full(4, 7.0))
        np.testing.assert_allclose(dx, np.zeros(4), atol=1e-15)

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_dtype_is_kept(self, dtype):
        assert softmax_backward(np.array([0.5, 0.5], dtype), np.array([1, 0], dtype)).dtype == dtype

    def test_float16_is_computed_in_float32(self):
        p = np.full(4, 0.25, np.float16)
        assert softmax_backward(p, np.float16([60000, 60000, 60000, -60000])).tolist()[:3] == [7500, 7500, 7500]


class TestAttention:
    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("scale", [None, 1.0, -0.7])
    def test_differences_agree(self, seed, scale):
        rng = np.random.default_rng(seed)
        dO, Q, K, V = (rng.normal(size=shape) for shape in ((3, 2), (3, 4), (5, 4), (5, 2)))
        assert_gradients_of_attention(dO, Q, K, V, scale=scale)

    def test_differences_agree_with_mask_and_bias(self):
        rng = np.random.default_rng(3)
        dO, Q, K, V = (rng.normal(size=shape) for shape in ((2, 4, 3), (2, 4, 2), (2, 6, 2), (2, 6, 3)))
        mask, bias = rng.random((2, 4, 6)) < 0.6, rng.normal(size=(4, 6))
        mask[0, 1] = False  # a query that may attend to nothing
        bias[2, 3] = -INF
        assert_gradients_of_attention(dO, Q, K, V, mask=mask, bias=bias)
        assert_gradients_of_attention(dO, Q, K, V, mask=causal_mask(4, 6))

    @pytest.mark.parametrize(
        ("q", "k", "v", "mask", "output"),
        [
            ((), (), (), (3,), (3,)),  # the mask alone has a leading axis
            ((3,), (), (), (), (3,)),
            ((), (3,), (1,), (), (3,)),
            ((2, 1), (3,), (1, 1), (), (2, 3)),
            ((1,), (2,), (4, 1), (), (4, 2)),
        ],
    )
    def test_gradient_of_what_is_broadcast_is_a_sum(self, q, k, v, mask, output):
        rng = np.random.default_rng(4)
        Q, K, V, dO = (rng.normal(size=(*a, *b)) for a, b in ((q, (2, 3)), (k, (4, 3)), (v, (4, 2)), (output, (2, 2))))
        assert_gradients_of_attention(dO, Q, K, V, mask=rng.random((*mask, 2, 4)) < 0.7)

    def test_empty_axes(self):
        dQ, dK, dV = attention_backward(np.ones((2, 3)), np.ones((2, 4)), np.ones((0, 4)), np.ones((0, 3)))
        assert (dQ == 0).all() and dQ.shape == (2, 4) and dK.shape == (0, 4) and dV.shape == (0, 3)
        dQ, dK, dV = attention_backward(np.ones((0, 2, 3)), np.ones((0, 2, 4)), np.ones((1, 5, 4)), np.ones((5, 3)))
        assert (dQ.shape, dK.shape, dV.shape) == ((0, 2, 4), (1, 5, 4), (5, 3))
        assert (dK == 0).all() and (dV == 0).all()

    @pytest.mark.parametrize("special", [NAN, INF, -INF])
    def test_what_is_masked_out_has_no_influence(self, special):
        rng = np.random.default_rng(5)
        dO, Q, K, V = rng.normal(size=(4, 3, 2))
        mask = np.array([[True, True, False], [True, True, False], [False, False, False]])
        clean = attention_backward(dO, Q, K, V, mask=mask)
        K[2], V[2], Q[2], dO[2] = special, special, special, special  # the key, and the query, that nobody attends to
        for gradient, expected in zip(attention_backward(dO, Q, K, V, mask=mask), clean, strict=True):
            assert (gradient == expected).all()
            assert (gradient[2] == 0).all()

    @pytest.mark.parametrize("special", [NAN, INF, -INF])
    def test_what_is_not_finite_in_the_gradient_goes_where_it_was_read(self, special):
        A = np.array([[False, True, True]])
        _, _, dV = attention_backward([[special, 2.0]], [[1.0]], np.ones((3, 1)), np.ones((3, 2)), mask=A)
        np.testing.assert_array_equal(dV, [[0, 0], [special, 1], [special, 1]])

    @pytest.mark.parametrize("dtype", FLOATS)
    def test_dtype_is_kept(self, dtype):
        arrays = [np.eye(3, dtype=dtype)] * 4
        assert {gradient.dtype for gradient in attention_backward(*arrays)} == {np.dtype(dtype)}

    def test_integers_become_float64(self):
        assert {g.dtype for g in attention_backward([[1]], [[1]], [[1]], [[1]])} == {np.dtype(np.float64)}

    def test_float16_is_as_good_as_float32_rounded(self):
        rng = np.random.default_rng(6)
        arrays = rng.normal(size=(4, 3, 3)).astype(np.float16)
        for half, single in zip(
            attention_backward(*arrays), attention_backward(*arrays.astype(np.float32)), strict=True
        ):
            assert (half == single.astype(np.float16)).all()

    def test_arguments_are_left_alone(self):
        arrays = [np.eye(3) for _ in range(4)]
        for array in arrays:
            array.setflags(write=False)
        attention_backward(*arrays, mask=causal_mask(3))
