"""Self-checks of chapter 09: T5."""

import numpy as np

from attention_lib.check._engine import Mistake, check_function, check_value
from attention_lib.check._shared import random


def query_std(answer):
    """Check ``answer(d_model, d_k, s)``, the spread of W_q for which tokens of size s have scores of variance 1."""
    return check_function(
        "query_std",
        answer,
        right=folded_std,
        inputs=[(512, 64, 1.0), (30, 10, 2.0), (200, 8, 0.5)],
        mistakes=STD_MISTAKES,
    )


def folded_std(d_model, d_k, s):
    return 1 / (s**2 * np.sqrt(d_model * d_k))


STD_MISTAKES = [
    Mistake(
        "variance",
        lambda d_model, d_k, s: 1 / (s**4 * d_model * d_k),
        "this is the variance of an entry: its root is the standard deviation",
    ),
    Mistake(
        "size forgotten",
        lambda d_model, d_k, s: 1 / np.sqrt(d_model * d_k),
        "this is right for tokens of size 1 alone: both the query and the key grow with s",
    ),
    Mistake(
        "size counted once",
        lambda d_model, d_k, s: 1 / (s * np.sqrt(d_model * d_k)),
        "the query grows with s and so does the key, which W_q has to make up for as well: the dot product grows with s²",
    ),
    Mistake(
        "size the wrong way",
        lambda d_model, d_k, s: s**2 / np.sqrt(d_model * d_k),
        "larger tokens need a smaller matrix: divide by s²",
    ),
    Mistake(
        "d_k forgotten",
        lambda d_model, d_k, s: 1 / (s**2 * np.sqrt(d_model)),
        "this makes the entries of a query 1: the dot product adds up d_k terms, so its variance is d_k",
    ),
    Mistake(
        "d_model forgotten",
        lambda d_model, d_k, s: 1 / (s**2 * np.sqrt(d_k)),
        "a query adds up d_model products: without d_model its entries have the variance d_model/d_k",
    ),
    Mistake(
        "d_k without its root",
        lambda d_model, d_k, s: 1 / (s**2 * np.sqrt(d_model) * d_k),
        "you divided by d_k, not by √d_k: the variance of the dot product is d_k, its standard deviation the root",
    ),
    Mistake(
        "d_model without its root",
        lambda d_model, d_k, s: 1 / (s**2 * d_model * np.sqrt(d_k)),
        "you divided by d_model, not by √d_model",
    ),
    Mistake(
        "fourth root",
        lambda d_model, d_k, s: 1 / (s**2 * np.sqrt(d_model) * d_k**0.25),
        "the fourth root of d_k is right where W_k gets its share too; here W_k stays as it is",
    ),
]


def fold(answer):
    """Check ``answer(W_q, n_heads)``, the matrix whose unscaled scores are those that W_q has when scaled by 1/√d_k."""
    return check_function(
        "fold",
        answer,
        right=folded,
        inputs=[(random((7, 32))[0], 2), (random((5, 36), seed=1)[0], 4), (random((6, 4), seed=2)[0], 1)],
        mistakes=FOLD_MISTAKES,
    )


def folded(W_q, n_heads):
    return W_q / np.sqrt(W_q.shape[1] / n_heads)


FOLD_MISTAKES = [
    Mistake(
        "all heads as one",
        lambda W_q, n_heads: W_q / np.sqrt(W_q.shape[1]),
        "you divided by the root of the whole width: a dot product stays within its head, so d_k is the width of one",
    ),
    Mistake(
        "d_model",
        lambda W_q, n_heads: W_q / np.sqrt(W_q.shape[0]),
        "you divided by √d_model, the number of rows: the scale has d_k, the width of one head",
    ),
    Mistake(
        "number of heads",
        lambda W_q, n_heads: W_q / np.sqrt(n_heads),
        "you divided by the root of the number of heads: d_k is how many columns each of them has",
    ),
    Mistake(
        "multiplied",
        lambda W_q, n_heads: W_q * np.sqrt(W_q.shape[1] / n_heads),
        "you multiplied by √d_k: the new code no longer divides, so the matrix has to be smaller",
    ),
    Mistake(
        "no root",
        lambda W_q, n_heads: W_q / (W_q.shape[1] / n_heads),
        "you divided by d_k, not by its root",
    ),
    Mistake(
        "fourth root",
        lambda W_q, n_heads: W_q / (W_q.shape[1] / n_heads) ** 0.25,
        "d_k to the power 1/4 is right if W_k is divided by it as well; here W_k stays as it is",
    ),
    Mistake(
        "first head only",
        lambda W_q, n_heads: np.where(
            np.arange(W_q.shape[1]) < (d_k := W_q.shape[1] // n_heads), W_q / np.sqrt(d_k), W_q
        ),
        "the first head is right, and the others are as they were: the scale belongs to every head",
    ),
    Mistake("unchanged", lambda W_q, n_heads: W_q, "the matrix is as it was: put the scale into it"),
]


def query_rates(answer):
    """Check the three factors on the rate of W_q, for SGD, Adam and a relative step, with d_k = 64."""
    return check_value(
        "query_rates",
        answer,
        [
            (lambda f: np.shape(f) == (3,), "give three factors, for SGD, Adam and the relative step: shape (3,)"),
            (np.isfinite, "every factor must be a finite real number"),
            (
                lambda f: not np.allclose(f, [64, 8, 1], rtol=0.01),
                "these are how much too far B moves: its rate has to be smaller by as much",
            ),
            (
                lambda f: not np.allclose(f, [1 / 8, 1 / 64, 1], rtol=0.01),
                "SGD and Adam are exchanged: the gradient itself is 8 times as large in B, and only SGD feels it",
            ),
            (
                lambda f: not np.allclose(f[2], 1 / 8, rtol=0.01),
                "the relative step needs no factor: the matrix of B is 8 times as small, and so is its step",
            ),
            (
                lambda f: np.isclose(f[0], 1 / 64, rtol=0.01),
                "SGD: B has to move 8 times less than A, and its gradient is 8 times as large",
            ),
            (
                lambda f: np.isclose(f[1], 1 / 8, rtol=0.01),
                "Adam: B has to move 8 times less than A, and the size of its gradient does not count",
            ),
            (
                lambda f: np.isclose(f[2], 1, rtol=0.01),
                "relative step: its size follows the matrix, so ask how much smaller the matrix of B is",
            ),
        ],
    )


def sized_step(answer):
    """Check ``answer(W, U, rate)``, a step along U whose size is a share of the matrix's, with Adafactor's floor."""
    return check_function("sized_step", answer, right=moved, inputs=STEPS, mistakes=STEP_MISTAKES)


def size(W):
    return np.sqrt(np.mean(W**2))


def moved(W, U, rate, measure=lambda W: max(1e-3, size(W))):
    return W - rate * measure(W) * U


def matrix_and_update(shape, scale, rate, seed):
    W, U = random(shape, shape, seed=seed)
    return scale * (W + 2), U, rate


# One whose mean is far from 0, one below the floor, and zeros.
STEPS = [
    matrix_and_update((3, 4), 0.5, 0.1, 3),
    matrix_and_update((4, 2), 1e-4, 10.0, 4),
    (np.zeros((2, 3)), random((2, 3), seed=5)[0], 100.0),
]


def measured(measure):
    return lambda W, U, rate: moved(W, U, rate, measure)


NO_FLOOR = "a matrix below the floor moves by less than it should: its size counts as at least 0.001"
STEP_MISTAKES = [
    Mistake("no floor", measured(size), NO_FLOOR),
    Mistake(
        "minimum for maximum",
        measured(lambda W: min(1e-3, size(W))),
        "you took the smaller of size and floor: the floor is a lower bound, so the larger one counts",
    ),
    Mistake(
        "floor added",
        measured(lambda W: size(W) + 1e-3),
        "the floor is not added to the size: it takes its place where the size is smaller",
    ),
    Mistake(
        "norm for RMS",
        measured(lambda W: max(1e-3, np.linalg.norm(W))),
        "this is the root of the sum of squares: the root mean square has their mean",
    ),
    Mistake(
        "standard deviation for RMS",
        measured(lambda W: max(1e-3, W.std())),
        "the standard deviation takes the mean off first: the root mean square does not",
    ),
    Mistake(
        "mean square",
        measured(lambda W: max(1e-3, np.mean(W**2))),
        "the root is missing: the root mean square has the unit of W, the mean square that of W²",
    ),
    Mistake(
        "mean of sizes",
        measured(lambda W: max(1e-3, np.abs(W).mean())),
        "this is the mean of the absolute values: square, take the mean, then the root",
    ),
    Mistake(
        "size of each entry",
        measured(lambda W: np.maximum(1e-3, np.abs(W))),
        "each entry moves by its own size: one size, the root mean square, counts for the whole matrix",
    ),
    Mistake(
        "size of the update",
        lambda W, U, rate: moved(W, U, rate, lambda W: max(1e-3, size(U))),
        "you measured U: the step is relative to the matrix W",
    ),
    Mistake(
        "absolute step",
        measured(lambda W: 1.0),
        "the step is the same for every matrix: multiply it by the size of W",
    ),
    Mistake(
        "wrong sign",
        lambda W, U, rate: 2 * W - moved(W, U, rate),
        "you went uphill: the update is subtracted",
    ),
    Mistake(
        "step alone",
        lambda W, U, rate: W - moved(W, U, rate),
        "this is the step alone: return the matrix after it",
    ),
]


def factored_update(answer):
    """Check ``answer(G)``, Adafactor's first update: the gradient over its factored size, clipped."""
    return check_function(
        "factored_update", answer, right=clipped_update, inputs=GRADIENTS, mistakes=UPDATE_MISTAKES, called="U"
    )


def factored(G):
    """Return the mean squares of the rows and of the columns as one matrix, and the update that they give."""
    rows, columns = (G**2).mean(axis=1), (G**2).mean(axis=0)
    V = np.outer(rows, columns) / rows.mean()
    return V, G / np.sqrt(V)


def clipped(U):
    return U / max(1, size(U))


def clipped_update(G):
    return clipped(factored(G)[1])


def gradient(shape, seed):
    G, rows, columns = random(shape, (shape[0], 1), (1, shape[1]), seed=seed)
    return G * np.exp(rows + columns)


# A square one whose update is below the threshold, and a wide one whose update is far above it.
GRADIENTS = [(gradient((4, 4), 6),), (gradient((3, 5), 7),)]

UPDATE_MISTAKES = [
    Mistake(
        "not clipped",
        lambda G: factored(G)[1],
        "the update is not clipped: where its root mean square is above 1, divide by it",
    ),
    Mistake(
        "always normalised",
        lambda G: factored(G)[1] / size(factored(G)[1]),
        "an update below the threshold stays as it is: divide by the larger of 1 and its root mean square",
    ),
    Mistake(
        "clipped by the norm",
        lambda G: (U := factored(G)[1]) / max(1, np.linalg.norm(U)),
        "you clipped by the root of the sum of squares: the root mean square has their mean",
    ),
    Mistake(
        "entries clipped",
        lambda G: np.clip(factored(G)[1], -1, 1),
        "you clipped entry by entry, which turns the update: divide the whole of it by one number",
    ),
    Mistake(
        "not factored",
        lambda G: np.sign(G),
        "every entry is divided by its own size, so the signs are left: use the means of the rows and the columns",
    ),
    Mistake(
        "no root",
        lambda G: clipped(G / factored(G)[0]),
        "you divided by the mean squares: divide by their roots",
    ),
    Mistake(
        "squares counted twice",
        lambda G: clipped(G / np.sqrt(np.outer((G**2).mean(axis=1), (G**2).mean(axis=0)))),
        "a row mean times a column mean has the unit of G to the fourth: divide by the mean of all squares",
    ),
    Mistake(
        "rows alone",
        lambda G: clipped(G / np.sqrt((G**2).mean(axis=1, keepdims=True))),
        "the columns have no say: the size of an entry is its row's mean times its column's, over the mean of all",
    ),
    Mistake(
        "columns alone",
        lambda G: clipped(G / np.sqrt((G**2).mean(axis=0))),
        "the rows have no say: the size of an entry is its row's mean times its column's, over the mean of all",
    ),
    Mistake(
        "rows and columns exchanged",
        lambda G: clipped(G / np.sqrt(factored(G.T)[0])),
        "rows and columns are exchanged: entry [i, j] takes the mean of row i and the mean of column j",
    ),
    Mistake(
        "one size for all",
        lambda G: G / size(G),
        "the whole matrix is divided by one number, as in the relative step: here each row and column has its own",
    ),
    Mistake(
        "absolute values",
        lambda G: clipped(G * np.abs(G).mean() / np.outer(np.abs(G).mean(axis=1), np.abs(G).mean(axis=0))),
        "these are means of absolute values: square the entries, take the means, and the root in the end",
    ),
]
