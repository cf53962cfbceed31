"""Weights: scores turned into shares that sum to 1 (chapter 03)."""

import numpy as np

from attention_lib._arguments import as_bias, as_mask, floats, integer, quiet
from attention_lib.scores import attention_scores


@quiet
def softmax(x, axis=-1):
    r"""Return exponentials of `x` divided by their sum along `axis`.

    .. math:: \mathrm{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}

    Parameters
    ----------
    x : array_like, at least 1-D, real
        Scores. ``-inf`` gets weight 0; entries of ``inf`` share all the weight equally;
        one NaN makes every weight along `axis` NaN.
    axis : int, default -1
        The axis whose entries share the weight: the keys.

    Returns
    -------
    ndarray, same shape as `x`
        Weights between 0 and 1 that sum to 1 along `axis`, in the floating dtype of `x`.
        Where every entry along `axis` is ``-inf`` there is nothing to share, and all weights are 0.

    Raises
    ------
    TypeError
        If `x` does not hold real numbers, or `axis` is not an integer.
    ValueError
        If `x` has no axis, or not this one.

    See Also
    --------
    log_softmax : the logarithm of the same weights.
    softmax_jacobian : how the weights move with the scores.

    Notes
    -----
    Derived in chapter 03.
    The maximum is taken off first: it changes no weight, and keeps every exponential at most 1.
    Blanchard, Higham and Higham, "Accurately computing the log-sum-exp and softmax functions",
    2021, doi:10.1093/imanum/draa038, study why that is safe.

    Examples
    --------
    >>> softmax([0.0, 0.0, 1000.0, 1000.0])
    array([0. , 0. , 0.5, 0.5])
    """
    dtype, x = _less_its_maximum(x, axis)
    e = np.exp(x)
    total = e.sum(axis=axis, keepdims=True)
    # The largest entry adds exp(0) = 1. A total below 1 is 0: every entry was -inf, and stays without weight.
    return (e / np.maximum(total, 1)).astype(dtype, copy=False)


@quiet
def log_softmax(x, axis=-1):
    r"""Return the logarithm of ``softmax(x)``, finite even where the weight itself rounds to 0.

    .. math:: \log \mathrm{softmax}(x)_i = x_i - \log \sum_j e^{x_j}

    Parameters
    ----------
    x : array_like, at least 1-D, real
        Scores; ``-inf``, ``inf`` and NaN as in `softmax`.
    axis : int, default -1
        The axis whose entries share the weight.

    Returns
    -------
    ndarray, same shape as `x`
        Logarithms of the weights, at most 0, in the floating dtype of `x`; ``-inf`` where the weight is 0.

    Raises
    ------
    TypeError
        If `x` does not hold real numbers, or `axis` is not an integer.
    ValueError
        If `x` has no axis, or not this one.

    See Also
    --------
    softmax : the weights.

    Notes
    -----
    Derived in chapter 03, from the same shift by the maximum; see Blanchard, Higham and Higham,
    2021, doi:10.1093/imanum/draa038.

    Examples
    --------
    >>> log_softmax([0.0, 1000.0])
    array([-1000.,     0.])
    """
    dtype, x = _less_its_maximum(x, axis)
    total = np.exp(x).sum(axis=axis, keepdims=True)
    return (x - np.log(np.maximum(total, 1))).astype(dtype, copy=False)  # as in softmax


@quiet
def softmax_jacobian(p):
    r"""Return how each weight moves with each score: ``diag(p) - p pᵀ``.

    .. math:: \frac{\partial p_i}{\partial x_j} = p_i (\delta_{ij} - p_j)

    Parameters
    ----------
    p : array_like, shape (..., n), real
        Weights, as `softmax` returns them (not the scores).

    Returns
    -------
    ndarray, shape (..., n, n)
        The Jacobian: symmetric, each row summing to 0, in the floating dtype of `p`.

    Raises
    ------
    TypeError
        If `p` does not hold real numbers.
    ValueError
        If `p` has no axis.

    Notes
    -----
    Derived in chapter 03.
    For weights that sum to 1 no eigenvalue is above 1/2:
    Nair, "Softmax is 1/2-Lipschitz: A tight bound across all ℓp norms", 2025, arXiv:2510.23012.

    Examples
    --------
    >>> softmax_jacobian([0.5, 0.5])
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    dtype, (p,) = floats(p=p)
    if p.ndim == 0:
        raise ValueError("p must have shape (..., n), got shape ()")
    column, row = p[..., :, None], p[..., None, :]  # (..., n, 1) and (..., 1, n)
    jacobian = column * np.eye(p.shape[-1], dtype=p.dtype) - column * row  # (..., n, n)
    return jacobian.astype(dtype, copy=False)


@quiet
def attention_weights(Q, K, *, mask=None, bias=None, scale=None):
    r"""Return, for every query, the share of its attention that each key gets.

    Row ``i`` is :math:`\mathrm{softmax}_j(c \, q_i \cdot k_j + b_{ij})` over the keys ``j`` it may attend to.

    Parameters
    ----------
    Q : array_like, shape (..., N, d_k), real
        Queries, one a row.
    K : array_like, shape (..., M, d_k), real
        Keys, one a row.
    mask : array_like of bool, broadcasting to (..., N, M), optional
        True where the query may attend to the key.
    bias : array_like of float, broadcasting to (..., N, M), optional
        Added to the scores; ``-inf`` masks, as False in `mask` does.
    scale : float, optional
        The factor :math:`c`, by default :math:`1/\sqrt{d_k}`.

    Returns
    -------
    ndarray, shape (..., N, M)
        Weights, in the floating dtype of `Q` and `K`. Each row sums to 1;
        the row of a query that may attend to nothing is 0.

    Raises
    ------
    TypeError
        If an argument has the wrong dtype: `mask` must be boolean, `bias` floating.
    ValueError
        If the shapes do not fit together, or `scale` is not finite.

    See Also
    --------
    attention : these weights, applied to values.

    Notes
    -----
    Derived in chapter 03, masks in chapter 08.
    Vaswani et al., 2017, arXiv:1706.03762, section 3.2.1.

    Examples
    --------
    >>> attention_weights([[1, 0], [0, 1]], [[1, 0], [0, 1]], mask=[[True, False], [True, True]]).round(3)
    array([[1.  , 0.  ],
           [0.33, 0.67]])
    """
    dtype, (Q, K) = floats(Q=Q, K=K)
    scores = attention_scores(Q, K, scale=scale)  # (..., N, M)
    if bias is not None:
        bias = as_bias(bias, scores.shape)
        # Select where it is -inf: added to a score of inf or NaN it would give NaN, not -inf.
        scores = np.where(bias == -np.inf, -np.inf, scores + bias)
    if mask is not None:
        scores = np.where(as_mask(mask, scores.shape), scores, -np.inf)
    return softmax(scores).astype(dtype, copy=False)


def _less_its_maximum(x, axis):
    """Return the dtype of the result, and `x` less its maximum along `axis`, in the dtype to compute in."""
    dtype, (x,) = floats(x=x)
    if not -x.ndim <= integer("axis", axis) < x.ndim:
        raise ValueError(f"x has no axis {axis}: its shape is {x.shape}")
    top = x.max(axis=axis, keepdims=True, initial=np.finfo(x.dtype).min)  # finite even where every entry is -inf
    return dtype, np.where(x == top, 0, x - top)  # 0 at the maximum even where it is inf: inf - inf is NaN
