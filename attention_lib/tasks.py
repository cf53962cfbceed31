"""Small tasks that a single attention head can learn in seconds (chapter 05).

A task is a function of a random generator and a number of sequences.
It returns tokens ``X (batch, n, d)``, one-hot, and ``targets (batch, n)``:
at each token the class it should be given, or ``NOT_ASKED``.
"""

import numpy as np

from attention_lib._arguments import count

NOT_ASKED = -1


def associative_recall(rng, batch, *, n_pairs=6, n_keys=8, n_values=8):
    """Draw sequences of key-value pairs that end in one of their keys: which value came with it?

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the random numbers come from.
    batch : int
        Number of sequences.
    n_pairs : int, default 6
        Pairs in a sequence. No key and no value stands in two of them.
    n_keys, n_values : int, default 8
        How many keys and values there are, at least `n_pairs`.

    Returns
    -------
    X : ndarray, shape (batch, n_pairs + 1, 2 * n_keys + n_values)
        Tokens of three one-hot parts: the key asked for, the pair's key, and the pair's value.
        A pair has the last two, the token at the end only the first.
    targets : ndarray of int, shape (batch, n_pairs + 1)
        The value asked for, at the last token; ``NOT_ASKED`` at the pairs.

    Raises
    ------
    TypeError
        If a number is not an integer.
    ValueError
        If there are fewer keys or values than pairs, or no pair.

    Notes
    -----
    Used in chapters 05, 06 and 09. Recall as a test of sequence models goes back at least to Graves, Wayne and
    Danihelka, "Neural Turing Machines", 2014, arXiv:1410.5401, section 4.3.

    Examples
    --------
    >>> X, targets = associative_recall(np.random.default_rng(0), 2, n_pairs=2, n_keys=2, n_values=2)
    >>> X.shape, targets.tolist()
    ((2, 3, 6), [[-1, -1, 0], [-1, -1, 1]])
    """
    batch, n_pairs = count("batch", batch), count("n_pairs", n_pairs)
    n_keys, n_values = count("n_keys", n_keys), count("n_values", n_values)
    if not 1 <= n_pairs <= min(n_keys, n_values):
        raise ValueError(
            f"n_pairs must be at least 1 and at most n_keys and n_values, "
            f"got n_pairs = {n_pairs}, n_keys = {n_keys}, n_values = {n_values}"
        )
    sequence, pair = np.arange(batch), np.arange(n_pairs)
    keys = _distinct(rng, batch, n_pairs, n_keys)  # (batch, n_pairs)
    values = _distinct(rng, batch, n_pairs, n_values)
    asked = rng.integers(n_pairs, size=batch)  # which pair

    X = np.zeros((batch, n_pairs + 1, 2 * n_keys + n_values))
    X[sequence, -1, keys[sequence, asked]] = 1
    X[sequence[:, None], pair, n_keys + keys] = 1
    X[sequence[:, None], pair, 2 * n_keys + values] = 1
    targets = np.full((batch, n_pairs + 1), NOT_ASKED)
    targets[:, -1] = values[sequence, asked]
    return X, targets


def previous_token(rng, batch, *, n=8, n_symbols=8):
    """Draw rings of symbols in which each token is asked for the symbol before it.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the random numbers come from.
    batch : int
        Number of rings.
    n : int, default 8
        Tokens in a ring. Before the first stands the last.
    n_symbols : int, default 8
        How many symbols there are.

    Returns
    -------
    X : ndarray, shape (batch, n, n + n_symbols)
        Tokens of two one-hot parts: the place in the ring, and the symbol.
    targets : ndarray of int, shape (batch, n)
        The symbol of the token before.

    Raises
    ------
    TypeError
        If a number is not an integer.
    ValueError
        If there is no token or no symbol.

    Notes
    -----
    Used in chapter 05. In a ring no symmetric scores can do this, which on a line they can.
    Heads that read the token before are found in trained language models: Elhage et al.,
    "A Mathematical Framework for Transformer Circuits", 2021,
    https://transformer-circuits.pub/2021/framework/index.html.

    Examples
    --------
    >>> X, targets = previous_token(np.random.default_rng(0), 1, n=4, n_symbols=3)
    >>> X[0, :, 4:].argmax(axis=-1).tolist(), targets.tolist()
    ([2, 1, 1, 0], [[0, 2, 1, 1]])
    """
    batch, n, n_symbols = count("batch", batch), count("n", n), count("n_symbols", n_symbols)
    if n < 1 or n_symbols < 1:
        raise ValueError(f"n and n_symbols must be 1 or more, got n = {n}, n_symbols = {n_symbols}")
    symbols = rng.integers(n_symbols, size=(batch, n))
    X = np.zeros((batch, n, n + n_symbols))
    X[:, :, :n] = np.eye(n)
    X[:, :, n:] = np.eye(n_symbols)[symbols]
    return X, np.roll(symbols, 1, axis=1)


def _distinct(rng, batch, n, n_symbols):
    """Return for each sequence `n` different integers below `n_symbols`, in random order."""
    return rng.permuted(np.tile(np.arange(n_symbols), (batch, 1)), axis=1)[:, :n]
