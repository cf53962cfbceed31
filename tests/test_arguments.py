"""What the library says to wrong input: every message, word for word, since a reader learns from it."""

from fractions import Fraction

import numpy as np
import pytest

from attention_lib import (
    attention,
    attention_backward,
    attention_scores,
    attention_weights,
    block_diagonal_mask,
    causal_mask,
    init_weights,
    log_softmax,
    padding_mask,
    softmax,
    softmax_backward,
    softmax_jacobian,
    window_mask,
)

Q, K, V = np.ones((5, 4)), np.ones((6, 4)), np.ones((6, 2))


def refuses(message, error, function, *args, **kwargs):
    return pytest.param(message, error, function, args, kwargs, id=message[:60])


REAL = "must hold real numbers, got dtype"
WHICH = "pass mask=array.astype(bool) if 1 means may attend, or bias=array.astype(float) to add it to the scores"
P_DP = np.ones(2), np.ones(3)
RNG = "rng must be a numpy.random.Generator, such as np.random.default_rng(0)"
SCHEME = "scheme must be one of 'unit', 'xavier', 't5'"

MESSAGES = [
    # what is not made of real numbers
    refuses(f"Q {REAL} complex128", TypeError, attention, Q + 1j, K, V),
    refuses(f"K {REAL} <U3", TypeError, attention, Q, "key", V),
    refuses(f"V {REAL} object", TypeError, attention, Q, K, None),
    refuses(f"Q {REAL} <U1", TypeError, attention_scores, [["1", "2"]], K),
    refuses(f"K {REAL} object", TypeError, attention_weights, Q, np.array([[1.0, None]])),
    refuses(f"K {REAL} datetime64[D]", TypeError, attention_scores, Q, np.array([["2017-06-12"]], "M8[D]")),
    refuses(f"x {REAL} |S1", TypeError, softmax, [b"1"]),
    refuses(f"x {REAL} object", TypeError, log_softmax, {1.0: 2.0}),
    refuses(f"p {REAL} complex64", TypeError, softmax_jacobian, np.complex64([1])),
    refuses(f"x {REAL} object", TypeError, softmax, [Fraction(1, 2)]),
    refuses(f"x {REAL} object", TypeError, softmax, [10**400]),
    # shapes of Q, K and V
    refuses("Q must have shape (..., N, d_k), got shape (4,)", ValueError, attention, Q[0], K, V),
    refuses("Q must have shape (..., N, d_k), got shape ()", ValueError, attention_scores, 1.0, K),
    refuses("K must have shape (..., M, d_k), got shape (4,)", ValueError, attention_weights, Q, K[0]),
    refuses("V must have shape (..., M, d_v), got shape (6,)", ValueError, attention, Q, K, V[:, 0]),
    refuses("Q has d_k = 4 but K has d_k = 3 (Q: (5, 4), K: (6, 3))", ValueError, attention, Q, K[:, :3], V),
    refuses("Q has d_k = 4 but K has d_k = 0 (Q: (5, 4), K: (6, 0))", ValueError, attention_scores, Q, K[:, :0]),
    refuses("Q has d_k = 1 but K has d_k = 4 (Q: (5, 1), K: (6, 4))", ValueError, attention_scores, Q[:, :1], K),
    refuses("K has M = 6 but V has M = 5 (K: (6, 4), V: (5, 2))", ValueError, attention, Q, K, V[:5]),
    refuses("K has M = 6 but V has M = 1 (K: (6, 4), V: (1, 2))", ValueError, attention, Q, K, V[:1]),
    refuses(
        "leading axes do not broadcast (Q: (2, 5, 4), K: (3, 6, 4))",
        ValueError, attention_scores, np.ones((2, 5, 4)), np.ones((3, 6, 4)),
    ),
    refuses(
        "leading axes do not broadcast (weights: (2, 5, 6), V: (3, 6, 2))",
        ValueError, attention, np.ones((2, 5, 4)), K, np.ones((3, 6, 2)),
    ),
    refuses(
        "leading axes do not broadcast (weights: (2, 5, 6), V: (3, 6, 2))",
        ValueError, attention, Q, K, np.ones((3, 6, 2)), mask=np.ones((2, 1, 1), bool),
    ),
    # mask and bias
    refuses(f"mask must be boolean (True = may attend), got dtype int64: {WHICH}", TypeError,
            attention, Q, K, V, mask=np.ones((5, 6), np.int64)),
    refuses(f"mask must be boolean (True = may attend), got dtype uint8: {WHICH}", TypeError,
            attention_weights, Q, K, mask=np.ones((5, 6), np.uint8)),
    refuses("mask must be boolean (True = may attend), got dtype float64: pass an additive mask as bias", TypeError,
            attention, Q, K, V, mask=np.zeros((5, 6))),
    refuses("mask must be boolean (True = may attend), got dtype <U6", TypeError,
            attention, Q, K, V, mask="causal"),
    refuses("mask must be boolean (True = may attend), got dtype object", TypeError,
            attention_weights, Q, K, mask=[[True, None]]),
    refuses("bias must be floating (added to the scores), got dtype bool: pass a boolean mask as mask", TypeError,
            attention, Q, K, V, bias=np.ones((5, 6), bool)),
    refuses(f"bias must be floating (added to the scores), got dtype int32: {WHICH}", TypeError,
            attention_weights, Q, K, bias=np.zeros((5, 6), np.int32)),
    refuses(f"bias must be floating (added to the scores), got dtype uint16: {WHICH}", TypeError,
            attention_weights, Q, K, bias=np.zeros((5, 6), np.uint16)),
    refuses("bias must be floating (added to the scores), got dtype complex128", TypeError,
            attention_weights, Q, K, bias=np.zeros((5, 6), complex)),
    refuses("mask must broadcast to the scores' shape (5, 6), got shape (6, 5)", ValueError,
            attention, Q, K, V, mask=np.ones((6, 5), bool)),
    refuses("mask must broadcast to the scores' shape (1, 6), got shape (5, 6)", ValueError,
            attention, Q[:1], K, V, mask=np.ones((5, 6), bool)),  # would make five queries of one
    refuses("mask must broadcast to the scores' shape (5, 1), got shape (6,)", ValueError,
            attention_weights, Q, K[:1], mask=np.ones(6, bool)),  # would make six keys of one
    refuses("mask must broadcast to the scores' shape (2, 5, 6), got shape (3, 5, 6)", ValueError,
            attention_weights, np.ones((2, 5, 4)), K, mask=np.ones((3, 5, 6), bool)),
    refuses("bias must broadcast to the scores' shape (5, 6), got shape (5,)", ValueError,
            attention_weights, Q, K, bias=np.zeros(5)),
    refuses("bias must broadcast to the scores' shape (1, 6), got shape (0, 6)", ValueError,
            attention_weights, Q[:1], K, bias=np.zeros((0, 6))),
    # scale
    refuses("scale must be one real number, got '1/8'", TypeError, attention, Q, K, V, scale="1/8"),
    refuses("scale must be one real number, got True", TypeError, attention_weights, Q, K, scale=True),
    refuses("scale must be one real number, got np.True_", TypeError, attention_scores, Q, K, scale=np.True_),
    refuses("scale must be one real number, got array(True)", TypeError, attention_scores, Q, K, scale=np.array(True)),
    refuses("scale must be one real number, got 1j", TypeError, attention_scores, Q, K, scale=1j),
    refuses("scale must be one real number, got np.complex64(1+0j)", TypeError,
            attention_scores, Q, K, scale=np.complex64(1)),
    refuses("scale must be one real number, got array([0.5])", TypeError,
            attention_scores, Q, K, scale=np.array([0.5])),
    refuses("scale must be one real number, got [0.5]", TypeError, attention_scores, Q, K, scale=[0.5]),
    refuses("scale must be finite in float64, got nan", ValueError, attention_scores, Q, K, scale=np.nan),
    refuses("scale must be finite in float64, got -inf", ValueError, attention, Q, K, V, scale=-np.inf),
    refuses("scale must be finite in float32, got 1e+300", ValueError,
            attention, np.float32(Q), np.float32(K), np.float32(V), scale=1e300),
    # the axis of a softmax, and its place
    refuses("x has no axis 2: its shape is (5, 4)", ValueError, softmax, Q, axis=2),
    refuses("x has no axis -3: its shape is (5, 4)", ValueError, log_softmax, Q, axis=-3),
    refuses("x has no axis -1: its shape is ()", ValueError, softmax, 1.0),
    refuses("x has no axis 0: its shape is ()", ValueError, log_softmax, 1.0, axis=0),
    refuses("axis must be an integer, got 1.0", TypeError, softmax, Q, axis=1.0),
    refuses("axis must be an integer, got None", TypeError, log_softmax, Q, axis=None),
    refuses("axis must be an integer, got (0, 1)", TypeError, softmax, Q, axis=(0, 1)),
    refuses("axis must be an integer, got True", TypeError, softmax, Q, axis=True),
    refuses("p must have shape (..., n), got shape ()", ValueError, softmax_jacobian, 0.5),
    # sizes of masks
    refuses("n must be an integer, got 3.0", TypeError, causal_mask, 3.0),
    refuses("n must be an integer, got True", TypeError, causal_mask, True),
    refuses("n must be an integer, got None", TypeError, window_mask, None, left=0, right=0),
    refuses("m must be an integer, got '4'", TypeError, causal_mask, 3, "4"),
    refuses("m must be an integer, got np.False_", TypeError, window_mask, 3, np.False_, left=0, right=0),
    refuses("m must be an integer, got 2.5", TypeError, padding_mask, [1], 2.5),
    refuses("left must be an integer, got 1.0", TypeError, window_mask, 3, left=1.0, right=0),
    refuses("right must be an integer, got inf", TypeError, window_mask, 3, left=0, right=np.inf),
    refuses("n must be 0 or more, got -1", ValueError, causal_mask, -1),
    refuses("m must be 0 or more, got -2", ValueError, causal_mask, 3, -2),
    refuses("n must be 0 or more, got -1", ValueError, window_mask, -1, left=0, right=0),
    refuses("m must be 0 or more, got -1", ValueError, window_mask, 1, -1, left=0, right=0),
    refuses("left must be 0 or more, got -1", ValueError, window_mask, 3, left=-1, right=0),
    refuses("right must be 0 or more, got -1", ValueError, window_mask, 3, left=0, right=-1),
    refuses("m must be 0 or more, got -1", ValueError, padding_mask, [0], -1),
    refuses('align must be "bottom-right" or "top-left", got \'bottom_right\'', ValueError,
            causal_mask, 3, align="bottom_right"),
    refuses('align must be "bottom-right" or "top-left", got None', ValueError, causal_mask, 3, align=None),
    refuses('align must be "bottom-right" or "top-left", got array([1, 2])', ValueError,
            causal_mask, 3, align=np.array([1, 2])),
    # lengths
    refuses("lengths must hold integers, got dtype float64", TypeError, padding_mask, [1.0, 2.0], 3),
    refuses("lengths must hold integers, got dtype bool", TypeError, padding_mask, [True, False], 3),
    refuses("lengths must hold integers, got dtype float64", TypeError, block_diagonal_mask, [1.5]),
    refuses("lengths must be 0 or more, got -1", ValueError, padding_mask, [2, -1], 3),
    refuses("lengths must be at most m = 3, got 4", ValueError, padding_mask, [2, 4], 3),
    refuses("lengths must be 0 or more, got -2", ValueError, block_diagonal_mask, [3, -2]),
    refuses(f"lengths must sum to the size of an array, got {2**64}", ValueError, block_diagonal_mask, [2**62] * 4),
    refuses(f"lengths must sum to the size of an array, got {2**64}", ValueError,
            block_diagonal_mask, np.array([2**64 - 1, 1], np.uint64)),
    refuses("lengths must have shape (s,), got shape ()", ValueError, block_diagonal_mask, 3),
    refuses("lengths must have shape (s,), got shape (1, 2)", ValueError, block_diagonal_mask, [[1, 2]]),
    # gradients
    refuses(f"dp {REAL} complex128", TypeError, softmax_backward, [1.0], [1j]),
    refuses("p and dp must have the same shape (..., n) (p: (2,), dp: (3,))", ValueError, softmax_backward, *P_DP),
    refuses("p and dp must have the same shape (..., n) (p: (), dp: ())", ValueError, softmax_backward, 1.0, 1.0),
    refuses(f"dO {REAL} <U2", TypeError, attention_backward, "dO", Q, K, V),
    refuses("dO must have the output's shape (5, 2), got shape (2,)", ValueError, attention_backward, V[0], Q, K, V),
    refuses("dO must have the output's shape (5, 2), got shape (6, 2)", ValueError, attention_backward, V, Q, K, V),
    refuses("K has M = 6 but V has M = 5 (K: (6, 4), V: (5, 2))", ValueError, attention_backward, V, Q, K, V[1:]),
    refuses("scale must be finite in float64, got inf", ValueError, attention_backward, V, Q, K, V, scale=np.inf),
    # weight matrices
    refuses(f"{RNG}, got 0", TypeError, init_weights, 0, 4, 4),
    refuses(f"{RNG}, got None", TypeError, init_weights, None, 4, 4),
    refuses("d_model must be an integer, got 4.0", TypeError, init_weights, np.random.default_rng(0), 4.0, 4),
    refuses("d_head must be 1 or more, got 0", ValueError, init_weights, np.random.default_rng(0), 4, 0),
    refuses("n_heads must be 0 or more, got -1", ValueError, init_weights, np.random.default_rng(0), 4, 4, -1),
    refuses(f"{SCHEME}, got 'T5'", ValueError, init_weights, np.random.default_rng(0), 4, 4, scheme="T5"),
    refuses(f"{SCHEME}, got None", ValueError, init_weights, np.random.default_rng(0), 4, 4, scheme=None),
    refuses(f"{SCHEME}, got ['t5']", ValueError, init_weights, np.random.default_rng(0), 4, 4, scheme=["t5"]),
]


@pytest.mark.parametrize("message, error, function, args, kwargs", MESSAGES)
def test_message(message, error, function, args, kwargs):
    with pytest.raises((TypeError, ValueError)) as caught:
        function(*args, **kwargs)
    assert str(caught.value) == message
    assert type(caught.value) is error


RAGGED = [[1.0, 2.0], [3.0]]


@pytest.mark.parametrize(
    "name, function, args, kwargs",
    [
        ("Q", attention_scores, (RAGGED, K), {}),
        ("K", attention_weights, (Q, RAGGED), {}),
        ("V", attention, (Q, K, RAGGED), {}),
        ("mask", attention, (Q, K, V), {"mask": [[True], [True, False]]}),
        ("bias", attention_weights, (Q, K), {"bias": RAGGED}),
        ("scale", attention_scores, (Q, K), {"scale": RAGGED}),
        ("x", softmax, (RAGGED,), {}),
        ("p", softmax_jacobian, (RAGGED,), {}),
        ("lengths", padding_mask, ([[1], [2, 3]], 3), {}),
        ("lengths", block_diagonal_mask, ([[1], [2, 3]],), {}),
    ],
)
def test_ragged_lists(name, function, args, kwargs):
    with pytest.raises(ValueError, match=f"^{name} must be a rectangular array: "):
        function(*args, **kwargs)


HIDING = np.ma.masked_invalid([[1.0, np.nan]])


@pytest.mark.parametrize(
    "name, function, args, kwargs",
    [
        ("Q", attention, (HIDING, K, V), {}),
        ("x", softmax, (HIDING,), {}),
        ("mask", attention, (Q, K, V), {"mask": np.ma.array([True] * 6)}),
        ("lengths", padding_mask, (np.ma.array([1]), 3), {}),
    ],
)
def test_masked_arrays(name, function, args, kwargs):
    # np.asarray would bring back the very entries that they hide.
    with pytest.raises(TypeError) as caught:
        function(*args, **kwargs)
    assert str(caught.value) == f"{name} must not be a masked array: pass its data, and what it hides as mask"


def test_options_are_given_by_name():
    for call in (
        lambda: attention_scores(Q, K, 1.0),
        lambda: attention_weights(Q, K, None),
        lambda: attention(Q, K, V, None),
        lambda: causal_mask(3, 3, "top-left"),
        lambda: window_mask(3, 3, 1, 1),
        lambda: window_mask(3),
    ):
        with pytest.raises(TypeError, match="argument"):
            call()
