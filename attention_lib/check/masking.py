"""Self-checks of chapter 08: masking."""

import numpy as np

from attention_lib.check._engine import Mistake, check_function
from attention_lib.check._shared import KEEPDIMS, random
from attention_lib.masks import block_diagonal_mask, causal_mask, window_mask
from attention_lib.output import attention
from attention_lib.weights import softmax

SWAPPED = "True and False are swapped: True means that the query may see the key"
ADDED = "this is an additive mask, of 0 and large negative numbers: give booleans, True where the query may see the key"
ONES_AND_ZEROS = "ones and zeros are no boolean mask: added, they hide nothing; give booleans, as a comparison does"
ITSELF = "no query sees its own token: it may, so the comparison includes equality"
TRANSPOSED = "your rows are keys: row i says what query i may see"


def added(mask, fill=-np.inf):
    return np.where(mask, 0.0, fill)


def cache_mask(answer):
    """Check ``answer(n, m, past)``: n new tokens after `past` stored ones, in a cache with room for m."""
    return check_function(
        "cache_mask",
        answer,
        right=after_the_past,
        inputs=CACHES,
        mistakes=CACHE_MISTAKES,
        called="mask",
        boolean=ONES_AND_ZEROS,
    )


def places(n, m):
    return np.arange(n)[:, None], np.arange(m)  # (n, 1) and (m,)


def after_the_past(n, m, past):
    i, j = places(n, m)
    return j <= i + past


# With room to spare, one new token, a full cache, an empty one.
CACHES = [(3, 8, 2), (1, 6, 3), (2, 5, 3), (4, 4, 0)]

CACHE_MISTAKES = [
    Mistake(
        "top-left",
        lambda n, m, past: causal_mask(n, m, align="top-left"),
        "new query i is not token i: as many tokens as are stored stand before the first of them, so add past",
    ),
    Mistake(
        "bottom-right",
        lambda n, m, past: causal_mask(n, m),
        "you let the last query see the last place, and that may be empty: the offset is past, not m − n",
    ),
    Mistake(
        "bottom-right",
        lambda n, m, past: causal_mask(n, m) & (np.arange(m) < past + n),
        "hiding the empty places does not mend the offset: it is past, not m − n",
    ),
    Mistake(
        "one ahead",
        lambda n, m, past: after_the_past(n, m, past + 1),
        "each new query sees the token after its own: query i stands at place past + i",
    ),
    Mistake("itself hidden", lambda n, m, past: after_the_past(n, m, past - 1), ITSELF),
    Mistake("swapped", lambda n, m, past: ~after_the_past(n, m, past), SWAPPED),
    Mistake(
        "no order",
        lambda n, m, past: np.tile(np.arange(m) < past + n, (n, 1)),
        "the new tokens see each other's future: the first of them may not see the second",
    ),
    Mistake(
        "past alone",
        lambda n, m, past: np.tile(np.arange(m) < past, (n, 1)),
        "the new tokens see the stored ones alone: each also sees itself and the new ones before it",
    ),
    Mistake(
        "empty places",
        lambda n, m, past: np.ones((n, m), bool),
        "every query sees every place, later tokens and empty ones too",
    ),
    Mistake(
        "past hidden",
        lambda n, m, past: after_the_past(n, m, past) & (np.arange(m) >= past),
        "the stored tokens are hidden: each new query sees all of them",
    ),
    Mistake("added", lambda n, m, past: added(after_the_past(n, m, past)), ADDED),
    Mistake("added", lambda n, m, past: added(after_the_past(n, m, past), -1e9), ADDED),
    Mistake("transposed", lambda n, m, past: after_the_past(n, m, past).T, TRANSPOSED),
]


def masked_softmax(answer):
    """Check ``answer(S, mask)``, each row's softmax over the seen keys, and zeros where none is seen."""
    return check_function(
        "masked_softmax",
        answer,
        right=lambda S, mask: softmax(np.where(mask, S, -np.inf)),
        inputs=ROWS,
        mistakes=ROW_MISTAKES,
        called="weights",
    )


def rows(N, M, seed):
    (S,) = random((N, M), seed=seed)
    mask = np.random.default_rng(seed).random((N, M)) < 0.6
    mask[:, 0] |= ~mask.any(axis=1)
    return S, mask


def with_hidden(values):
    """Return rows in which hidden scores are something else than an ordinary number."""
    S, mask = rows(3, 4, seed=1)
    mask[:, 1], mask[:, 2] = False, True
    S[:, 1] = values
    return S, mask


def with_an_empty_row(dtype=float):
    S, mask = rows(4, 4, seed=2)
    mask[2] = False
    return S.astype(dtype), mask


def shifted(S, mask, by):
    return S + by, mask


# Ordinary rows, an empty row in two types, hidden scores that are huge or NaN, seen scores that overflow an
# exponential, with a row that is so far below the other that only its own maximum can save it.
ROWS = [
    rows(3, 5, seed=0),
    with_an_empty_row(),
    with_an_empty_row(np.float32),
    with_hidden([900.0, 3000.0, 900.0]),
    with_hidden([np.nan, np.inf, 0.5]),
    shifted(*rows(2, 4, seed=3), [[2000.0], [-2000.0]]),
]


def over_sum(e, axis=-1, keepdims=True):
    return e / e.sum(axis=axis, keepdims=keepdims)


def filled(S, mask, fill):
    return np.where(mask, S, fill)


def at_least(floor, e):
    """Return each row over its sum, or over `floor` where the sum is smaller."""
    return e / np.maximum(e.sum(axis=-1, keepdims=True), floor)


def less_maximum(S, **options):
    return np.exp(S - S.max(keepdims=True, **{"axis": -1} | options))


TINY, LOWEST = 1e-9, -1e30


def stable(S, axis=-1, keepdims=True):
    """Return a softmax that takes off the maximum and knows nothing of empty rows."""
    return over_sum(np.exp(S - S.max(axis=axis, keepdims=keepdims)), axis, keepdims)


EMPTY = "a row that sees nothing comes out as NaN, 0/0: give it zeros, by dividing by at least 1 or with np.where"
AFTER = "the weights of the seen keys do not sum to 1: the hidden scores are still in the sum they are divided by"
AFTER_NAN = (
    "hidden scores still have a part in it, in the sum or in the maximum: where one is huge nothing is left "
    "to divide by. Put −∞ in the hidden places first"
)
NAN_STAYS = "NaN + −∞ is NaN: a hidden score may be anything, so replace it, with np.where, instead of adding to it"
OVERFLOW = "large scores overflow: take off the largest seen score of each row before the exponential"
SCORE_ZERO = "a score of 0 hides nothing, since e⁰ = 1: put −∞ in the hidden places"
ROW_MISTAKES = [
    Mistake("NaN in an empty row", lambda S, mask: stable(filled(S, mask, -np.inf)), EMPTY),
    *(
        Mistake(
            "even shares",
            lambda S, mask, fill=fill: stable(filled(S, mask, fill)),
            "a row that sees nothing gets even shares of what it may not see: its weights should be 0",
        )
        for fill in (-1e9, np.finfo(float).min, -1e300)  # in float32 the last is −∞
    ),
    Mistake(
        "float64 alone",
        lambda S, mask: (stable if S.dtype == np.float32 else softmax)(filled(S, mask, -np.inf)),
        "in float32 a row that sees nothing comes out as NaN: 1e300 is infinite there, and 1e-300 is 0; "
        "np.finfo(S.dtype).min is finite",
    ),
    Mistake("score 0", lambda S, mask: stable(filled(S, mask, 0)), SCORE_ZERO),
    Mistake("score 0", lambda S, mask: stable(S * mask), SCORE_ZERO),
    Mistake("weight 0", lambda S, mask: np.where(mask, stable(S), 0), AFTER),
    Mistake("weight 0", lambda S, mask: stable(S) * mask, AFTER),
    Mistake("masked afterwards", lambda S, mask: over_sum(np.where(mask, stable(S), 0)), AFTER_NAN),
    Mistake("masked afterwards", lambda S, mask: over_sum(stable(S) * mask), AFTER_NAN),
    Mistake("masked afterwards", lambda S, mask: np.nan_to_num(over_sum(stable(S) * mask)), AFTER_NAN),
    *(
        Mistake(
            "masked afterwards",
            lambda S, mask, floor=floor: at_least(floor, np.where(mask, less_maximum(S), 0)),
            AFTER_NAN,
        )
        for floor in (TINY, 1)
    ),
    Mistake("no mask", lambda S, mask: softmax(S), "the mask has no effect: put −∞ in the hidden places"),
    Mistake("no mask", lambda S, mask: stable(S), "the mask has no effect: put −∞ in the hidden places"),
    Mistake(
        "infinity times 0",
        lambda S, mask: softmax(S - np.inf * ~mask),
        "∞ times 0 is NaN, so every score is NaN: choose with np.where instead of multiplying",
    ),
    Mistake(
        "maximum of at least 0",
        lambda S, mask: at_least(1, less_maximum(filled(S, mask, -np.inf), initial=0.0)),
        "where all seen scores are negative you take off 0 instead of the largest: initial= must lie below every score",
    ),
    Mistake(
        "no maximum",
        lambda S, mask: at_least(1, np.exp(filled(S, mask, -np.inf))),
        "a sum below 1 is that of an empty row only after the largest seen score is taken off: take it off first",
    ),
    *(
        Mistake(
            "one maximum for all rows",
            lambda S, mask, floor=floor: at_least(
                floor, less_maximum(filled(S, mask, -np.inf), axis=None, initial=LOWEST)
            ),
            "you took off the largest score of all rows, and a row far below it is lost: take off each row's own",
        )
        for floor in (TINY, 1)
    ),
    Mistake("swapped", lambda S, mask: softmax(filled(S, ~mask, -np.inf)), SWAPPED),
    Mistake("swapped", lambda S, mask: stable(filled(S, ~mask, -np.inf)), SWAPPED),
    *(
        Mistake("added", lambda S, mask, f=f, fill=fill: f(S + np.where(mask, 0, fill)), NAN_STAYS)
        for f in (softmax, stable)
        for fill in (-np.inf, -1e9)
    ),
    Mistake(
        "plus infinity",
        lambda S, mask: softmax(filled(S, mask, np.inf)),
        "the hidden keys take all the weight: minus −∞ is +∞, so check the sign",
    ),
    Mistake("overflow", lambda S, mask: over_sum(np.exp(filled(S, mask, -np.inf))), OVERFLOW),
    Mistake("overflow", lambda S, mask: at_least(TINY, np.exp(filled(S, mask, -np.inf))), OVERFLOW),
    Mistake("overflow", lambda S, mask: np.nan_to_num(over_sum(np.exp(filled(S, mask, -np.inf)))), OVERFLOW),
    Mistake(
        "columns",
        lambda S, mask: softmax(filled(S, mask, -np.inf), axis=0),
        "your columns sum to 1, your rows do not: share each query's weight out over the keys, with axis=-1",
    ),
    *(
        Mistake("keepdims", lambda S, mask, kept=kept: loses_an_axis(filled(S, mask, -np.inf), *kept), KEEPDIMS)
        for kept in ((False, True), (True, False), (False, False))
    ),
]


def loses_an_axis(S, of_maximum, of_sum):
    e = np.exp(S - S.max(axis=-1, keepdims=of_maximum))
    return e / e.sum(axis=-1, keepdims=of_sum)


def packed_mask(answer):
    """Check ``answer(owner)``: which token may see which, if token t belongs to the text owner[t]."""
    return check_function(
        "packed_mask",
        answer,
        right=own_past,
        inputs=TEXTS,
        mistakes=PACKED_MISTAKES,
        called="mask",
        boolean=ONES_AND_ZEROS,
    )


def same_text(owner):
    return owner[:, None] == owner


def own_past(owner):
    return same_text(owner) & causal_mask(len(owner))


# Three texts one after the other, two interleaved, and one alone.
TEXTS = [(np.array([0, 0, 0, 1, 1, 2]),), (np.array([7, 4, 4, 7, 7]),), (np.array([1, 1, 1]),)]

PACKED_MISTAKES = [
    Mistake(
        "no order", same_text, "each token sees the later tokens of its own text: combine the rule with the causal one"
    ),
    Mistake(
        "no texts",
        lambda owner: causal_mask(len(owner)),
        "tokens see earlier texts: a pair must also belong to the same text",
    ),
    Mistake(
        "or",
        lambda owner: same_text(owner) | causal_mask(len(owner)),
        "you combined the rules with or: a pair has to be allowed by both, so use &",
    ),
    Mistake("swapped", lambda owner: ~own_past(owner), SWAPPED),
    Mistake("itself hidden", lambda owner: own_past(owner) & ~np.eye(len(owner), dtype=bool), ITSELF),
    Mistake(
        "looks ahead",
        lambda owner: own_past(owner).T,
        "each token sees itself and what comes after it: row i is the query, and j ≤ i",
    ),
    Mistake("added", lambda owner: added(own_past(owner)), ADDED),
    Mistake(
        "end to end",
        lambda owner: block_diagonal_mask(np.unique(owner, return_counts=True)[1]) & causal_mask(len(owner)),
        "you laid the texts end to end by their lengths: a text may stop and go on later, so compare the owners",
    ),
    Mistake(
        "neighbours",
        lambda owner: own_past(np.cumsum(np.diff(owner, prepend=owner[0]) != 0)),  # a new text at each change
        "a text may go on after another one has come in between: compare the two owners, not all between them",
    ),
]


def masked_loss(answer):
    """Check ``answer(losses, lengths)``, the mean over real tokens of a batch with padding at the end."""
    return check_function(
        "masked_loss", answer, right=mean_of_real, inputs=BATCHES, mistakes=LOSS_MISTAKES, called="mean"
    )


def is_real(losses, lengths):
    return np.arange(losses.shape[1]) < lengths[:, None]


def mean_of_real(losses, lengths):
    return losses[is_real(losses, lengths)].mean()


def some_losses(lengths, n, padding):
    (losses,) = random((len(lengths), n), seed=4)
    losses, lengths = losses**2, np.array(lengths)
    losses[~is_real(losses, lengths)] = padding
    return losses, lengths


# Padding that looks like a loss, that is 0, that is NaN, and none at all.
BATCHES = [
    some_losses([2, 4, 1], 5, 3.5),
    some_losses([3, 1], 4, 0.0),
    some_losses([1, 3, 2], 4, np.nan),
    some_losses([3, 3], 3, 0.0),
]


def real_or_zero(losses, lengths):
    return np.where(is_real(losses, lengths), losses, 0)


LOSS_MISTAKES = [
    Mistake(
        "all tokens",
        lambda losses, lengths: losses.mean(),
        "the padding is in the mean: leave out the tokens at and after each sequence's length",
    ),
    Mistake(
        "0 times NaN",
        lambda losses, lengths: (losses * is_real(losses, lengths)).sum() / lengths.sum(),
        "0 times NaN is NaN: select the real tokens, with np.where or an index, instead of multiplying",
    ),
    Mistake(
        "divided by all",
        lambda losses, lengths: real_or_zero(losses, lengths).mean(),
        "the sum is right and the divisor is not: divide by the number of real tokens",
    ),
    Mistake(
        "divided by all",
        lambda losses, lengths: (losses * is_real(losses, lengths)).mean(),
        "the sum is right and the divisor is not: divide by the number of real tokens",
    ),
    Mistake(
        "mean of means",
        lambda losses, lengths: (real_or_zero(losses, lengths).sum(axis=1) / lengths).mean(),
        "each sequence counts alike here, so the tokens of short ones count more: average over all real tokens at once",
    ),
    Mistake(
        "mean of means",
        lambda losses, lengths: ((losses * is_real(losses, lengths)).sum(axis=1) / lengths).mean(),
        "each sequence counts alike here, so the tokens of short ones count more: average over all real tokens at once",
    ),
    Mistake(
        "NaN alone",
        lambda losses, lengths: np.nanmean(losses),
        "you left out what is NaN, and padding may be any number: the lengths say which tokens are real",
    ),
    Mistake(
        "one a sequence",
        lambda losses, lengths: real_or_zero(losses, lengths).sum(axis=1) / lengths,
        "this is one mean for each sequence: give one number, the mean over all real tokens",
    ),
    Mistake(
        "sum",
        lambda losses, lengths: real_or_zero(losses, lengths).sum(),
        "this is the sum: divide it by the number of real tokens",
    ),
    Mistake(
        "divided by the sequences",
        lambda losses, lengths: real_or_zero(losses, lengths).sum() / len(lengths),
        "you divided by the number of sequences: divide by the number of real tokens",
    ),
    Mistake(
        "one too many",
        lambda losses, lengths: losses[np.arange(losses.shape[1]) <= lengths[:, None]].mean(),
        "one token of padding is taken along: the real ones are at places 0 to length − 1",
    ),
    Mistake(
        "one too few",
        lambda losses, lengths: losses[np.arange(losses.shape[1]) < lengths[:, None] - 1].mean(),
        "the last real token is missing: the real ones are at places 0 to length − 1, both included",
    ),
    Mistake(
        "padding alone",
        lambda losses, lengths: losses[~is_real(losses, lengths)].mean(),
        "this is the mean over the padding: real tokens come before each sequence's length",
    ),
]


def token_reads(answer):
    """Check ``answer(f, X)``: which row of f(X) moves if which row of X is changed, shape (n, n)."""
    return check_function(
        "token_reads",
        answer,
        right=which_moves,
        inputs=[(f, TOKENS) for f in (attends_to_past, sees_one_ahead, normalised, one_feature, delayed)],
        mistakes=READS_MISTAKES,
        form="give a matrix of shape (n, n): row i for output i, column t for the token that was changed",
        called="matrix",
        boolean="ones and zeros are no booleans: give True where the output moved, as with dtype=bool",
    )


TOKENS = random((5, 5), seed=5)[0]  # as many features as tokens, so that a wrong axis runs


def attends_to_past(X):
    return attention(X, X, X, mask=causal_mask(len(X)))


def sees_one_ahead(X):
    return attention(X, X, X, mask=window_mask(len(X), left=1, right=1))


def normalised(X):
    """Normalise over the tokens, so that each has a part in all, and attend to the past."""
    return attends_to_past(X / np.sqrt((X**2).mean(axis=0)))


def one_feature(X):
    """Add to one feature the sum over the tokens so far, and leave the others alone."""
    return np.column_stack([X[:, 0].cumsum(), X[:, 1:]])


def delayed(X):
    """Return the token before, and nothing for the first."""
    return np.concatenate([np.zeros_like(X[:1]), X[:-1]])


def moved_by(f, X, *, change=lambda X, t: X[t] + 3.0, original=lambda f, X: f(X), every=False, kept=False):
    """Change one token after another; with the options, as people get it wrong."""
    before = original(f, X)
    matrix = np.zeros((len(X), len(X)), bool)
    changed = X.copy()
    for t in range(len(X)):
        changed = changed if kept else X.copy()
        changed[t] = change(X, t)
        moved = ~np.isclose(f(changed), before)
        matrix[:, t] = moved.all(axis=1) if every else moved.any(axis=1)
    return matrix


def which_moves(f, X):
    return moved_by(f, X)


READS_MISTAKES = [
    Mistake(
        "transposed",
        lambda f, X: which_moves(f, X).T,
        "your rows are the tokens that were changed: put them in columns, and the outputs in rows",
    ),
    Mistake(
        "changes pile up",
        lambda f, X: moved_by(f, X, kept=True),
        "earlier changes are still there when you change the next token: start each time from a new X.copy()",
    ),
    Mistake(
        "same array",
        lambda f, X: np.zeros((len(X), len(X)), bool),
        "nothing ever moves: if you wrote Y = X, then Y is X itself, and both sides were changed; take X.copy()",
    ),
    Mistake(
        "sign alone",
        lambda f, X: moved_by(f, X, change=lambda X, t: -X[t]),
        "you changed the sign of the token, and a network that squares cannot see that: change its size too",
    ),
    Mistake(
        "every feature",
        lambda f, X: moved_by(f, X, every=True),
        "you ask whether all features of an output moved: one is enough, so use any",
    ),
    Mistake(
        "compared with X",
        lambda f, X: moved_by(f, X, original=lambda f, X: X),
        "you compare with the tokens: compare f of the changed tokens with f(X)",
    ),
    Mistake(
        "leaks alone",
        lambda f, X: np.triu(which_moves(f, X), 1),
        "these are the leaks alone: give the whole matrix, with what each output reads of its past too",
    ),
    Mistake(
        "without itself",
        lambda f, X: which_moves(f, X) & ~np.eye(len(X), dtype=bool),
        "the diagonal is missing: an output may read its own token, and that belongs to the matrix",
    ),
    Mistake(
        "unmoved",
        lambda f, X: ~which_moves(f, X),
        "True and False are swapped: True where the output moved",
    ),
    Mistake(
        "features",
        lambda f, X: np.array([~np.isclose(f(feature_changed(X, t)), f(X)).all(axis=1) for t in range(len(X))]).T,
        "you changed a column, which is a feature: token t is row t, X[t]",
    ),
]


def feature_changed(X, t):
    X = X.copy()
    X[:, t] += 3.0
    return X
