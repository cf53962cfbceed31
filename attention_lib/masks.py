"""Masks: which query may attend to which key (chapter 08). True means may attend."""

import numpy as np

from attention_lib._arguments import count, counts


def causal_mask(n, m=None, *, align="bottom-right"):
    """Return the mask that lets each query attend to itself and to what came before it.

    Parameters
    ----------
    n : int
        Number of queries.
    m : int, optional
        Number of keys, by default `n`.
    align : {"bottom-right", "top-left"}, default "bottom-right"
        Where the diagonal lies if ``n != m``.
        "bottom-right": the last query sees the last key (``j <= i + m - n``), as with cached keys.
        "top-left": the first query sees the first key only (``j <= i``).

    Returns
    -------
    ndarray of bool, shape (n, m)
        True where query ``i`` may attend to key ``j``.

    Raises
    ------
    TypeError
        If `n` or `m` is not an integer.
    ValueError
        If `n` or `m` is negative, or `align` is neither of the two.

    See Also
    --------
    window_mask : a causal mask that also forgets.

    Notes
    -----
    Used in chapter 08. Both alignments are in use; bottom-right is that of FlashAttention from its version 2.1
    (https://github.com/Dao-AILab/flash-attention#21-change-behavior-of-causal-flag).

    Examples
    --------
    >>> causal_mask(2, 5).astype(int)
    array([[1, 1, 1, 1, 0],
           [1, 1, 1, 1, 1]])
    """
    n = count("n", n)
    m = n if m is None else count("m", m)
    if not isinstance(align, str) or align not in ("bottom-right", "top-left"):
        raise ValueError(f'align must be "bottom-right" or "top-left", got {align!r}')
    offset = m - n if align == "bottom-right" else 0
    i, j = np.arange(n)[:, None], np.arange(m)  # (n, 1) and (m,) broadcast to (n, m)
    return j <= i + offset


def padding_mask(lengths, m):
    """Return the mask that hides the padding after each sequence's last key.

    Parameters
    ----------
    lengths : array_like of int, shape (...)
        How many of the `m` keys of each sequence are real.
    m : int
        Number of keys, padding included.

    Returns
    -------
    ndarray of bool, shape (..., 1, m)
        True at real keys; the axis of 1 broadcasts over the queries.

    Raises
    ------
    TypeError
        If `lengths` does not hold integers, or `m` is not one.
    ValueError
        If a length is negative or above `m`.

    Notes
    -----
    Used in chapter 08, which says why keys are masked and padded queries are not.
    The text of Vaswani et al., 2017, arXiv:1706.03762, does not mention padding. Their code masks it:
    ``attention_bias_ignore_padding`` in https://github.com/tensorflow/tensor2tensor.

    Examples
    --------
    >>> padding_mask([2, 3], 3).astype(int)
    array([[[1, 1, 0]],
    <BLANKLINE>
           [[1, 1, 1]]])
    """
    lengths, m = counts("lengths", lengths), count("m", m)
    if (lengths > m).any():
        raise ValueError(f"lengths must be at most m = {m}, got {lengths.max()}")
    return np.arange(m) < lengths[..., None, None]  # (m,) and (..., 1, 1) -> (..., 1, m)


def window_mask(n, m=None, *, left, right):
    """Return the mask that lets each query attend to the keys near it.

    Query ``i`` stands at key ``i + m - n``, as in `causal_mask`.

    Parameters
    ----------
    n : int
        Number of queries.
    m : int, optional
        Number of keys, by default `n`.
    left, right : int or None
        How many keys before and after its own place a query sees; None for all of them.

    Returns
    -------
    ndarray of bool, shape (n, m)
        True where query ``i`` may attend to key ``j``.

    Raises
    ------
    TypeError
        If `n`, `m`, `left` or `right` is not an integer.
    ValueError
        If one of them is negative.

    See Also
    --------
    causal_mask : the same as ``left=None, right=0``.

    Notes
    -----
    Used in chapter 08. Sliding windows are described by Beltagy, Peters and Cohan,
    "Longformer: The Long-Document Transformer", 2020, arXiv:2004.05150.

    Examples
    --------
    >>> window_mask(4, left=1, right=0).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    n = count("n", n)
    m = n if m is None else count("m", m)
    left = np.inf if left is None else count("left", left)
    right = np.inf if right is None else count("right", right)
    i, j = np.arange(n)[:, None], np.arange(m)  # (n, 1) and (m,) broadcast to (n, m)
    ahead = j - (i + m - n)  # how far the key stands after the query
    return (-left <= ahead) & (ahead <= right)


def block_diagonal_mask(lengths):
    """Return the mask that keeps sequences packed end to end from seeing each other.

    Parameters
    ----------
    lengths : array_like of int, shape (s,)
        The length of each sequence, in order.

    Returns
    -------
    ndarray of bool, shape (n, n) with n = sum(lengths)
        True where query and key belong to the same sequence.

    Raises
    ------
    TypeError
        If `lengths` does not hold integers.
    ValueError
        If `lengths` is not 1-D, a length is negative, or their sum is too large for an array.

    Notes
    -----
    Used in chapter 08. Packing is described by Krell, Kosec, Perez and Fitzgibbon,
    "Efficient Sequence Packing without Cross-contamination", 2021, arXiv:2107.02027.

    Examples
    --------
    >>> block_diagonal_mask([1, 2]).astype(int)
    array([[1, 0, 0],
           [0, 1, 1],
           [0, 1, 1]])
    """
    lengths = counts("lengths", lengths)
    if lengths.ndim != 1:
        raise ValueError(f"lengths must have shape (s,), got shape {lengths.shape}")
    n = sum(lengths.tolist())  # in Python's integers, which do not wrap around
    if n > np.iinfo(np.intp).max:
        raise ValueError(f"lengths must sum to the size of an array, got {n}")
    owner = np.repeat(np.arange(len(lengths)), lengths.astype(int))  # the sequence each token belongs to
    return owner[:, None] == owner  # (n, 1) and (n,) -> (n, n)
