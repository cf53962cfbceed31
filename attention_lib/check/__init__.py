"""Self-checks: hand your function to the check of the same name, and read one hint at a time.

>>> from attention_lib import check
>>> def my_softmax(x):
...     raise NotImplementedError
>>> check.softmax(my_softmax)
○ softmax: not written yet

A check never raises, whatever it is given.
It runs your function once on each of a few inputs, chosen so that the usual mistakes give themselves away,
and says which one it saw.
What your function prints on the way is shown for one input, the one that the hint is about.
"""

from attention_lib.check.complexity import attention_in_blocks, cheapest, crossover, generation_flops, layer_flops
from attention_lib.check.formula import (
    attention_shapes,
    loudness,
    scaled_attention,
    self_attention_columns,
    soft_lookup,
)
from attention_lib.check.masking import cache_mask, masked_loss, masked_softmax, packed_mask, token_reads
from attention_lib.check.output import aim, equivariance_gap, gaussian_attention, leave_one_out, mix
from attention_lib.check.projections import circle, head, line_scores, look_ahead, merged, slopes
from attention_lib.check.scaling import (
    dead_share,
    divisor,
    fair_share,
    head_scale,
    score_spread,
    variance_and_error,
)
from attention_lib.check.scores import batched_scores, lone_winner, pearson, score_matrix, tokens_from_scores
from attention_lib.check.t5 import factored_update, fold, query_rates, query_std, sized_step
from attention_lib.check.weights import (
    doubled_weights,
    log_softmax,
    softmax,
    softmax_axis,
    softmax_jacobian,
    temperature,
)

__all__ = [
    "aim",
    "attention_in_blocks",
    "attention_shapes",
    "batched_scores",
    "cache_mask",
    "cheapest",
    "circle",
    "crossover",
    "dead_share",
    "divisor",
    "doubled_weights",
    "equivariance_gap",
    "factored_update",
    "fair_share",
    "fold",
    "gaussian_attention",
    "generation_flops",
    "head",
    "head_scale",
    "layer_flops",
    "leave_one_out",
    "line_scores",
    "log_softmax",
    "lone_winner",
    "look_ahead",
    "loudness",
    "masked_loss",
    "masked_softmax",
    "merged",
    "mix",
    "packed_mask",
    "pearson",
    "query_rates",
    "query_std",
    "scaled_attention",
    "score_matrix",
    "score_spread",
    "self_attention_columns",
    "sized_step",
    "slopes",
    "soft_lookup",
    "softmax",
    "softmax_axis",
    "softmax_jacobian",
    "temperature",
    "token_reads",
    "tokens_from_scores",
    "variance_and_error",
]
