"""Attention in NumPy, written to be read beside *Attention, One Matrix at a Time*.

One module a topic, in the order of the chapters:

``scores``  (chapter 02)  how well each query matches each key
``weights`` (chapter 03)  scores turned into shares that sum to 1
``output``  (chapter 04)  the values mixed by those shares
``cost``    (chapter 07)  the operations and the bytes that this takes
``masks``   (chapter 08)  which query may attend to which key

These import NumPy and each other, upwards only.
Plotting (``attention_lib.plotting``) and the readers' self-checks (``attention_lib.check``)
stand beside them and are imported by name; nothing here imports them.

Symbols in shape comments, here and in every chapter: ``N`` queries, ``M`` keys,
``d_k`` features of a query or key, ``d_v`` features of a value, ``...`` any leading axes.
"""

from attention_lib.cost import attention_cost
from attention_lib.masks import block_diagonal_mask, causal_mask, padding_mask, window_mask
from attention_lib.output import attention
from attention_lib.scores import attention_scores
from attention_lib.weights import attention_weights, log_softmax, softmax, softmax_jacobian

__all__ = [
    "attention",
    "attention_cost",
    "attention_scores",
    "attention_weights",
    "block_diagonal_mask",
    "causal_mask",
    "log_softmax",
    "padding_mask",
    "softmax",
    "softmax_jacobian",
    "window_mask",
]
__version__ = "0.1.0"
