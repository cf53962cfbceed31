"""Scores: how well each query matches each key (chapter 02)."""

import math

from attention_lib._arguments import check_leading, check_matrix, floats, quiet, real_number, shapes


@quiet
def attention_scores(Q, K, *, scale=None):
    r"""Return the scaled dot product of every query with every key.

    Entry ``(i, j)`` is :math:`c \, q_i \cdot k_j`, where :math:`c` is the scale.

    Parameters
    ----------
    Q : array_like, shape (..., N, d_k), real
        Queries, one a row.
    K : array_like, shape (..., M, d_k), real
        Keys, one a row.
    scale : float, optional
        The factor :math:`c`. By default :math:`1/\sqrt{d_k}`; ``1.0`` leaves the dot products as they are.

    Returns
    -------
    ndarray, shape (..., N, M)
        The scores, in the floating dtype of `Q` and `K` (float64 for integers);
        inf and -inf stand for what is beyond its range.

    Raises
    ------
    TypeError
        If `Q` or `K` does not hold real numbers, or `scale` is not one real number.
    ValueError
        If the shapes do not fit together, or `scale` is not finite.

    See Also
    --------
    attention_weights : the same scores, after the softmax.

    Notes
    -----
    Derived in chapter 02; the default scale in chapter 06.
    The formula is equation 1 of Vaswani et al., "Attention Is All You Need", 2017, arXiv:1706.03762.

    Examples
    --------
    >>> X = [[1, 0], [1, 1], [0, 2]]
    >>> attention_scores(X, X, scale=1.0)
    array([[1., 1., 0.],
           [1., 2., 2.],
           [0., 2., 4.]])
    """
    dtype, (Q, K) = floats(Q=Q, K=K)
    check_matrix("Q", Q, "(..., N, d_k)")
    check_matrix("K", K, "(..., M, d_k)")
    d_k = Q.shape[-1]
    if K.shape[-1] != d_k:
        raise ValueError(f"Q has d_k = {d_k} but K has d_k = {K.shape[-1]} ({shapes(Q=Q, K=K)})")
    check_leading(Q=Q, K=K)
    # Without features every dot product is an empty sum, 0, and any scale will do.
    scale = 1 / math.sqrt(max(d_k, 1)) if scale is None else real_number("scale", scale, Q.dtype)
    # The formula scales the product. To scale Q is the same, takes fewer steps and stays longer in range.
    scores = (Q * scale) @ K.mT  # (..., N, d_k) @ (..., d_k, M) -> (..., N, M)
    return scores.astype(dtype, copy=False)
