"""Projections: the weight matrices that turn tokens into queries, keys and values (chapter 05)."""

import math

import numpy as np

from attention_lib._arguments import count

SCHEMES = ("unit", "xavier", "t5")


def init_weights(rng, d_model, d_head, n_heads=1, *, scheme="xavier"):
    r"""Return random weight matrices of one attention layer, as they are before training.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the random numbers come from: ``np.random.default_rng(seed)``.
    d_model : int
        Features of a token.
    d_head : int
        Features of a query, key or value in one head: its :math:`d_k` and :math:`d_v`.
    n_heads : int, default 1
        Number of heads, side by side in the columns of `W_q`, `W_k` and `W_v`.
    scheme : {"xavier", "unit", "t5"}, default "xavier"
        How widely the entries spread.
        "unit": normal, variance 1.
        "xavier": uniform, variance 2 / (rows + columns), so that neither a product with the matrix
        nor one with its transpose grows much.
        "t5": normal; variance 1/`d_model` for `W_k` and `W_v`, 1/(`d_model` `d_head`) for `W_q`,
        1/(`n_heads` `d_head`) for `W_o`. For tokens whose features have mean square 1 the dot products
        then have variance 1 as they are, and need no scale.

    Returns
    -------
    W_q, W_k, W_v : ndarray, shape (d_model, n_heads * d_head)
        They turn tokens, one a row, into queries, keys and values: ``X @ W_q``.
    W_o : ndarray, shape (n_heads * d_head, d_model)
        It turns the heads' outputs back into tokens.

    Raises
    ------
    TypeError
        If `rng` is not a Generator, or a size is not an integer.
    ValueError
        If a size is below 1, or `scheme` is none of the three.

    Notes
    -----
    Used in chapters 05, 06 and 09.
    "xavier" is equation 16 of Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", 2010, https://proceedings.mlr.press/v9/glorot10a.html.
    "t5" is that of Mesh TensorFlow with ``fold_scaling_into_initializer``
    (https://github.com/tensorflow/mesh, ``transformer/attention.py``), with which T5 was trained.

    Examples
    --------
    >>> [W.shape for W in init_weights(np.random.default_rng(0), d_model=512, d_head=64)]
    [(512, 64), (512, 64), (512, 64), (64, 512)]
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator, such as np.random.default_rng(0), got {rng!r}")
    d_model, d_head, n_heads = (
        _size(name, value) for name, value in (("d_model", d_model), ("d_head", d_head), ("n_heads", n_heads))
    )
    if scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(map(repr, SCHEMES))}, got {scheme!r}")
    d_heads = n_heads * d_head
    shapes = [(d_model, d_heads)] * 3 + [(d_heads, d_model)]  # W_q, W_k, W_v, W_o
    if scheme == "xavier":
        edge = math.sqrt(6 / (d_model + d_heads))  # uniform between -edge and edge has variance edge² / 3
        return tuple(rng.uniform(-edge, edge, shape) for shape in shapes)
    deviations = [1.0] * 4
    if scheme == "t5":
        deviations = [(d_model * d_head) ** -0.5, d_model**-0.5, d_model**-0.5, d_heads**-0.5]
    return tuple(rng.normal(0, deviation, shape) for deviation, shape in zip(deviations, shapes, strict=True))


def _size(name, value):
    if (value := count(name, value)) < 1:
        raise ValueError(f"{name} must be 1 or more, got {value}")
    return value
