"""Training: the loss and its gradients against differences, each optimizer against its formula, and that it learns."""

import math

import numpy as np
import pytest

from attention_lib import attention, causal_mask, init_weights
from attention_lib.tasks import NOT_ASKED, associative_recall, previous_token
from attention_lib.training import (
    SGD,
    Adafactor,
    Adam,
    RelativeStep,
    accuracy,
    cross_entropy,
    head,
    loss_and_gradients,
    rms,
    train,
)

OPTIMIZERS = [SGD(0.1), Adam(0.1), RelativeStep(0.1), Adafactor(), Adafactor(0.1)]


def small_weights(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 4))


class TestLoss:
    def test_head_is_attention_of_three_products(self):
        W_q, W_k, W_v = weights = small_weights()
        X = np.random.default_rng(1).normal(size=(2, 6, 5))
        expected = attention(X @ W_q, X @ W_k, X @ W_v, mask=causal_mask(6), scale=0.5)
        assert (head(weights, X, mask=causal_mask(6), scale=0.5) == expected).all()

    def test_guessing_costs_the_logarithm_of_the_classes(self):
        loss, _ = cross_entropy(np.zeros((3, 5, 8)), np.zeros((3, 5), int))
        assert loss == pytest.approx(math.log(8), rel=1e-15)

    def test_loss_is_a_mean_over_the_tokens_asked(self):
        logits = np.log([[[0.5, 0.5], [0.75, 0.25], [0.9, 0.1]]])
        loss, dlogits = cross_entropy(logits, np.array([[0, 1, NOT_ASKED]]))
        assert loss == pytest.approx((math.log(2) + math.log(4)) / 2)
        np.testing.assert_allclose(dlogits, [[[-0.25, 0.25], [0.375, -0.375], [0, 0]]], atol=1e-15)

    def test_large_logits_do_not_overflow(self):
        loss, dlogits = cross_entropy(np.array([[1000.0, 0.0]]), np.array([1]))
        assert loss == 1000 and dlogits.tolist() == [[1, -1]]

    def test_no_question_is_refused(self):
        with pytest.raises(ValueError, match="targets asks at no token"):
            cross_entropy(np.zeros((1, 2)), np.array([NOT_ASKED]))

    @pytest.mark.parametrize("options", [{}, {"scale": 1.0}, {"mask": causal_mask(6)}])
    def test_gradients_agree_with_differences(self, options):
        rng = np.random.default_rng(2)
        weights, X = small_weights(), rng.normal(size=(3, 6, 5))
        targets = rng.integers(-1, 4, size=(3, 6))
        loss, gradients = loss_and_gradients(weights, X, targets, **options)
        assert loss == cross_entropy(head(weights, X, **options), targets)[0]
        for which, gradient in enumerate(gradients):
            for place in np.ndindex(gradient.shape):
                ends = []
                for step in (1e-5, -1e-5):
                    moved = [W.copy() for W in weights]
                    moved[which][place] += step
                    ends.append(loss_and_gradients(moved, X, targets, **options)[0])
                assert gradient[place] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5, abs=1e-9)

    def test_accuracy_counts_the_tokens_asked(self):
        X, targets = previous_token(np.random.default_rng(0), 50)
        look_back = 50 * np.eye(16)[:, :8] @ np.roll(np.eye(8), -1, axis=1)  # place i asks for place i - 1
        weights = (look_back, np.eye(16)[:, :8], np.eye(16)[:, 8:])
        assert accuracy(weights, X, targets) == 1
        wrong = targets.copy()
        wrong[:25] = (wrong[:25] + 1) % 8
        wrong[:, 0] = NOT_ASKED
        assert accuracy(weights, X, wrong) == 0.5


class TestOptimizers:
    @pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda o: type(o).__name__)
    def test_arguments_are_left_alone(self, optimizer):
        weights, gradients = small_weights(), small_weights(1)
        for array in (*weights, *gradients):
            array.setflags(write=False)
        moved = optimizer.step(weights, gradients)
        assert [M.shape for M in moved] == [W.shape for W in weights]
        assert all((M != W).all() for M, W in zip(moved, weights, strict=True))

    @pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda o: type(o).__name__)
    def test_one_gradient_for_each_weight(self, optimizer):
        with pytest.raises(ValueError, match="zip"):
            optimizer.step(small_weights(), small_weights()[:2])

    def test_sgd(self):
        (W,) = SGD(0.5).step((np.array([[1.0, 2.0]]),), (np.array([[2.0, -4.0]]),))
        assert W.tolist() == [[0, 4]]

    def test_adam_follows_its_formula(self):
        optimizer, rng = Adam(0.1, decay=(0.8, 0.95), epsilon=1e-3), np.random.default_rng(0)
        (W,), weight, mean, square = (np.array([[2.0]]),), 2.0, 0.0, 0.0
        for t in range(1, 6):
            g = float(rng.normal())
            (W,) = optimizer.step((W,), (np.array([[g]]),))
            mean, square = 0.8 * mean + 0.2 * g, 0.95 * square + 0.05 * g * g
            weight -= 0.1 * mean / (1 - 0.8**t) / (math.sqrt(square / (1 - 0.95**t)) + 1e-3)
            assert W[0, 0] == pytest.approx(weight, rel=1e-14)

    def test_relative_step_is_a_share_of_the_matrix(self):
        weights, gradients = small_weights(), small_weights(1)
        for W, G, M in zip(weights, gradients, RelativeStep(0.02).step(weights, gradients), strict=True):
            assert rms(M - W) == pytest.approx(0.02 * rms(W))
            np.testing.assert_allclose((W - M) / rms(W - M), G / rms(G), rtol=1e-12)

    def test_relative_step_without_gradient_stays(self):
        W = np.ones((2, 2))
        assert (RelativeStep(0.02).step((W,), (np.zeros((2, 2)),))[0] == W).all()

    def test_adafactor_follows_its_formula(self):
        rng = np.random.default_rng(0)
        optimizer, W = Adafactor(), rng.normal(size=(2, 3))
        ours, rows, columns = W, [0.0] * 2, [0.0] * 3
        for t in range(1, 5):
            G = 3 * rng.normal(size=(2, 3))
            (ours,) = optimizer.step((ours,), (G,))
            kept = 1 - t**-0.8
            rows = [kept * rows[i] + (1 - kept) * sum(G[i, j] ** 2 for j in range(3)) for i in range(2)]
            columns = [kept * columns[j] + (1 - kept) * sum(G[i, j] ** 2 for i in range(2)) for j in range(3)]
            U = [[G[i, j] / math.sqrt(rows[i] * columns[j] / sum(rows)) for j in range(3)] for i in range(2)]
            size = math.sqrt(sum(u * u for row in U for u in row) / 6)
            step = min(0.01, t**-0.5) * max(1e-3, math.sqrt((W**2).sum() / 6)) / max(1, size)
            W = W - step * np.array(U)
            np.testing.assert_allclose(ours, W, rtol=1e-12)

    def test_adafactor_leaves_zeros_by_its_floor(self):
        (W,) = Adafactor(0.5).step((np.zeros((1, 2)),), (np.array([[3.0, -3.0]]),))
        np.testing.assert_allclose(W, [[-0.0005, 0.0005]], rtol=1e-12)

    @pytest.mark.parametrize(("new", "alike"), [(RelativeStep, True), (Adafactor, True), (Adam, False), (SGD, False)])
    def test_only_relative_steps_forget_the_unit_of_a_matrix(self, new, alike):
        # A matrix in other units: 8 times as large, and its gradients 8 times as small.
        W, G = small_weights()[0], small_weights(1)[0]
        (moved,), (other,) = new(0.1).step((W,), (G,)), new(0.1).step((8 * W,), (G / 8,))
        assert np.allclose(8 * moved, other, rtol=1e-12) == alike

    def test_rms(self):
        assert rms(np.array([[3.0, -4.0]])) == pytest.approx(math.sqrt(12.5))


class TestTrain:
    def test_loss_is_that_of_each_batch_before_its_step(self):
        weights = small = (*(np.zeros((16, 4)),) * 2, np.zeros((16, 8)))
        trained, losses = train(weights, previous_token, SGD(1.0), rng=np.random.default_rng(0), steps=3, batch=5)
        rng, optimizer = np.random.default_rng(0), SGD(1.0)
        for loss in losses:
            expected, gradients = loss_and_gradients(small, *previous_token(rng, 5))
            assert loss == expected
            small = optimizer.step(small, gradients)
        assert losses[0] == pytest.approx(math.log(8))
        assert all((a == b).all() for a, b in zip(trained, small, strict=True))

    @pytest.mark.parametrize("task", [associative_recall, previous_token])
    def test_head_learns(self, task):
        rng = np.random.default_rng(0)
        X, targets = task(rng, 500)
        d = X.shape[-1]
        W_q, W_k, _, _ = init_weights(rng, d, 32)
        start = (W_q, W_k, rng.normal(0, d**-0.5, (d, 8)))
        assert accuracy(start, X, targets) < 0.4
        trained, losses = train(start, task, Adam(0.03), rng=rng, steps=300)
        assert accuracy(trained, X, targets) > 0.99
        assert losses[-10:].mean() < 0.1 < losses[:10].mean()
