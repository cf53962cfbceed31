"""What must hold for any input: shapes, numbers and masks are drawn by Hypothesis, extremes first.

The draws are the same on every run. To look further:

    HYPOTHESIS_PROFILE=explore python -m pytest tests/test_properties.py
"""

import os

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from loops import attention_in_loops

from attention_lib import (
    attention,
    attention_backward,
    attention_scores,
    attention_weights,
    block_diagonal_mask,
    causal_mask,
    log_softmax,
    padding_mask,
    softmax,
    softmax_jacobian,
    window_mask,
)

# No deadline: a shared machine may pause anywhere.
settings.register_profile("same", derandomize=True, database=None, deadline=None, max_examples=100)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

DTYPES = st.sampled_from([np.float16, np.float32, np.float64])
SIGNATURE = "(n,d),(m,d),(m,v),(n,m),(n,m)->(n,v)"  # Q, K, V, mask, bias


def arrays(shape, dtype=np.float64, bound=8.0, **options):
    """Return a strategy for arrays of numbers of moderate size, with zeros, repeats and round numbers among them."""
    width = 8 * np.dtype(dtype).itemsize
    elements = st.floats(-bound, bound, width=width, allow_subnormal=False) | st.sampled_from([0.0, 1.0, -1.0, bound])
    return hnp.arrays(dtype, shape, elements=elements, **options)


@st.composite
def inputs(draw, dtype=np.float64, bound=8.0, min_side=0):
    """Draw Q, K, V, mask and bias whose leading axes broadcast; any axis may be empty or of size 1."""
    drawn = hnp.mutually_broadcastable_shapes(signature=SIGNATURE, max_dims=2, min_side=min_side, max_side=4)
    *shapes, mask_shape, bias_shape = draw(drawn).input_shapes
    Q, K, V = (draw(arrays(shape, dtype, bound)) for shape in shapes)
    mask, bias = draw(hnp.arrays(bool, mask_shape)), draw(arrays(bias_shape, dtype, bound))
    return Q, K, V, mask, bias


def vectors(dtype=np.float64, **options):
    """Return a strategy for batches of vectors to take a softmax of; -inf may be among their entries."""
    shapes = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5)
    finite = st.floats(width=8 * np.dtype(dtype).itemsize, allow_nan=False, allow_infinity=False)
    return hnp.arrays(dtype, shapes, elements=finite | st.just(-np.inf), **options)


# softmax


@given(st.data(), DTYPES)
def test_weights_of_any_finite_scores_sum_to_one_and_keep_their_order(data, dtype):
    x = data.draw(vectors(dtype))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    p = softmax(x, axis=axis)
    assert p.dtype == dtype
    assert p.shape == x.shape
    assert ((0 <= p) & (p <= 1)).all()
    assert (p[x == -np.inf] == 0).all()
    shared = (x > -np.inf).any(axis=axis)  # where there is anything to share
    np.testing.assert_allclose(p.sum(axis=axis, dtype=float), shared, atol=5 * np.finfo(dtype).eps)
    by_score = np.take_along_axis(p, np.argsort(x, axis=axis), axis=axis)
    assert (np.diff(by_score, axis=axis) >= 0).all()


@given(st.data())
def test_adding_a_constant_to_a_row_changes_nothing(data):
    # Eighths, and whole numbers below 2**40 to add to them: such sums are exact, so the weights are equal to the bit.
    x = data.draw(hnp.arrays(float, (3, 4), elements=st.integers(-800, 800).map(lambda eighths: eighths / 8)))
    shift = data.draw(hnp.arrays(float, (3, 1), elements=st.integers(-(2**40), 2**40).map(float)))
    assert (softmax(x + shift) == softmax(x)).all()
    assert (log_softmax(x + shift) == log_softmax(x)).all()


@given(arrays((2, 5)))
def test_differences_of_scores_are_ratios_of_weights(x):
    p = softmax(x)
    np.testing.assert_allclose(p[:, 1:] / p[:, :1], np.exp(x[:, 1:] - x[:, :1]), rtol=1e-13)


@given(vectors())
def test_log_softmax_is_the_logarithm_of_softmax(x):
    np.testing.assert_allclose(np.exp(log_softmax(x)), softmax(x), rtol=1e-12, atol=1e-300)
    assert (log_softmax(x) <= 0).all()
    assert (log_softmax(x)[x == -np.inf] == -np.inf).all()


@given(arrays((3, 4)))
def test_jacobian_is_symmetric_with_rows_of_sum_zero_and_eigenvalues_between_zero_and_half(x):
    jacobian = softmax_jacobian(softmax(x))
    assert (jacobian == jacobian.mT).all()
    np.testing.assert_allclose(jacobian.sum(axis=-1), 0, atol=1e-15)
    eigenvalues = np.linalg.eigvalsh(jacobian)
    assert (eigenvalues > -1e-15).all()
    assert (eigenvalues < 0.5 + 1e-15).all()


# attention


@given(inputs(bound=3.0), st.none() | st.floats(-2, 2))
def test_loops_and_matrices_agree(drawn, scale):
    Q, K, V, mask, bias = drawn
    assume(scale != 0)  # 0 stands for "no scale" in the loops
    output, weights = attention(Q, K, V, mask=mask, bias=bias, scale=scale, return_weights=True)
    expected_output, expected_weights = attention_in_loops(Q, K, V, mask=mask, bias=bias, scale=scale)
    assert output.shape == expected_output.shape
    assert weights.shape == expected_weights.shape
    np.testing.assert_allclose(weights, expected_weights, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(output, expected_output, rtol=1e-11, atol=1e-13)


@given(inputs(bound=3.0), st.integers(0, 2**32 - 1))
def test_gradient_says_how_far_a_small_step_in_any_direction_leads(drawn, seed):
    *arrays, mask, bias = drawn
    rng = np.random.default_rng(seed)
    dO = rng.normal(size=attention(*arrays, mask=mask, bias=bias).shape)
    directions = [rng.normal(size=array.shape) for array in arrays]
    gradients = attention_backward(dO, *arrays, mask=mask, bias=bias)
    assert [gradient.shape for gradient in gradients] == [array.shape for array in arrays]
    ends = []
    for step in (np.longdouble(1e-6), np.longdouble(-1e-6)):
        moved = [array + step * direction for array, direction in zip(arrays, directions, strict=True)]
        ends.append((dO * attention(*moved, mask=mask, bias=bias)).sum())
    promised = sum((g * direction).sum() for g, direction in zip(gradients, directions, strict=True))
    np.testing.assert_allclose(promised, (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-6)


@given(st.data(), DTYPES)
def test_rows_sum_to_one_or_to_zero_where_nothing_is_allowed(data, dtype):
    Q, K, _, mask, bias = data.draw(inputs(dtype))
    weights = attention_weights(Q, K, mask=mask, bias=bias)
    assert weights.dtype == dtype
    allowed = np.broadcast_to(mask, weights.shape)
    assert not weights[~allowed].any()
    np.testing.assert_allclose(weights.sum(axis=-1, dtype=float), allowed.any(axis=-1), atol=5 * np.finfo(dtype).eps)


# The dtype that each one is computed in.
WIDER = {np.float16: np.float32, np.float32: np.float32, np.float64: np.float64}


@given(st.data(), DTYPES)
def test_huge_queries_and_keys_give_finite_weights(data, dtype):
    largest = float(np.finfo(dtype).max)
    elements = st.floats(0, largest, width=8 * np.dtype(dtype).itemsize) | st.just(largest)
    Q, K = (data.draw(hnp.arrays(dtype, shape, elements=elements)) for shape in ((3, 2), (4, 2)))
    for keys in (K, -K):
        weights = attention_weights(Q, keys)
        # A score below the dtype's range is -inf, as if masked. float16 is safe: its products fit in float32.
        reachable = (attention_scores(Q.astype(WIDER[dtype]), keys.astype(WIDER[dtype])) > -np.inf).any(axis=-1)
        np.testing.assert_allclose(weights.sum(axis=-1, dtype=float), reachable, atol=4 * np.finfo(dtype).eps)


@given(inputs(min_side=1))
def test_outputs_lie_between_the_values_read(drawn):
    Q, K, V, mask, bias = drawn
    output, weights = attention(Q, K, V, mask=mask, bias=bias, return_weights=True)
    read = (weights > 0)[..., None]  # (..., N, M, 1)
    values = V[..., None, :, :]  # (..., 1, M, d_v)
    seen = read.any(axis=-2) & np.ones(output.shape, bool)
    low = np.min(np.where(read, values, np.inf), axis=-2)
    high = np.max(np.where(read, values, -np.inf), axis=-2)
    assert ((low - 1e-13 <= output) & (output <= high + 1e-13))[seen].all()
    assert (output[~seen] == 0).all()


@given(st.data(), arrays((4, 2)), arrays((5, 2)), arrays((5, 3)))
def test_output_rows_lie_in_the_convex_hull_of_the_values(data, Q, K, V):
    # The hull is where no direction goes further than some value does.
    output = attention(Q, K, V)
    directions = np.random.default_rng(data.draw(st.integers(0, 9))).normal(size=(3, 50))
    assert (output @ directions <= (V @ directions).max(axis=0) + 1e-12).all()


@given(st.data(), arrays((4, 3)), arrays((5, 3)), arrays((5, 2)), hnp.arrays(bool, (4, 5)))
def test_order_of_keys_does_not_matter_and_order_of_queries_is_kept(data, Q, K, V, mask):
    output = attention(Q, K, V, mask=mask)
    keys, queries = data.draw(st.permutations(range(5))), data.draw(st.permutations(range(4)))
    np.testing.assert_allclose(attention(Q, K[keys], V[keys], mask=mask[:, keys]), output, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(attention(Q[queries], K, V, mask=mask[queries]), output[queries], rtol=1e-10, atol=1e-12)


@given(st.data(), st.integers(1, 5), st.integers(1, 5))
def test_the_future_does_not_leak(data, n, m):
    Q, K, V = data.draw(arrays((n, 2))), data.draw(arrays((m, 2))), data.draw(arrays((m, 3)))
    now = data.draw(st.integers(0, m - 1))  # the last key that stays as it is
    other = data.draw(st.sampled_from([0.0, 1e9, -1e9, np.inf, -np.inf, np.nan]))
    changed_K, changed_V = K.copy(), V.copy()
    changed_K[now + 1 :] = changed_V[now + 1 :] = other
    for align, offset in (("bottom-right", m - n), ("top-left", 0)):
        mask = causal_mask(n, m, align=align)
        past = np.arange(n) + offset <= now  # the queries that stand at `now` or before
        before, after = attention(Q, K, V, mask=mask), attention(Q, changed_K, changed_V, mask=mask)
        assert (after[past] == before[past]).all()


@given(st.data(), DTYPES)
def test_what_is_masked_has_no_influence(data, dtype):
    Q, K, V, mask, bias = data.draw(inputs(dtype))
    poison = dtype(data.draw(st.sampled_from([np.nan, np.inf, -np.inf, 5.0])))
    expected = attention(Q, K, V, mask=mask, bias=bias, return_weights=True)

    axes = tuple(range(mask.ndim - 2))
    unread_keys = ~mask.any(axis=(*axes, -2))  # by any query of any batch entry
    idle_queries = ~mask.any(axis=(*axes, -1))
    poisoned_Q, poisoned_K, poisoned_V = Q.copy(), K.copy(), V.copy()
    poisoned_Q[..., idle_queries, :] = poisoned_K[..., unread_keys, :] = poisoned_V[..., unread_keys, :] = poison
    poisoned_bias = np.where(mask, bias, poison)

    got = attention(poisoned_Q, poisoned_K, poisoned_V, mask=mask, bias=poisoned_bias, return_weights=True)
    for result, clean in zip(got, expected, strict=True):
        np.testing.assert_array_equal(*np.broadcast_arrays(result, clean))


@given(inputs())
def test_a_bias_of_minus_inf_is_a_mask(drawn):
    Q, K, V, mask, _ = drawn
    by_mask = attention(Q, K, V, mask=mask, return_weights=True)
    by_bias = attention(Q, K, V, bias=np.where(mask, 0.0, -np.inf), return_weights=True)
    for one, other in zip(by_mask, by_bias, strict=True):
        assert (one == other).all()


def attend(Q, K, V, mask, bias):
    return attention(Q, K, V, mask=mask, bias=bias, return_weights=True)


@given(st.data(), DTYPES)
def test_nothing_is_changed_and_views_and_dtypes_are_kept(data, dtype):
    given_arrays = data.draw(inputs(dtype))
    copies = [array.copy() for array in given_arrays]
    awkward = []
    for array in given_arrays:
        view = np.repeat(array, 2, axis=-1)[..., ::2]  # strided
        view.flags.writeable = False
        awkward.append(view)
    output, weights = attend(*given_arrays)
    assert output.dtype == weights.dtype == dtype
    for array, copy in zip(given_arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    tolerance = {np.float16: 2e-2, np.float32: 1e-4, np.float64: 1e-12}[dtype]  # another order of summation
    for result, expected in zip(attend(*awkward), (output, weights), strict=True):
        np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


# masks


@given(st.integers(0, 6), st.integers(0, 6), st.none() | st.integers(0, 8), st.none() | st.integers(0, 8))
def test_windows_nest_and_meet_causal_masks(n, m, left, right):
    window = window_mask(n, m, left=left, right=right)
    assert (window <= window_mask(n, m, left=left, right=None)).all()
    assert (window <= window_mask(n, m, left=None, right=right)).all()
    both = window_mask(n, m, left=left, right=None) & window_mask(n, m, left=None, right=right)
    assert (window == both).all()
    assert ((window & causal_mask(n, m)) == window_mask(n, m, left=left, right=0)).all()


@given(st.lists(st.integers(0, 4), max_size=5))
def test_packed_and_padded_sequences_give_the_same_outputs(lengths):
    rng = np.random.default_rng(0)
    total, longest = sum(lengths), max(lengths, default=0)
    packed = rng.normal(size=(total, 3))
    padded = np.full((len(lengths), longest, 3), np.nan)
    for row, length, end in zip(padded, lengths, np.cumsum(lengths), strict=True):
        row[:length] = packed[end - length : end]
    from_packed = attention(packed, packed, packed, mask=block_diagonal_mask(lengths))
    from_padded = attention(padded, padded, padded, mask=padding_mask(lengths, longest))
    real = padding_mask(lengths, longest)[:, 0]  # (s, longest): the queries that are not padding
    np.testing.assert_allclose(from_padded[real], from_packed, rtol=1e-12)


def test_profile_draws_the_same_on_every_run():
    assert settings.default.derandomize or os.environ["HYPOTHESIS_PROFILE"] == "explore"
