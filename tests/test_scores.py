"""Scores, on numbers that can be checked by hand."""

import numpy as np
import pytest

from attention_lib import attention_scores

FLOATS = [np.float16, np.float32, np.float64, np.longdouble]


def test_dot_products_by_hand():
    Q = [[1, 2], [0, -1], [3, 0]]
    K = [[1, 1], [2, 0]]
    assert attention_scores(Q, K, scale=1).tolist() == [[3, 2], [-1, 0], [3, 6]]


def test_default_scale_is_one_over_the_root_of_d_k():
    Q, K = np.ones((1, 9)), np.ones((2, 9))
    assert attention_scores(Q, K).tolist() == [[3, 3]]  # 9 / sqrt(9)
    Q, K = np.random.default_rng(0).normal(size=(2, 4, 3))
    assert (attention_scores(Q, K) == attention_scores(Q, K, scale=1 / np.sqrt(3))).all()


@pytest.mark.parametrize("scale", [0.5, np.float32(0.5), np.float64(0.5), np.array(0.5), np.float16(0.5)])
def test_any_real_number_is_a_scale_and_none_changes_the_dtype(scale):
    scores = attention_scores(np.float32([[2]]), np.float32([[3]]), scale=scale)
    assert scores.tolist() == [[3]]
    assert scores.dtype == np.float32


@pytest.mark.parametrize("scale, expected", [(2, 12), (np.int64(2), 12), (np.uint8(2), 12), (-1, -6), (0, 0)])
def test_scale_may_be_an_integer_negative_or_zero(scale, expected):
    assert attention_scores([[2]], [[3]], scale=scale).tolist() == [[expected]]


@pytest.mark.parametrize("dtype", FLOATS)
def test_floating_dtype_is_kept(dtype):
    assert attention_scores(dtype([[1, 2]]), dtype([[3, 4]])).dtype == dtype


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint64])
def test_integers_and_bools_become_float64(dtype):
    scores = attention_scores(np.array([[1, 1]], dtype), np.array([[1, 0]], dtype), scale=1.0)
    assert scores.dtype == np.float64
    assert scores.tolist() == [[1]]


def test_small_integers_do_not_wrap():
    assert attention_scores(np.int8([[100, 100]]), np.int8([[100, 100]]), scale=1).tolist() == [[20_000]]


@pytest.mark.parametrize(
    "q, k, expected",
    [
        (np.float16, np.float32, np.float32),
        (np.float32, np.float64, np.float64),
        (np.float32, np.int8, np.float64),
        (np.float16, bool, np.float64),
    ],
)
def test_mixed_dtypes_take_the_wider(q, k, expected):
    assert attention_scores(np.ones((1, 1), q), np.ones((1, 1), k)).dtype == expected


def test_float16_is_computed_in_float32():
    Q = np.full((1, 64), 40, np.float16)
    assert attention_scores(Q, Q).tolist() == [[12_800]]  # 102,400 before the scale: above float16's 65,504


def test_a_product_beyond_the_range_is_kept_if_the_scaled_one_is_not():
    Q, K = np.full((1, 64), np.float32(1e19)), np.full((1, 64), np.float32(2e18))
    assert attention_scores(Q, K).tolist() == [[pytest.approx(1.6e38, rel=1e-6)]]  # unscaled 1.28e39
    assert attention_scores([[1e200]], [[1e200]], scale=0).tolist() == [[0]]


@pytest.mark.parametrize("dtype, large", [(np.float16, 6e4), (np.float32, 3e38), (np.float64, 1e308)])
def test_overflow_is_inf_without_a_warning(dtype, large):
    scores = attention_scores(dtype([[large]]), dtype([[large], [-large], [0]]), scale=1.0)
    assert scores.tolist() == [[np.inf, -np.inf, 0]]


def test_numpy_set_to_raise_changes_nothing():
    with np.errstate(all="raise"):
        assert attention_scores([[1e300]], [[1e300], [np.inf], [1e-300]]).tolist() == [[np.inf, np.inf, 1]]
        assert attention_scores([[1e-300]], [[1e-300]]).tolist() == [[0]]
        assert np.isnan(attention_scores([[1, 1]], [[np.inf, -np.inf]])).all()


def test_nan_stays_in_the_row_of_its_query_and_the_column_of_its_key():
    Q, K = np.ones((3, 2)), np.ones((4, 2))
    Q[0, 1] = K[2, 0] = np.nan
    expected = np.zeros((3, 4), bool)
    expected[0, :] = expected[:, 2] = True
    assert (np.isnan(attention_scores(Q, K)) == expected).all()


@pytest.mark.parametrize(
    "q, k, scores",
    [
        ((0, 3), (4, 3), (0, 4)),
        ((2, 3), (0, 3), (2, 0)),
        ((2, 0), (4, 0), (2, 4)),
        ((0, 2, 3), (0, 4, 3), (0, 2, 4)),
        ((1, 1), (1, 1), (1, 1)),
        ((5, 2, 3), (4, 3), (5, 2, 4)),
        ((2, 3), (5, 4, 3), (5, 2, 4)),
        ((6, 1, 2, 3), (5, 4, 3), (6, 5, 2, 4)),
        ((1, 2, 3), (0, 4, 3), (0, 2, 4)),
    ],
)
def test_shapes(q, k, scores):
    assert attention_scores(np.ones(q), np.ones(k)).shape == scores


def test_without_features_every_score_is_zero():
    assert attention_scores(np.ones((2, 0)), np.ones((3, 0))).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_each_batch_entry_is_its_own_matrix():
    rng = np.random.default_rng(0)
    Q, K = rng.normal(size=(2, 1, 3, 4)), rng.normal(size=(5, 6, 4))
    scores = attention_scores(Q, K, scale=1.0)
    for a, b in np.ndindex(2, 5):
        np.testing.assert_allclose(scores[a, b], [[sum(q * k) for k in K[b]] for q in Q[a, 0]], rtol=1e-12, atol=1e-12)


def test_a_subclass_is_read_as_a_plain_array():
    class Labelled(np.ndarray):
        pass

    X = np.ones((2, 3)).view(Labelled)
    assert type(attention_scores(X, X)) is np.ndarray


def test_big_endian_input_is_read_by_value():
    X = np.array([[1.0, 2.0]])
    assert attention_scores(X.astype(">f8"), X.astype(">f4"), scale=1.0).tolist() == [[5]]
