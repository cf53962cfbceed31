"""The ONNX operator Attention, as an independent oracle: its official node tests, and its NumPy reference.

Its conventions are ours (True may attend, a fully masked row is 0), apart from two things told by `replay`:
a causal mask without cached keys is top-left, and heads may be folded into the last axis.
"""

import numpy as np
import onnx
import pytest
from onnx.backend.test.case import node
from onnx.backend.test.case.node import attention as official  # importing it collects its cases
from onnx.reference import ReferenceEvaluator

from attention_lib import attention, attention_scores, causal_mask, padding_mask, window_mask

INPUTS = "Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"
OUTPUTS = "Y", "present_key", "present_value", "qk_matmul_output"


def replay(
    Q,
    K,
    V,
    attn_mask=None,
    past_key=None,
    past_value=None,
    nonpad_kv_seqlen=None,
    *,
    is_causal=0,
    kv_num_heads=None,
    left_window_size=-1,
    q_num_heads=None,
    qk_matmul_output_mode=0,
    right_window_size=-1,
    scale=None,
    softcap=0.0,
    softmax_precision=None,  # ours is fixed: at least float32
):
    """Return the operator's outputs "Y" and "qk_matmul_output", computed with our functions."""
    folded = Q.ndim == 3
    if folded:
        Q, K, V = unfold(Q, q_num_heads), unfold(K, kv_num_heads), unfold(V, kv_num_heads)
    if past_key is not None:
        K, V = np.concatenate([past_key, K], axis=-2), np.concatenate([past_value, V], axis=-2)
    # Several heads of queries share one of keys: (b, h, M, d) -> (b, h * sharing, M, d).
    sharing = Q.shape[1] // K.shape[1]
    K, V = np.repeat(K, sharing, axis=1), np.repeat(V, sharing, axis=1)
    n, m = Q.shape[-2], K.shape[-2]

    limits = left_window_size, 0 if is_causal else right_window_size
    left, right = (None if limit < 0 else limit for limit in limits)
    if nonpad_kv_seqlen is None:  # the first query stands at the first key that is not cached
        start = 0 if past_key is None else past_key.shape[-2]
        size = max(m, start + n)
        mask = window_mask(size, left=left, right=right)[start : start + n, :m]
        if is_causal:
            mask = mask & causal_mask(start + n, m, align="top-left")[start:]
    else:  # the last query stands at the last key that is not padding, in each entry of the batch
        mask = np.zeros((len(Q), 1, n, m), bool)
        for entry, length in zip(mask, nonpad_kv_seqlen, strict=True):
            entry[..., :length] = window_mask(n, length, left=left, right=right)
            if is_causal:
                entry[..., :length] &= causal_mask(n, length)
        mask = mask & padding_mask(nonpad_kv_seqlen, m)[:, None]

    bias = np.zeros((n, m), np.float32)
    if attn_mask is not None:
        hidden = False if attn_mask.dtype == bool else -np.inf
        pad = [(0, 0)] * (attn_mask.ndim - 1) + [(0, m - attn_mask.shape[-1])]
        attn_mask = np.pad(attn_mask, pad, constant_values=hidden)
        if attn_mask.dtype == bool:
            mask = mask & attn_mask
        else:
            bias = bias + attn_mask
    scores = attention_scores(Q, K, scale=scale)
    capped = softcap * np.tanh(scores / softcap) if softcap else scores
    output, weights = attention(Q, K, V, mask=mask, bias=bias + (capped - scores), scale=scale, return_weights=True)
    if folded:
        output = output.swapaxes(1, 2).reshape(len(output), n, -1)
    return output, [scores, capped, np.where(mask, capped + bias, -np.inf), weights][qk_matmul_output_mode]


def unfold(X, heads):
    """(b, N, h * d) -> (b, h, N, d)"""
    return X.reshape(*X.shape[:2], heads, -1).swapaxes(1, 2)


def widen(array):
    """NumPy has no bfloat16: compute in float32."""
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def attributes(operator):
    return {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in operator.attribute}


# The cases that hold the operator itself, not its expansion into smaller ones.
CASES = [case for case in node._NodeTestCases if [n.op_type for n in case.model.graph.node] == ["Attention"]]
# Relative to results of about 1: a few units in the last place of the dtype that the operator rounds to.
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-6}


def test_all_official_cases_are_here():
    exported = [name for name in vars(official.Attention) if name.startswith("export")]
    assert len(CASES) == len(exported) >= 93


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.removeprefix("test_attention_"))
def test_official_case(case):
    (operator,), ((inputs, outputs),) = case.model.graph.node, case.data_sets
    inputs = dict(zip([name for name in operator.input if name], inputs, strict=True))
    outputs = dict(zip([name for name in operator.output if name], outputs, strict=True))
    tolerance = TOLERANCE[outputs["Y"].dtype.name]
    inputs = {name: widen(array) for name, array in inputs.items()}
    got = dict(zip(("Y", "qk_matmul_output"), replay(**inputs, **attributes(operator)), strict=True))
    for name in got.keys() & outputs.keys():
        expected = widen(outputs[name])
        assert got[name].shape == expected.shape
        assert got[name].dtype == expected.dtype
        np.testing.assert_allclose(got[name], expected, rtol=tolerance, atol=tolerance)


def reference(inputs, **attributes):
    """Return the outputs "Y" and weights of ONNX's own NumPy implementation."""
    given = [name if name in inputs else "" for name in INPUTS]
    operator = onnx.helper.make_node("Attention", given, OUTPUTS, qk_matmul_output_mode=3, **attributes)
    kinds = {name: onnx.helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in inputs.items()}
    graph = onnx.helper.make_graph(
        [operator],
        "one",
        [onnx.helper.make_tensor_value_info(name, kind, None) for name, kind in kinds.items()],
        [onnx.helper.make_tensor_value_info(name, kinds["Q"], None) for name in ("Y", "qk_matmul_output")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 25)])
    return ReferenceEvaluator(model).run(None, inputs)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("mask", ["none", "boolean", "additive", "additive with -inf"])
@pytest.mark.parametrize("is_causal", [0, 1])
@pytest.mark.parametrize("seed", range(6))
def test_reference_on_random_inputs(seed, is_causal, mask, dtype):
    rng = np.random.default_rng([seed, is_causal, len(mask)])
    b, h, sharing, n, m, d_k, d_v = rng.integers(1, 7, size=7)
    Q = rng.normal(size=(b, h * sharing, n, d_k)).astype(dtype)
    K, V = (rng.normal(size=(b, h, m, d)).astype(dtype) for d in (d_k, d_v))
    inputs = {"Q": Q, "K": K, "V": V}
    attributes = {"is_causal": is_causal}
    if seed % 2:
        attributes |= {"scale": float(rng.uniform(0.1, 2))}
    if seed % 3 == 1:
        attributes |= {"left_window_size": int(rng.integers(3)), "right_window_size": int(rng.integers(3))}
    if mask != "none":
        shape = (rng.choice([1, b]), rng.choice([1, h * sharing]), n, m)
        allowed = rng.random(shape) < 0.6  # with 40 % hidden some rows are hidden wholly
        bias = rng.normal(size=shape).astype(dtype)
        choices = {"boolean": allowed, "additive": bias, "additive with -inf": np.where(allowed, bias, dtype(-np.inf))}
        inputs["attn_mask"] = choices[mask]
    expected = reference(inputs, **attributes)
    got = replay(**inputs, **attributes, qk_matmul_output_mode=3)
    tolerance = 1e-6 if dtype is np.float32 or "scale" in attributes else 1e-14  # an attribute holds a float32
    for ours, theirs in zip(got, expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
