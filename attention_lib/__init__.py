"""Attention in NumPy, written to be read beside *Attention, One Matrix at a Time*.

One module a topic, in the order of the chapters (in brackets):

``scores``      (02)  how well each query matches each key
``weights``     (03)  scores turned into shares that sum to 1
``output``      (04)  the values mixed by those shares
``projections`` (05)  the weight matrices that make queries, keys and values
``cost``        (07)  the operations and the bytes that this takes
``masks``       (08)  which query may attend to which key
``gradients``   (11)  how a loss moves with queries, keys and values

These import NumPy and each other, upwards only.
Beside them, imported by name and by nothing here: figures (``attention_lib.plotting``), things to drag
(``attention_lib.explorables``), the readers' self-checks (``attention_lib.check``), and small experiments
(``attention_lib.tasks`` and ``attention_lib.training``).

Symbols in shape comments, here and in every chapter: ``N`` queries, ``M`` keys,
``d_k`` features of a query or key, ``d_v`` features of a value, ``...`` any leading axes.
"""

from attention_lib.cost import attention_cost
from attention_lib.gradients import attention_backward, softmax_backward
from attention_lib.masks import block_diagonal_mask, causal_mask, padding_mask, window_mask
from attention_lib.output import attention
from attention_lib.projections import init_weights
from attention_lib.scores import attention_scores
from attention_lib.weights import attention_weights, log_softmax, softmax, softmax_jacobian

__all__ = [
    "attention",
    "attention_backward",
    "attention_cost",
    "attention_scores",
    "attention_weights",
    "block_diagonal_mask",
    "causal_mask",
    "init_weights",
    "log_softmax",
    "padding_mask",
    "softmax",
    "softmax_backward",
    "softmax_jacobian",
    "window_mask",
]
__version__ = "0.1.0"
