"""The tasks, against what they promise."""

import numpy as np
import pytest

from attention_lib.tasks import NOT_ASKED, associative_recall, previous_token


def rng(seed=0):
    return np.random.default_rng(seed)


class TestAssociativeRecall:
    @pytest.mark.parametrize(("n_pairs", "n_keys", "n_values"), [(6, 8, 8), (1, 1, 1), (3, 5, 4), (4, 4, 9)])
    def test_answer_is_the_value_that_came_with_the_key(self, n_pairs, n_keys, n_values):
        X, targets = associative_recall(rng(), 200, n_pairs=n_pairs, n_keys=n_keys, n_values=n_values)
        assert X.shape == (200, n_pairs + 1, 2 * n_keys + n_values)
        assert targets.shape == (200, n_pairs + 1)
        asked, keys, values = np.split(X, [n_keys, 2 * n_keys], axis=-1)
        assert (asked[:, :-1] == 0).all() and (keys[:, -1] == 0).all() and (values[:, -1] == 0).all()
        for part in (asked[:, -1:], keys[:, :-1], values[:, :-1]):
            assert set(np.unique(part)) <= {0, 1} and (part.sum(axis=-1) == 1).all()
        assert (keys.sum(axis=1) <= 1).all() and (values.sum(axis=1) <= 1).all()  # none stands in two pairs
        assert (targets[:, :-1] == NOT_ASKED).all()
        for sequence in range(200):
            pair = keys[sequence].argmax(axis=1).tolist().index(asked[sequence, -1].argmax(), 0, n_pairs)
            assert targets[sequence, -1] == values[sequence, pair].argmax()

    def test_every_pair_key_and_value_is_asked_equally_often(self):
        X, targets = associative_recall(rng(), 24000)
        where = (X[:, :-1, 8:16] * X[:, -1:, :8]).sum(axis=-1).argmax(axis=1)
        for counts, expected in (
            (np.bincount(where), [4000] * 6),
            (np.bincount(targets[:, -1]), [3000] * 8),
            (X[:, -1, :8].sum(axis=0), [3000] * 8),
        ):
            np.testing.assert_allclose(counts, expected, atol=5 * 3000**0.5)

    def test_seed_decides(self):
        first, again, other = (associative_recall(rng(seed), 10)[0] for seed in (0, 0, 1))
        assert (first == again).all() and (first != other).any()

    def test_no_sequences(self):
        X, targets = associative_recall(rng(), 0)
        assert X.shape == (0, 7, 24) and targets.shape == (0, 7)

    @pytest.mark.parametrize("sizes", [{"n_pairs": 9}, {"n_pairs": 0}, {"n_keys": 5}, {"n_values": 5}])
    def test_more_pairs_than_symbols_are_refused(self, sizes):
        with pytest.raises(ValueError, match="n_pairs must be at least 1 and at most n_keys and n_values, got n_pairs"):
            associative_recall(rng(), 1, **sizes)


class TestPreviousToken:
    @pytest.mark.parametrize(("n", "n_symbols"), [(8, 8), (1, 1), (5, 3), (2, 9)])
    def test_answer_is_the_symbol_before(self, n, n_symbols):
        X, targets = previous_token(rng(), 50, n=n, n_symbols=n_symbols)
        assert X.shape == (50, n, n + n_symbols) and targets.shape == (50, n)
        assert (X[:, :, :n] == np.eye(n)).all()
        assert set(np.unique(X)) <= {0, 1} and (X[:, :, n:].sum(axis=-1) == 1).all()
        for place in range(n):
            assert (targets[:, place] == X[:, place - 1, n:].argmax(axis=-1)).all()  # before place 0 stands -1, the last

    def test_every_symbol_comes_equally_often(self):
        X, _ = previous_token(rng(), 3000)
        np.testing.assert_allclose(X[:, :, 8:].sum(axis=(0, 1)), [3000] * 8, atol=5 * 3000**0.5)

    @pytest.mark.parametrize("sizes", [{"n": 0}, {"n_symbols": 0}])
    def test_nothing_to_draw_is_refused(self, sizes):
        with pytest.raises(ValueError, match="n and n_symbols must be 1 or more, got n = "):
            previous_token(rng(), 1, **sizes)


@pytest.mark.parametrize("task", [associative_recall, previous_token])
def test_numbers_must_be_integers(task):
    with pytest.raises(TypeError, match="batch must be an integer, got 2.0"):
        task(rng(), 2.0)
