"""Cost: the operations and the bytes that attention takes (chapter 07)."""

import dataclasses

import numpy as np

from attention_lib._arguments import count


@dataclasses.dataclass(frozen=True)
class AttentionCost:
    """What one attention layer takes: `attention_cost` makes it.

    Attributes
    ----------
    flops : dict of str to int
        Floating-point operations of each matrix product, a multiply-add counting 2, by what it makes:
        ``"Q"``, ``"K"``, ``"V"``, ``"scores"``, ``"mixture"`` (weights times values) and ``"output"`` (times `W_o`).
    exponentials : int
        How many exponentials the softmax takes: one an allowed pair of query and key in each head.
    bytes : dict of str to int
        The size of each array that is made, whole: ``"Q"``, ``"K"``, ``"V"``, ``"scores"``, ``"weights"``,
        ``"mixture"`` and ``"output"``.
    parameters : int
        Entries of `W_q`, `W_k`, `W_v` and `W_o` together.
    """

    flops: dict
    exponentials: int
    bytes: dict
    parameters: int

    @property
    def total_flops(self):
        """All matrix products together."""
        return sum(self.flops.values())

    @property
    def pair_flops(self):
        """The part that grows with the pairs of query and key: scores and mixture."""
        return self.flops["scores"] + self.flops["mixture"]

    @property
    def projection_flops(self):
        """The rest, which grows with the tokens: the products with `W_q`, `W_k`, `W_v` and `W_o`."""
        return self.total_flops - self.pair_flops

    @property
    def total_bytes(self):
        """All arrays together, as if none were freed before the end."""
        return sum(self.bytes.values())


def attention_cost(n, m=None, *, d_model, d_head=None, n_heads=1, causal=False, itemsize=8):
    r"""Return what one attention layer takes: FLOPs of each step, bytes of each array.

    The layer projects `n` tokens to queries and `m` tokens to keys and values, attends in each head,
    and projects the heads' mixtures, side by side, back to `d_model` features.

    Parameters
    ----------
    n : int
        Number of queries.
    m : int, optional
        Number of keys, by default `n`: self-attention.
    d_model : int
        Features of a token, before and after the layer.
    d_head : int, optional
        Features of a query, key and value in each head, by default ``d_model / n_heads``.
    n_heads : int, default 1
        Number of heads.
    causal : bool, default False
        Count only the pairs that `causal_mask(n, m)` allows: the last query sees every key, the one before it
        one key fewer, and so on, down to none if ``n > m``.
        This is what scores, exponentials and mixing cannot do without;
        a dense implementation computes all pairs and discards the rest.
        The projections and the arrays stay as they are: half of a matrix takes up the whole.
    itemsize : int, default 8
        Bytes of one number: 8 in float64, 4 in float32, 2 in float16 and bfloat16.

    Returns
    -------
    AttentionCost
        With the dictionaries `flops` and `bytes`, the numbers `exponentials` and `parameters`,
        and the sums `total_flops`, `pair_flops`, `projection_flops` and `total_bytes`.

    Raises
    ------
    TypeError
        If a size is not an integer, or `causal` not a bool.
    ValueError
        If a size is negative, `n_heads` is 0, or `d_head` is left out and `n_heads` does not divide `d_model`.

    See Also
    --------
    causal_mask : the pairs that are counted if `causal`.

    Notes
    -----
    Derived in chapter 07.
    A product of an (a, b) and a (b, c) matrix counts 2abc. Biases, the scale, the mask and the softmax's
    cheap operations (a maximum, a difference, a sum and a quotient for each pair) are not counted.
    With the defaults and :math:`d` for `d_model`, :math:`8Nd^2 + 4N^2d` in all: the two terms are equal at
    :math:`N = 2d`. The counts are those of A. Karpathy, nanoGPT, ``transformer_sizing.ipynb``, 2023,
    https://github.com/karpathy/nanoGPT.

    Examples
    --------
    One attention layer of GPT-2 small, with as many tokens as it takes.

    >>> attention_cost(1024, d_model=768, n_heads=12).total_flops
    8053063680
    >>> cost = attention_cost(1024, d_model=768, n_heads=12)
    >>> cost.flops["scores"], cost.projection_flops / cost.total_flops
    (1610612736, 0.6)
    """
    n, d_model, n_heads = count("n", n), count("d_model", d_model), count("n_heads", n_heads)
    m = n if m is None else count("m", m)
    d_head, itemsize = _head_size(d_model, n_heads, d_head), count("itemsize", itemsize)
    width = n_heads * d_head  # of the heads side by side
    pairs = n_heads * _pairs(n, m, causal)
    flops = {
        "Q": 2 * n * d_model * width,  # (N, d_model) @ (d_model, h·d_head)
        "K": 2 * m * d_model * width,
        "V": 2 * m * d_model * width,
        "scores": 2 * pairs * d_head,  # in each head (N, d_head) @ (d_head, M)
        "mixture": 2 * pairs * d_head,  # in each head (N, M) @ (M, d_head)
        "output": 2 * n * width * d_model,  # (N, h·d_head) @ (h·d_head, d_model)
    }
    numbers = {"Q": n * width, "K": m * width, "V": m * width, "scores": n_heads * n * m, "weights": n_heads * n * m}
    numbers |= {"mixture": n * width, "output": n * d_model}
    sizes = {name: itemsize * each for name, each in numbers.items()}
    return AttentionCost(flops, exponentials=pairs, bytes=sizes, parameters=4 * d_model * width)


def _head_size(d_model, n_heads, d_head):
    if n_heads == 0:
        raise ValueError("n_heads must be 1 or more, got 0")
    if d_head is not None:
        return count("d_head", d_head)
    if d_model % n_heads:
        raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}: pass d_head")
    return d_model // n_heads


def _pairs(n, m, causal):
    """Return how many pairs of query and key there are, or how many of them are causal."""
    if not isinstance(causal, (bool, np.bool_)):
        raise TypeError(f"causal must be True or False, got {causal!r}")
    if not causal:
        return n * m
    rows = min(n, m)  # the last queries; those before them see nothing
    return rows * m - rows * (rows - 1) // 2  # m keys for the last, one fewer for each one before
