"""Random weight matrices: their shapes, and how widely each scheme spreads them."""

import numpy as np
import pytest

from attention_lib import init_weights
from attention_lib.projections import SCHEMES

SIZES = {"d_model": 300, "d_head": 40, "n_heads": 5}  # 60000 entries a matrix


def matrices(scheme, seed=0, **sizes):
    return init_weights(np.random.default_rng(seed), **(sizes or SIZES), scheme=scheme)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_shapes(scheme):
    assert [W.shape for W in matrices(scheme)] == [(300, 200)] * 3 + [(200, 300)]
    assert [W.shape for W in matrices(scheme, d_model=1, d_head=1)] == [(1, 1)] * 4


@pytest.mark.parametrize(
    ("scheme", "deviations"),
    [
        ("unit", [1, 1, 1, 1]),
        ("xavier", [(2 / 500) ** 0.5] * 4),
        ("t5", [(300 * 40) ** -0.5, 300**-0.5, 300**-0.5, 200**-0.5]),
    ],
)
def test_deviations(scheme, deviations):
    for W, deviation in zip(matrices(scheme), deviations, strict=True):
        # Of 60000 numbers, the mean strays by 0.004 deviations and the deviation by 0.003: four times that is allowed.
        assert abs(W.mean()) < 0.016 * deviation
        assert abs(W.std() / deviation - 1) < 0.012


def test_xavier_is_uniform():
    edge = (6 / 500) ** 0.5
    for W in matrices("xavier"):
        assert 0.999 * edge < np.abs(W).max() <= edge
        assert abs(np.mean(np.abs(W) < edge / 2) - 0.5) < 0.01  # of a normal, 61 % lies within half its √3 deviations


@pytest.mark.parametrize("scheme", ["unit", "t5"])
def test_others_are_normal(scheme):
    for W in matrices(scheme):
        assert abs(np.mean(np.abs(W) < W.std()) - 0.6827) < 0.01


@pytest.mark.parametrize("scheme", SCHEMES)
def test_seed_decides_and_matrices_differ(scheme):
    first, again, other = matrices(scheme), matrices(scheme), matrices(scheme, seed=1)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert not any((a == b).any() for a, b in zip(first, other, strict=True))
    assert not (first[0] == first[1]).any()


def test_default_is_xavier():
    default = init_weights(np.random.default_rng(0), 300, 40, 5)
    assert all((a == b).all() for a, b in zip(default, matrices("xavier"), strict=True))


def test_t5_makes_dot_products_of_variance_one():
    variances = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        W_q, W_k, _, _ = init_weights(rng, 128, 32, scheme="t5")
        x, y = rng.normal(size=(2, 4000, 128))
        variances.append(((x @ W_q) * (y @ W_k)).sum(axis=1).var())
    # The matrices themselves vary: over 400 seeds the variance was 1.00 with a deviation of 0.05.
    assert abs(np.mean(variances) - 1) < 0.1
