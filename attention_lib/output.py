"""Output: the values, mixed by the weights (chapter 04)."""

import numpy as np

from attention_lib._arguments import check_leading, check_matrix, floats, quiet, shapes
from attention_lib.weights import attention_weights


@quiet
def attention(Q, K, V, *, mask=None, bias=None, scale=None, return_weights=False):
    r"""Return, for every query, the mean of the values weighted by its attention.

    .. math:: \mathrm{attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V

    Parameters
    ----------
    Q : array_like, shape (..., N, d_k), real
        Queries, one a row.
    K : array_like, shape (..., M, d_k), real
        Keys, one a row.
    V : array_like, shape (..., M, d_v), real
        Values, one a row: key ``j`` is the address of value ``j``.
    mask : array_like of bool, broadcasting to (..., N, M), optional
        True where the query may attend to the key.
        What is masked out has no influence, even if it is NaN.
    bias : array_like of float, broadcasting to (..., N, M), optional
        Added to the scores; ``-inf`` masks, as False in `mask` does.
    scale : float, optional
        The factor on the dot products, by default :math:`1/\sqrt{d_k}`.
    return_weights : bool, default False
        Return the weights as well.

    Returns
    -------
    output : ndarray, shape (..., N, d_v)
        One mixed value a query, in the floating dtype of `Q`, `K` and `V`.
        A query that may attend to nothing gets 0.
    weights : ndarray, shape (..., N, M)
        Only if `return_weights`; see `attention_weights`.

    Raises
    ------
    TypeError
        If an argument has the wrong dtype: `mask` must be boolean, `bias` floating.
    ValueError
        If the shapes do not fit together, or `scale` is not finite.

    See Also
    --------
    attention_scores, attention_weights : the two steps before the mixing.

    Notes
    -----
    Derived in chapters 01 to 04.
    The formula is equation 1 of Vaswani et al., "Attention Is All You Need", 2017, arXiv:1706.03762.

    Examples
    --------
    A query close to the first key takes most of its output from the first value.

    >>> attention([[4, 0]], [[1, 0], [0, 1]], [[10], [20]], scale=1.0).round(2)
    array([[10.18]])
    """
    dtype, (Q, K, V) = floats(Q=Q, K=K, V=V)
    weights = attention_weights(Q, K, mask=mask, bias=bias, scale=scale)  # (..., N, M)
    check_matrix("V", V, "(..., M, d_v)")
    if V.shape[-2] != K.shape[-2]:
        raise ValueError(f"K has M = {K.shape[-2]} but V has M = {V.shape[-2]} ({shapes(K=K, V=V)})")
    check_leading(weights=weights, V=V)
    output = _mix(weights, V).astype(dtype, copy=False)  # (..., N, M) @ (..., M, d_v) -> (..., N, d_v)
    return (output, weights.astype(dtype, copy=False)) if return_weights else output


def _mix(weights, V):
    """Return ``weights @ V``, in which a weight of 0 takes nothing, not even from NaN or inf."""
    finite = np.isfinite(V)
    if finite.all():
        return weights @ V
    output = weights @ np.where(finite, V, 0)  # 0 times NaN or inf is NaN, so these go only where they are read
    for special, places in ((np.inf, V == np.inf), (-np.inf, V == -np.inf), (np.nan, np.isnan(V))):
        read = (weights != 0) @ places  # a product of booleans: is one of these places read?
        output = output + np.where(read, special, 0)
    return output
