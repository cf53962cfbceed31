"""What single explorables claim, beyond what all of them must do."""

import numpy as np
import pytest

from attention_lib import softmax_jacobian
from attention_lib.explorables import Saturation, SoftmaxRow
from attention_lib.explorables.saturation import KEYS, MOST, QUERIES, VARIANCE, random_numbers


def right(row):
    return np.allclose(row.plain[1, :4], row.weights, atol=0.001) and np.isclose(row.plain[1, 4], 1, atol=0.001)


@pytest.mark.parametrize("kept, first", [("float64", 707), ("float32", 86), ("float16", 8)])
def test_the_plain_form_fails_from_this_shift_on_and_the_stable_form_never(kept, first):
    row = SoftmaxRow(kept=kept)
    start = row.stable
    assert np.allclose(start[1, :4], row.weights, atol=0.0005)
    for shift in (*range(0, first, 5), first - 1, first, first + 1, 1000, -1000):
        row.shift = shift
        assert right(row) == (0 <= shift < first), shift
        np.testing.assert_allclose(row.stable, start, atol=2e-3 if kept == "float16" else 1e-6)


def test_what_a_type_cannot_hold_is_infinite_or_nothing():
    half = SoftmaxRow(scores=[5, -5, 0, 0], shift=7, kept="float16")
    assert half.plain[0].tolist() == [np.inf, np.exp(2).astype("float16"), *[np.exp(7).astype("float16")] * 2, np.inf]
    assert np.isnan(half.plain[1, 0]) and half.plain[1, 1:4].tolist() == [0, 0, 0]
    assert SoftmaxRow(scores=[0] * 4, shift=-20, kept="float16").plain[0, 4] == 0
    assert SoftmaxRow(scores=[0] * 4, shift=-15, kept="float16").plain[0, 0] == 5 / 2**24  # below the normal numbers


def test_the_ratio_is_that_of_the_two_largest_weights():
    for scores in np.random.default_rng(0).uniform(-5, 5, (50, 4)):
        row = SoftmaxRow(scores=scores, temperature=0.7, shift=20)
        second, first = np.sort(row.weights)[-2:]
        assert np.isclose(row.ratio, first / second)


def test_the_random_numbers_have_mean_0_and_variance_1_and_are_strangers():
    numbers = np.array([random_numbers(seed) for seed in range(40)]) / np.sqrt(VARIANCE)  # (40, 128, 1024)
    assert numbers.shape == (40, QUERIES + KEYS, MOST)
    count = numbers.size
    assert abs(numbers.mean()) < 4 / np.sqrt(count)
    assert abs((numbers**2).mean() - 1) < 4 * np.sqrt(2 / count)
    for axis in range(3):  # seeds, rows, features: no neighbour knows the next
        a = np.moveaxis(numbers, axis, 0)
        assert abs((a[1:] * a[:-1]).mean()) < 4 / np.sqrt(count), axis
    assert np.ptp(numbers) <= 1020 / np.sqrt(VARIANCE)


@pytest.mark.parametrize("scaled", [False, True])
def test_scores_spread_as_theory_says(scaled):
    widths = (1, 4, 16, 64, 256, 1024)
    found = [[Saturation(d_k=d, scaled=scaled, seed=seed) for d in widths] for seed in range(20)]
    assert [it.expected for it in found[0]] == [1 if scaled else np.sqrt(d) for d in widths]
    ratios = np.array([[(it.deviation / it.expected) ** 2 for it in row] for row in found])  # (20, 6)
    assert (abs(ratios.mean(axis=0) - 1) < 4 * ratios.std(axis=0, ddof=1) / np.sqrt(20)).all()


def test_a_feature_more_leaves_the_others():
    numbers = random_numbers(0)
    more = (Saturation(d_k=9)._scores - Saturation(d_k=8)._scores) * VARIANCE
    np.testing.assert_allclose(more, np.outer(numbers[:QUERIES, 8], numbers[QUERIES:, 8]), atol=1e-6)


def test_without_the_scale_most_queries_die_and_with_it_none():
    it = Saturation()
    dead = np.empty((10, 2, 4))
    for seed, scaled, k in np.ndindex(dead.shape):
        it.seed, it.scaled, it.d_k = seed, bool(scaled), (1, 64, 256, 1024)[k]
        dead[seed, scaled, k] = it.dead
    assert (dead[:, 1] == 0).all() and (dead[:, 0, 0] == 0).all()
    few, half, most = dead[:, 0, 1:].mean(axis=0)
    assert 0.1 < few < 0.3 < half < 0.55 < most < 0.8


def test_the_numbers_of_one_query_are_those_of_its_weights():
    it = Saturation(d_k=16, seed=3)
    assert np.isclose(it.norms[0], np.linalg.norm(softmax_jacobian(it.weights)))
    assert np.isclose(it.entropy, -(it.weights * np.log(it.weights)).sum())
    assert it.counts.sum() == QUERIES * KEYS and len(it.counts) == 65
