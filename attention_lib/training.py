"""Training one attention head in NumPy: its loss, its gradients, and four ways to take a step (chapters 05, 06, 09).

Weights are a tuple ``(W_q, W_k, W_v)``; the outputs of the head are the logits of the classes.
"""

import math

import numpy as np

from attention_lib.gradients import attention_backward
from attention_lib.output import attention
from attention_lib.tasks import NOT_ASKED
from attention_lib.weights import log_softmax


def head(weights, X, *, mask=None, scale=None):
    """Return the output of one self-attention head, ``attention(X @ W_q, X @ W_k, X @ W_v)``.

    Parameters
    ----------
    weights : tuple of ndarrays, shapes (d, d_k), (d, d_k), (d, d_v)
        ``W_q``, ``W_k`` and ``W_v``.
    X : array_like, shape (..., n, d)
        Tokens, one a row.
    mask, scale
        As in `attention_lib.attention`.

    Returns
    -------
    ndarray, shape (..., n, d_v)
        One output a token.

    Notes
    -----
    Derived in chapter 05.

    Examples
    --------
    >>> W = np.array([[2.0]])
    >>> head((W, W, W), np.array([[3.0]]))
    array([[6.]])
    """
    W_q, W_k, W_v = weights
    return attention(X @ W_q, X @ W_k, X @ W_v, mask=mask, scale=scale)


def cross_entropy(logits, targets):
    """Return the mean of -log softmax(logits)[target] over the tokens asked, and its gradient.

    Parameters
    ----------
    logits : ndarray, shape (..., n, n_classes)
        Unnormalised log-probabilities of the classes.
    targets : ndarray of int, shape (..., n)
        The right class of each token, or ``NOT_ASKED``.

    Returns
    -------
    loss : float
        In nats. Guessing among c classes costs log(c).
    dlogits : ndarray, shape (..., n, n_classes)
        The gradient of the loss with respect to `logits`.

    Raises
    ------
    ValueError
        If no token is asked.

    Examples
    --------
    >>> loss, dlogits = cross_entropy(np.zeros((1, 2)), np.array([1]))
    >>> round(loss, 4), dlogits.tolist()
    (0.6931, [[0.5, -0.5]])
    """
    asked = np.nonzero(targets != NOT_ASKED)
    if asked[0].size == 0:
        raise ValueError("targets asks at no token: every entry is NOT_ASKED")
    log_p = log_softmax(logits[asked])  # (asked, n_classes)
    right = np.arange(len(log_p)), targets[asked]
    error = np.exp(log_p)
    error[right] -= 1  # the softmax's probabilities less the right answer
    dlogits = np.zeros_like(logits)
    dlogits[asked] = error / len(log_p)
    return -float(log_p[right].mean()), dlogits


def loss_and_gradients(weights, X, targets, *, mask=None, scale=None):
    """Return the head's cross-entropy on a batch, and its gradient with respect to each weight matrix.

    Parameters
    ----------
    weights : tuple of ndarrays, shapes (d, d_k), (d, d_k), (d, n_classes)
        ``W_q``, ``W_k`` and ``W_v``.
    X : ndarray, shape (batch, n, d)
        Tokens.
    targets : ndarray of int, shape (batch, n)
        Classes, or ``NOT_ASKED``.
    mask, scale
        As in `attention_lib.attention`.

    Returns
    -------
    loss : float
    gradients : tuple of ndarrays, of the shapes of `weights`

    Examples
    --------
    One token can attend to nothing but itself, so its query and key get no gradient.

    >>> weights = (np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 2)))
    >>> loss, (dW_q, dW_k, dW_v) = loss_and_gradients(weights, np.ones((1, 1, 1)), np.array([[0]]))
    >>> dW_q.tolist(), dW_v.tolist()
    ([[0.0]], [[-0.5, 0.5]])
    """
    W_q, W_k, W_v = weights
    Q, K, V = X @ W_q, X @ W_k, X @ W_v  # (batch, n, d) @ (d, d_k) -> (batch, n, d_k)
    loss, dO = cross_entropy(attention(Q, K, V, mask=mask, scale=scale), targets)
    rows = X.reshape(-1, X.shape[-1])  # every token of the batch, (batch * n, d)
    return loss, tuple(
        rows.T @ gradient.reshape(len(rows), -1)  # (d, batch * n) @ (batch * n, d_k) -> (d, d_k)
        for gradient in attention_backward(dO, Q, K, V, mask=mask, scale=scale)
    )


def accuracy(weights, X, targets, *, mask=None, scale=None):
    """Return the share of the tokens asked whose largest logit is the right class.

    Parameters are those of `loss_and_gradients`.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> accuracy((np.zeros((1, 1)), np.zeros((1, 1)), np.array([[0.0, 1.0]])), np.ones((2, 1, 1)), np.array([[1], [0]]))
    0.5
    """
    asked = targets != NOT_ASKED
    answers = head(weights, X, mask=mask, scale=scale).argmax(axis=-1)  # (batch, n)
    return float((answers == targets)[asked].mean())


def train(weights, task, optimizer, *, rng, steps, batch=64, mask=None, scale=None):
    """Train a head on fresh batches and return what became of it.

    Parameters
    ----------
    weights : tuple of ndarrays, shapes (d, d_k), (d, d_k), (d, n_classes)
        ``W_q``, ``W_k`` and ``W_v`` at the start. They are not changed.
    task : callable
        ``task(rng, batch)`` returns ``X, targets``, as those in `attention_lib.tasks` do.
    optimizer : SGD, Adam, RelativeStep or Adafactor
        A new one for each run: it keeps what it has seen of the gradients.
    rng : numpy.random.Generator
        Where the batches come from.
    steps : int
        Number of batches.
    batch : int, default 64
        Sequences in a batch.
    mask, scale
        As in `attention_lib.attention`.

    Returns
    -------
    weights : tuple of ndarrays
        The trained weights.
    losses : ndarray, shape (steps,)
        The loss on each batch, before its step was taken.

    Examples
    --------
    >>> from attention_lib import init_weights
    >>> from attention_lib.tasks import previous_token
    >>> rng = np.random.default_rng(0)
    >>> W_q, W_k, _, _ = init_weights(rng, d_model=16, d_head=16)
    >>> weights, losses = train((W_q, W_k, np.zeros((16, 8))), previous_token, Adam(0.03), rng=rng, steps=200)
    >>> losses[0].round(2), losses[-1] < 0.1
    (np.float64(2.08), np.True_)
    """
    weights, losses = tuple(weights), np.empty(steps)
    for step in range(steps):
        X, targets = task(rng, batch)
        losses[step], gradients = loss_and_gradients(weights, X, targets, mask=mask, scale=scale)
        weights = optimizer.step(weights, gradients)
    return weights, losses


class SGD:
    """Gradient descent: every entry moves against its gradient, by `rate` times as much.

    Parameters
    ----------
    rate : float
        The learning rate.

    Examples
    --------
    >>> SGD(0.5).step((np.array([[1.0]]),), (np.array([[2.0]]),))
    (array([[0.]]),)
    """

    def __init__(self, rate):
        self.rate = rate

    def step(self, weights, gradients):
        """Return the weights after one step, as new arrays."""
        return tuple(W - self.rate * G for W, G in zip(weights, gradients, strict=True))


class Adam:
    """Steps of about `rate` whatever the size of the gradient: its running mean over its running size.

    Parameters
    ----------
    rate : float
        The learning rate.
    decay : tuple of two floats, default (0.9, 0.999)
        How much of the running mean, and of the running mean square, is kept at each step.
    epsilon : float, default 1e-8
        Added to the divisor.

    Notes
    -----
    Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015, arXiv:1412.6980, algorithm 1.

    Examples
    --------
    >>> Adam(0.5).step((np.array([[1.0]]),), (np.array([[2.0]]),))[0].round(6)
    array([[0.5]])
    """

    def __init__(self, rate, *, decay=(0.9, 0.999), epsilon=1e-8):
        self.rate, self.decay, self.epsilon = rate, decay, epsilon
        self.steps, self.moments = 0, None

    def step(self, weights, gradients):
        """Return the weights after one step, as new arrays."""
        self.steps += 1
        if self.moments is None:
            self.moments = [(np.zeros_like(W), np.zeros_like(W)) for W in weights]
        a, b = self.decay
        self.moments = [
            (a * mean + (1 - a) * G, b * square + (1 - b) * G**2)
            for (mean, square), G in zip(self.moments, gradients, strict=True)
        ]
        # Both start at 0; the divisions make up for that.
        updates = [
            mean / (1 - a**self.steps) / (np.sqrt(square / (1 - b**self.steps)) + self.epsilon)
            for mean, square in self.moments
        ]
        return tuple(W - self.rate * U for W, U in zip(weights, updates, strict=True))


class RelativeStep:
    """A step whose size is a fixed share of the matrix's own: Adafactor with everything else left out.

    Parameters
    ----------
    rate : float
        The share: a step's root mean square over the matrix's.

    Examples
    --------
    >>> RelativeStep(0.5).step((np.array([[4.0]]),), (np.array([[-0.1]]),))
    (array([[6.]]),)
    """

    def __init__(self, rate):
        self.rate = rate

    def step(self, weights, gradients):
        """Return the weights after one step, as new arrays."""
        return tuple(W - self.rate * rms(W) * _over(G, rms(G)) for W, G in zip(weights, gradients, strict=True))


class Adafactor:
    """The optimizer that T5 was trained with: relative steps, and a memory of one number a row and a column.

    Parameters
    ----------
    rate : float, optional
        The step relative to the matrix's size.
        By default min(0.01, 1/√t) at step t, which is 1/√max(t, 10⁴), the schedule of T5's pre-training.
    floor : float, default 1e-3
        A matrix's size counts as at least this, so that one of zeros can leave them.
    clip : float, default 1.0
        The largest root mean square of an update, before it is multiplied by `rate` and by the size.
    epsilon : float, default 1e-30
        Added to the squares of the gradient.

    Notes
    -----
    Built in chapter 09.
    Shazeer and Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost", 2018, arXiv:1804.04235,
    algorithm 4, with the decay 1 - t^-0.8 and without momentum; every weight here is a matrix.
    The defaults are those of Mesh TensorFlow's ``AdafactorOptimizer``, which remembers all entries of a small matrix
    (https://github.com/tensorflow/mesh, ``optimize.py``).

    Examples
    --------
    >>> Adafactor().step((np.array([[4.0]]),), (np.array([[-0.1]]),))
    (array([[4.04]]),)
    """

    def __init__(self, rate=None, *, floor=1e-3, clip=1.0, epsilon=1e-30):
        self.rate, self.floor, self.clip, self.epsilon = rate, floor, clip, epsilon
        self.steps, self.means = 0, None

    def step(self, weights, gradients):
        """Return the weights after one step, as new arrays."""
        self.steps += 1
        if self.means is None:
            self.means = [(np.zeros(W.shape[0]), np.zeros(W.shape[1])) for W in weights]
        keep = 1 - self.steps**-0.8  # 0 at the first step: nothing to keep yet
        squares = [G**2 + self.epsilon for G in gradients]
        self.means = [
            (keep * row + (1 - keep) * S.mean(axis=1), keep * column + (1 - keep) * S.mean(axis=0))
            for (row, column), S in zip(self.means, squares, strict=True)
        ]
        return tuple(
            W - self._relative_rate() * max(self.floor, rms(W)) * self._update(G, row, column)
            for W, G, (row, column) in zip(weights, gradients, self.means, strict=True)
        )

    def _relative_rate(self):
        return min(0.01, 1 / math.sqrt(self.steps)) if self.rate is None else self.rate

    def _update(self, G, row, column):
        """Return the gradient over its running size, an outer product of row and column means, clipped."""
        U = G / np.sqrt(np.outer(row, column) / row.mean())  # (d_in, d_out)
        return U / max(1.0, rms(U) / self.clip)


def rms(array):
    """Return the root mean square of all entries: the size that a relative step is relative to.

    Examples
    --------
    >>> rms(np.array([[3.0, -3.0]]))
    3.0
    """
    return float(np.sqrt(np.mean(array**2)))


def _over(array, divisor):
    """Return ``array / divisor``, or zeros if the divisor is 0 (no gradient, no step)."""
    return array / divisor if divisor else np.zeros_like(array)
