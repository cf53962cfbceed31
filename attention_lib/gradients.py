"""Gradients: how a loss moves with the queries, keys and values (used in chapters 05, 06 and 09)."""

import math

import numpy as np

from attention_lib._arguments import check_matrix, floats, quiet, real_number, shapes
from attention_lib.output import _mix, attention


@quiet
def softmax_backward(p, dp):
    r"""Return the gradient with respect to the scores, given the one with respect to their softmax.

    .. math:: \frac{\partial L}{\partial x_i} = p_i \Bigl(\frac{\partial L}{\partial p_i}
              - \sum_j p_j \frac{\partial L}{\partial p_j}\Bigr)

    Parameters
    ----------
    p : array_like, shape (..., n), real
        Weights, as ``softmax(x)`` returns them.
    dp : array_like, shape (..., n), real
        :math:`\partial L / \partial p`, the gradient of the loss with respect to the weights.

    Returns
    -------
    ndarray, shape (..., n)
        :math:`\partial L / \partial x`, in the floating dtype of `p` and `dp`.
        It sums to 0 along the last axis, and is 0 wherever the weight is 0, whatever `dp` holds there.

    Raises
    ------
    TypeError
        If `p` or `dp` does not hold real numbers.
    ValueError
        If the two have no axis, or shapes that differ.

    See Also
    --------
    softmax_jacobian : the matrix that this multiplies `dp` by, without forming it.

    Notes
    -----
    Used in chapters 05 and 06. It is ``softmax_jacobian(p) @ dp``, with the matrix of chapter 03 multiplied out.

    Examples
    --------
    >>> softmax_backward([0.5, 0.5], [1.0, 0.0])
    array([ 0.25, -0.25])
    """
    dtype, (p, dp) = floats(p=p, dp=dp)
    if p.ndim == 0 or p.shape != dp.shape:
        raise ValueError(f"p and dp must have the same shape (..., n) ({shapes(p=p, dp=dp)})")
    dp = np.where(p == 0, 0, dp)  # what has no weight has no say: 0 times NaN would be NaN
    dx = p * (dp - (p * dp).sum(axis=-1, keepdims=True))  # (..., n)
    return dx.astype(dtype, copy=False)


@quiet
def attention_backward(dO, Q, K, V, *, mask=None, bias=None, scale=None):
    r"""Return the gradients with respect to queries, keys and values, given the one with respect to the output.

    Parameters
    ----------
    dO : array_like, shape (..., N, d_v), real
        :math:`\partial L / \partial O`, the gradient of the loss with respect to ``attention(Q, K, V, ...)``.
    Q : array_like, shape (..., N, d_k), real
        Queries, one a row.
    K : array_like, shape (..., M, d_k), real
        Keys, one a row.
    V : array_like, shape (..., M, d_v), real
        Values, one a row.
    mask : array_like of bool, broadcasting to (..., N, M), optional
        True where the query may attend to the key. No gradient passes where it may not.
    bias : array_like of float, broadcasting to (..., N, M), optional
        Added to the scores; ``-inf`` masks, as False in `mask` does.
    scale : float, optional
        The factor on the dot products, by default :math:`1/\sqrt{d_k}`.

    Returns
    -------
    dQ : ndarray, shape (..., N, d_k)
    dK : ndarray, shape (..., M, d_k)
    dV : ndarray, shape (..., M, d_v)
        The gradients, of the shapes of `Q`, `K` and `V` and in the common floating dtype of the arguments.
        Where an argument was broadcast, its gradient is the sum over all its copies.

    Raises
    ------
    TypeError
        If an argument has the wrong dtype: `mask` must be boolean, `bias` floating.
    ValueError
        If the shapes do not fit together, or `scale` is not finite.

    See Also
    --------
    attention : the function that this is the gradient of.
    softmax_backward : the step through the softmax.

    Notes
    -----
    Used in chapters 05, 06 and 09.
    The same four products are written out in Dao et al., "FlashAttention", 2022, arXiv:2205.14135, appendix B.2.

    Examples
    --------
    Both values are read equally and get half of the gradient each. The keys move apart: the second value is larger.

    >>> attention_backward([[1.0]], [[2.0]], [[0.0], [0.0]], [[1.0], [3.0]])
    (array([[0.]]), array([[-1.],
           [ 1.]]), array([[0.5],
           [0.5]]))
    """
    dtype, (dO, Q, K, V) = floats(dO=dO, Q=Q, K=K, V=V)
    O, A = attention(Q, K, V, mask=mask, bias=bias, scale=scale, return_weights=True)  # (..., N, d_v), (..., N, M)
    if dO.shape != O.shape:
        raise ValueError(f"dO must have the output's shape {O.shape}, got shape {dO.shape}")
    scale = 1 / math.sqrt(max(Q.shape[-1], 1)) if scale is None else real_number("scale", scale, Q.dtype)
    dV = _mix(A.mT, dO)  # (..., M, N) @ (..., N, d_v) -> (..., M, d_v)
    dA = dO @ V.mT  # (..., N, d_v) @ (..., d_v, M) -> (..., N, M)
    dS = softmax_backward(np.broadcast_to(A, dA.shape), dA)  # V may add leading axes: (..., N, M)
    dQ = scale * _mix(dS, K)  # (..., N, M) @ (..., M, d_k) -> (..., N, d_k)
    dK = scale * _mix(dS.mT, Q)  # (..., M, N) @ (..., N, d_k) -> (..., M, d_k)
    return tuple(
        _sum_to(gradient, argument.shape).astype(dtype, copy=False)
        for gradient, argument in ((dQ, Q), (dK, K), (dV, V))
    )


def _sum_to(gradient, shape):
    """Return `gradient` summed over the axes along which an argument of `shape` was broadcast."""
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    repeated = tuple(i for i, size in enumerate(shape[:-2]) if size != gradient.shape[i])
    return gradient.sum(axis=repeated, keepdims=True)
