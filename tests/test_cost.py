"""Cost: counted, against loops that do the work and against arrays that are made."""

import ast
import json
import re
from collections import Counter
from pathlib import Path

import nbformat
import numpy as np
import pytest

from attention_lib import attention_cost, causal_mask, softmax

ROOT = Path(__file__).resolve().parent.parent
SIZES = [(n, m) for n in range(5) for m in range(5)]
HEADS = [(6, 3, 2), (6, 2, 1), (5, 4, 3), (4, 1, 4)]  # d_model, d_head, n_heads


def layer(n, m, d_model, d_head, n_heads):
    """Run the layer head by head; return the FLOPs of its products, its arrays, and its weight matrices."""
    X, context, width = np.zeros((n, d_model)), np.zeros((m, d_model)), n_heads * d_head
    W_q, W_k, W_v, W_o = (np.zeros(shape) for shape in [(d_model, width)] * 3 + [(width, d_model)])
    heads = [slice(h * d_head, (h + 1) * d_head) for h in range(n_heads)]
    flops = Counter()

    def product(A, B, made):
        flops[made] += 2 * A.shape[0] * A.shape[1] * B.shape[1]
        return A @ B

    Q, K, V = product(X, W_q, "Q"), product(context, W_k, "K"), product(context, W_v, "V")
    scores = np.stack([product(Q[:, h], K[:, h].T, "scores") for h in heads])
    weights = softmax(scores)
    mixture = np.hstack([product(A, V[:, h], "mixture") for A, h in zip(weights, heads, strict=True)])
    output = product(mixture, W_o, "output")
    arrays = {"Q": Q, "K": K, "V": V, "scores": scores, "weights": weights, "mixture": mixture, "output": output}
    return flops, arrays, (W_q, W_k, W_v, W_o)


@pytest.mark.parametrize("n, m", SIZES)
@pytest.mark.parametrize("d_model, d_head, n_heads", HEADS)
def test_counts_what_a_layer_does_and_makes(n, m, d_model, d_head, n_heads):
    flops, arrays, matrices = layer(n, m, d_model, d_head, n_heads)
    cost = attention_cost(n, m, d_model=d_model, d_head=d_head, n_heads=n_heads)
    assert cost.flops == flops
    assert cost.bytes == {name: array.nbytes for name, array in arrays.items()}
    assert cost.exponentials == arrays["weights"].size
    assert cost.parameters == sum(W.size for W in matrices)
    assert cost.total_flops == sum(flops.values())
    assert cost.pair_flops == flops["scores"] + flops["mixture"]
    assert cost.projection_flops == flops["Q"] + flops["K"] + flops["V"] + flops["output"]
    assert cost.total_bytes == sum(array.nbytes for array in arrays.values())


@pytest.mark.parametrize("n, m", [*SIZES, (2, 9), (9, 2), (300, 300), (300, 301), (301, 300)])
def test_causal_counts_the_pairs_of_the_causal_mask(n, m):
    whole, causal = (attention_cost(n, m, d_model=6, d_head=3, n_heads=4, causal=each) for each in (False, True))
    pairs = 4 * int(causal_mask(n, m).sum())
    assert causal.exponentials == pairs
    assert causal.flops == whole.flops | {"scores": 2 * pairs * 3, "mixture": 2 * pairs * 3}
    assert (causal.bytes, causal.parameters) == (whole.bytes, whole.parameters)


def test_by_hand():
    cost = attention_cost(2, 3, d_model=4)  # 2 queries and 3 keys of 4 features
    assert cost.flops == {"Q": 64, "K": 96, "V": 96, "scores": 48, "mixture": 48, "output": 64}
    assert cost.exponentials == 6
    assert cost.bytes == {"Q": 64, "K": 96, "V": 96, "scores": 48, "weights": 48, "mixture": 64, "output": 64}
    assert cost.parameters == 64
    assert attention_cost(3, d_model=4, causal=True).exponentials == 1 + 2 + 3
    assert attention_cost(1, 5, d_model=4, causal=True).exponentials == 5  # one new query, four cached keys
    assert attention_cost(5, 1, d_model=4, causal=True).exponentials == 1  # only the last query sees a key


def test_defaults_are_self_attention_with_heads_that_share_the_features():
    assert attention_cost(5, d_model=12, n_heads=3) == attention_cost(5, 5, d_model=12, d_head=4, n_heads=3)


@pytest.mark.parametrize("d", [1, 64, 768])
def test_projections_and_pairs_cost_the_same_at_two_d_tokens(d):
    fewer, equal, more = (attention_cost(2 * d + k, d_model=d) for k in (-1, 0, 1))
    assert fewer.pair_flops < fewer.projection_flops
    assert equal.pair_flops == equal.projection_flops
    assert more.pair_flops > more.projection_flops
    assert attention_cost(7, d_model=d).total_flops == 8 * 7 * d**2 + 4 * 7**2 * d


def test_heads_share_the_products_and_multiply_the_pairs():
    one, twelve = (attention_cost(100, 50, d_model=768, n_heads=h) for h in (1, 12))
    assert twelve.flops == one.flops
    assert twelve.exponentials == 12 * one.exponentials
    assert twelve.bytes["scores"] == 12 * one.bytes["scores"]
    assert twelve.bytes["Q"] == one.bytes["Q"]


def test_itemsize_is_that_of_the_numbers():
    eight = attention_cost(5, 7, d_model=6)
    for dtype in (np.float16, np.float32, np.float64):
        cost = attention_cost(5, 7, d_model=6, itemsize=np.dtype(dtype).itemsize)
        assert cost.bytes == {name: size * np.dtype(dtype).itemsize // 8 for name, size in eight.bytes.items()}
        assert cost.flops == eight.flops


def test_any_integer_is_a_size_and_results_do_not_overflow():
    cost = attention_cost(np.int32(10**9), np.uint8(3), d_model=np.int64(10**6), n_heads=np.int8(10), causal=np.True_)
    assert cost.flops["Q"] == 2 * 10**21
    assert {type(value) for value in cost.flops.values()} == {int}


@pytest.mark.parametrize(
    "error, message, arguments",
    [
        (ValueError, "n must be 0 or more, got -1", {"n": -1}),
        (ValueError, "m must be 0 or more, got -2", {"m": -2}),
        (ValueError, "d_model must be 0 or more, got -8", {"d_model": -8}),
        (ValueError, "d_head must be 0 or more, got -1", {"d_head": -1}),
        (ValueError, "n_heads must be 1 or more, got 0", {"n_heads": 0}),
        (ValueError, "n_heads must be 0 or more, got -1", {"n_heads": -1}),
        (ValueError, "itemsize must be 0 or more, got -4", {"itemsize": -4}),
        (ValueError, "n_heads = 3 does not divide d_model = 8: pass d_head", {"n_heads": 3}),
        (TypeError, "n must be an integer, got 2.0", {"n": 2.0}),
        (TypeError, "m must be an integer, got '3'", {"m": "3"}),
        (TypeError, "d_head must be an integer, got 0.5", {"d_head": 0.5}),
        (TypeError, "n_heads must be an integer, got True", {"n_heads": True}),
        (TypeError, "causal must be True or False, got 1", {"causal": 1}),
    ],
)
def test_wrong_input_is_named(error, message, arguments):
    with pytest.raises(error) as raised:
        attention_cost(**{"n": 4, "d_model": 8} | arguments)
    assert str(raised.value) == message


def test_the_chapter_quotes_the_recorded_times():
    record = json.loads((ROOT / "benchmarks" / "attention_time.json").read_text("utf8"))
    notebook = nbformat.read(ROOT / "chapters" / "07-complexity.ipynb", as_version=4)
    found = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and re.search(r"^by_(tokens|features) = ", cell.source, re.M):
            for statement in ast.parse(cell.source).body:
                found[statement.targets[0].id] = ast.literal_eval(statement.value)
    for sweep, size, fixed in (("tokens", "n", "d"), ("features", "d", "n")):
        recorded = record[sweep]
        assert found[sweep] == recorded[size]
        assert set(recorded[fixed]) == {256 if fixed == "d" else 1024}
        steps = [name for name in recorded if name not in ("n", "d") and not name.endswith("median")]
        assert found[f"by_{sweep}"] == {step: (recorded[step], recorded[f"{step}, median"]) for step in steps}
    (source,) = [cell.source for cell in notebook.cells if "by_tokens = " in cell.source]
    assert all(part in source for part in record["machine"].split(", "))
    assert record["versions"].split(", ")[1] in source
