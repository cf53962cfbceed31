"""Numbers that others have published, computed again: each test names its source, and compares its digits."""

import numpy as np
import pytest
from torch_random import TorchRandom

from attention_lib import (
    attention,
    attention_cost,
    attention_scores,
    attention_weights,
    causal_mask,
    init_weights,
    log_softmax,
    padding_mask,
    softmax,
    window_mask,
)
from attention_lib.training import Adafactor


def assert_prints(actual, published, digits):
    """Assert that `actual` agrees with `published` to `digits` decimals, give or take float32 before it is rounded."""
    published = np.array(published)
    assert np.shape(actual) == published.shape
    np.testing.assert_allclose(actual, published, rtol=0, atol=0.5 * 10.0**-digits + 1e-6)


# S. Raschka, "Build a Large Language Model (From Scratch)", 2024, chapter 3,
# https://github.com/rasbt/LLMs-from-scratch/blob/main/ch03/01_main-chapter-code/ch03.ipynb:
# the tokens of "Your journey starts with one step".
TOKENS = np.array(
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ],
    dtype=np.float32,
)


def test_raschka_section_3_3_simplified_self_attention():
    scores = attention_scores(TOKENS, TOKENS, scale=1.0)
    assert_prints(scores[1], [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865], 4)
    output, weights = attention(TOKENS, TOKENS, TOKENS, scale=1.0, return_weights=True)
    expected_weights = [
        [0.2098, 0.2006, 0.1981, 0.1242, 0.1220, 0.1452],
        [0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581],
        [0.1390, 0.2369, 0.2326, 0.1242, 0.1108, 0.1565],
        [0.1435, 0.2074, 0.2046, 0.1462, 0.1263, 0.1720],
        [0.1526, 0.1958, 0.1975, 0.1367, 0.1879, 0.1295],
        [0.1385, 0.2184, 0.2128, 0.1420, 0.0988, 0.1896],
    ]
    expected_output = [
        [0.4421, 0.5931, 0.5790],
        [0.4419, 0.6515, 0.5683],
        [0.4431, 0.6496, 0.5671],
        [0.4304, 0.6298, 0.5510],
        [0.4671, 0.5910, 0.5266],
        [0.4177, 0.6503, 0.5645],
    ]
    assert_prints(softmax(scores), expected_weights, 4)
    assert_prints(weights, expected_weights, 4)
    assert_prints(output, expected_output, 4)


def test_raschka_section_3_4_self_attention_with_weights_from_seed_123():
    random = TorchRandom(123)
    Q, K, V = (TOKENS @ random.rand(3, 2) for _ in "QKV")
    assert_prints(Q[1], [0.4306, 1.4551], 4)
    assert_prints(attention_scores(Q, K, scale=1.0)[1], [1.2705, 1.8524, 1.8111, 1.0795, 0.5577, 1.5440], 4)
    assert_prints(attention_weights(Q, K)[1], [0.1500, 0.2264, 0.2199, 0.1311, 0.0906, 0.1820], 4)
    expected = [
        [0.2996, 0.8053],
        [0.3061, 0.8210],
        [0.3058, 0.8203],
        [0.2948, 0.7939],
        [0.2927, 0.7891],
        [0.2990, 0.8040],
    ]
    assert_prints(attention(Q, K, V), expected, 4)


def test_raschka_section_3_5_causal_weights_from_seed_789():
    random = TorchRandom(789)
    Q, K, V = (TOKENS @ random.linear(3, 2) for _ in "QKV")
    expected_output = [
        [-0.0739, 0.0713],
        [-0.0748, 0.0703],
        [-0.0749, 0.0702],
        [-0.0760, 0.0685],
        [-0.0763, 0.0679],
        [-0.0754, 0.0693],
    ]
    assert_prints(attention(Q, K, V), expected_output, 4)
    expected_weights = [
        [0.1921, 0.1646, 0.1652, 0.1550, 0.1721, 0.1510],
        [0.2041, 0.1659, 0.1662, 0.1496, 0.1665, 0.1477],
        [0.2036, 0.1659, 0.1662, 0.1498, 0.1664, 0.1480],
        [0.1869, 0.1667, 0.1668, 0.1571, 0.1661, 0.1564],
        [0.1830, 0.1669, 0.1670, 0.1588, 0.1658, 0.1585],
        [0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529],
    ]
    assert_prints(attention_weights(Q, K), expected_weights, 4)
    expected_causal = [
        [1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
        [0.5517, 0.4483, 0.0000, 0.0000, 0.0000, 0.0000],
        [0.3800, 0.3097, 0.3103, 0.0000, 0.0000, 0.0000],
        [0.2758, 0.2460, 0.2462, 0.2319, 0.0000, 0.0000],
        [0.2175, 0.1983, 0.1984, 0.1888, 0.1971, 0.0000],
        [0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529],
    ]
    assert_prints(attention_weights(Q, K, mask=causal_mask(6)), expected_causal, 4)


def test_raschka_section_3_5_causal_attention_of_a_batch_from_seed_123():
    random, batch = TorchRandom(123), np.stack([TOKENS, TOKENS])
    Q, K, V = (batch @ random.linear(3, 2) for _ in "QKV")
    expected = [
        [-0.4519, 0.2216],
        [-0.5874, 0.0058],
        [-0.6300, -0.0632],
        [-0.5675, -0.0843],
        [-0.5526, -0.0981],
        [-0.5299, -0.1081],
    ]
    assert_prints(attention(Q, K, V, mask=causal_mask(6)), [expected, expected], 4)


def test_raschka_section_3_6_scores_of_two_heads():
    heads = [
        [[0.2745, 0.6584, 0.2775, 0.8573], [0.8993, 0.0390, 0.9268, 0.7388], [0.7179, 0.7058, 0.9156, 0.4340]],
        [[0.0772, 0.3565, 0.1479, 0.5331], [0.4066, 0.2318, 0.4545, 0.9737], [0.4606, 0.5159, 0.4220, 0.5786]],
    ]
    expected = [
        [[1.3208, 1.1631, 1.2879], [1.1631, 2.2150, 1.8424], [1.2879, 1.8424, 2.0402]],
        [[0.4391, 0.7003, 0.5903], [0.7003, 1.3737, 1.0620], [0.5903, 1.0620, 0.9912]],
    ]
    assert_prints(attention_scores(heads, heads, scale=1.0), expected, 4)


def test_lippe_uva_deep_learning_tutorial_6_from_seed_42():
    # P. Lippe, UvA Deep Learning Tutorials, tutorial 6, "Transformers and Multi-Head Attention",
    # https://uvadlc-notebooks.readthedocs.io/en/latest/tutorial_notebooks/tutorial6/Transformers_and_MHAttention.html
    random = TorchRandom(42)
    Q, K, V = (random.randn(3, 2) for _ in "QKV")
    assert_prints(Q, [[0.3367, 0.1288], [0.2345, 0.2303], [-1.1229, -0.1863]], 4)
    assert_prints(K, [[2.2082, -0.6380], [0.4617, 0.2674], [0.5349, 0.8094]], 4)
    assert_prints(V, [[1.1103, -1.6898], [-0.9890, 0.9580], [1.3221, 0.8172]], 4)
    output, weights = attention(Q, K, V, return_weights=True)
    assert_prints(weights, [[0.4028, 0.2886, 0.3086], [0.3538, 0.3069, 0.3393], [0.1303, 0.4630, 0.4067]], 4)
    assert_prints(output, [[0.5698, -0.1520], [0.5379, -0.0265], [0.2246, 0.5556]], 4)


def test_karpathy_lets_build_gpt_causal_head_from_seed_1337():
    # A. Karpathy, "Let's build GPT: from scratch, in code, spelled out", 2023, notebook gpt-dev,
    # https://www.youtube.com/watch?v=kCc8FmEb1nY: "version 4: self-attention!", then the variances.
    random = TorchRandom(1337)
    x = random.randn(4, 8, 32)
    W_k, W_q = random.linear(32, 16), random.linear(32, 16)
    random.linear(32, 16)  # the values' matrix, whose result he does not print
    expected = [
        [1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
        [0.1574, 0.8426, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
        [0.2088, 0.1646, 0.6266, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
        [0.5792, 0.1187, 0.1889, 0.1131, 0.0000, 0.0000, 0.0000, 0.0000],
        [0.0294, 0.1052, 0.0469, 0.0276, 0.7909, 0.0000, 0.0000, 0.0000],
        [0.0176, 0.2689, 0.0215, 0.0089, 0.6812, 0.0019, 0.0000, 0.0000],
        [0.1691, 0.4066, 0.0438, 0.0416, 0.1048, 0.2012, 0.0329, 0.0000],
        [0.0210, 0.0843, 0.0555, 0.2297, 0.0573, 0.0709, 0.2423, 0.2391],
    ]
    assert_prints(attention_weights(x @ W_q, x @ W_k, mask=causal_mask(8), scale=1.0)[0], expected, 4)
    K, Q = random.randn(4, 8, 16), random.randn(4, 8, 16)
    variances = [array.var(ddof=1) for array in (K, Q, attention_scores(Q, K))]
    assert_prints(variances, [1.0449, 1.0700, 1.0918], 4)


def test_karpathy_lets_build_gpt_softmax_sharpens_with_scale():
    # The same notebook, where it explains the scale.
    scores = np.array([0.1, -0.2, 0.3, -0.2, 0.5])
    assert_prints(softmax(scores), [0.1925, 0.1426, 0.2351, 0.1426, 0.2872], 4)
    assert_prints(softmax(8 * scores), [0.0326, 0.0030, 0.1615, 0.0030, 0.8000], 4)


def test_karim_illustrated_self_attention():
    # R. Karim, "Illustrated: Self-Attention", 2019,
    # https://towardsdatascience.com/illustrated-self-attention-2d627e33b20a
    X = np.array([[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]])
    Q = X @ [[1, 0, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1]]
    K = X @ [[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 0]]
    V = X @ [[0, 2, 0], [0, 3, 0], [1, 0, 3], [1, 1, 0]]
    assert attention_scores(Q, K, scale=1).tolist() == [[2, 4, 4], [4, 16, 12], [4, 12, 10]]
    output, weights = attention(Q, K, V, scale=1, return_weights=True)
    expected_weights = [
        [6.3379e-02, 4.6831e-01, 4.6831e-01],
        [6.0337e-06, 9.8201e-01, 1.7986e-02],
        [2.9539e-04, 8.8054e-01, 1.1917e-01],
    ]
    np.testing.assert_allclose(weights, expected_weights, rtol=5e-5)  # five digits, whatever the exponent
    assert_prints(output, [[1.9366, 6.6831, 1.5951], [2.0000, 7.9640, 0.0540], [1.9997, 7.7599, 0.3584]], 4)


def test_alammar_illustrated_transformer():
    # J. Alammar, "The Illustrated Transformer", 2018, https://jalammar.github.io/illustrated-transformer/:
    # dot products of 112 and 96, 64 features.
    Q, K = np.zeros((1, 64)), np.zeros((2, 64))
    Q[0, 0], K[:, 0] = 1, [112, 96]
    assert attention_scores(Q, K).tolist() == [[14, 12]]
    assert_prints(attention_weights(Q, K), [[0.88, 0.12]], 2)


@pytest.mark.parametrize(
    "query, weights, output",
    [
        ([0, 10, 0], [0, 1, 0, 0], [10, 0]),
        ([0, 0, 10], [0, 0, 0.5, 0.5], [550, 5.5]),
        ([10, 10, 0], [0.5, 0.5, 0, 0], [5.5, 0]),
    ],
)
def test_tensorflow_transformer_tutorial_soft_lookup(query, weights, output):
    # "Transformer model for language understanding", TensorFlow tutorials, 2019; later versions dropped the example:
    # https://github.com/tensorflow/docs, commit adc6168a2a19, site/en/tutorials/text/transformer.ipynb
    K = [[10, 0, 0], [0, 10, 0], [0, 0, 10], [0, 0, 10]]
    V = [[1, 0], [10, 0], [100, 5], [1000, 6]]
    got_output, got_weights = attention([query], K, V, return_weights=True)
    assert_prints(got_weights, [weights], 6)
    assert_prints(got_output, [output], 6)


def test_keras_attention_layer_unscaled():
    # Keras 3, keras/src/layers/attention/attention_test.py, test_attention_correctness
    Q, K, V = [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]], [[1.0, 2.0], [3.0, 4.0]]
    output, weights = attention(Q, K, V, scale=1.0, return_weights=True)
    assert_prints(weights, [[0.269, 0.731], [0.731, 0.269]], 3)
    assert_prints(output, [[2.462, 3.462], [1.538, 2.538]], 3)


def test_keras_attention_layer_with_a_masked_key():
    # The same file, test_attention_with_mask: the second key is padding.
    Q, V = [[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]
    output, weights = attention(Q, V, V, mask=[True, False], scale=1.0, return_weights=True)
    assert weights.tolist() == [[1, 0], [1, 0]]
    assert output[0].tolist() == [1, 1]  # Keras also sets a padded query's output to 0


def test_dive_into_deep_learning_masked_dot_product_attention():
    # A. Zhang, Z. Lipton, M. Li and A. Smola, "Dive into Deep Learning", before the edition of 2023, which draws keys
    # and values at random. The example is in https://github.com/d2l-ai/d2l-en, commit 0ffa1dc922d0,
    # chapter_attention-mechanisms/attention-scoring-functions.md, "Scaled Dot-Product Attention".
    # All keys are equal, so the values are averaged over each sequence's valid length.
    Q = np.random.default_rng(0).normal(size=(2, 1, 2))
    V = np.tile(np.arange(40.0).reshape(1, 10, 4), (2, 1, 1))
    output = attention(Q, np.ones((2, 10, 2)), V, mask=padding_mask([2, 6], 10))
    assert_prints(output, [[[2.0, 3.0, 4.0, 5.0]], [[10.0, 11.0, 12.0, 13.0]]], 4)


def test_wikipedia_softmax():
    # https://en.wikipedia.org/wiki/Softmax_function, the example in Python
    expected = [0.02364054, 0.06426166, 0.1746813, 0.474833, 0.02364054, 0.06426166, 0.1746813]
    np.testing.assert_allclose(softmax([1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0]), expected, rtol=0, atol=0.5e-6)


def test_scipy_softmax_along_both_axes():
    # SciPy, the example of scipy.special.softmax,
    # https://docs.scipy.org/doc/scipy/reference/generated/scipy.special.softmax.html
    x = np.array([[1, 0.5, 0.2, 3], [1, -1, 7, 3], [2, 12, 13, 3]])
    columns = [
        [2.11942e-01, 1.01300e-05, 2.75394e-06, 3.33333e-01],
        [2.11942e-01, 2.26030e-06, 2.47262e-03, 3.33333e-01],
        [5.76117e-01, 9.99988e-01, 9.97525e-01, 3.33333e-01],
    ]
    rows = [
        [1.05877e-01, 6.42177e-02, 4.75736e-02, 7.82332e-01],
        [2.42746e-03, 3.28521e-04, 9.79307e-01, 1.79366e-02],
        [1.22094e-05, 2.68929e-01, 7.31025e-01, 3.31885e-05],
    ]
    np.testing.assert_allclose(softmax(x, axis=0), columns, rtol=5e-6)
    np.testing.assert_allclose(softmax(x, axis=1), rows, rtol=5e-6)


def test_scipy_log_softmax():
    # SciPy, tests of scipy.special.log_softmax: from mpmath with 200 digits, https://github.com/scipy/scipy
    expected = [-3.4401896985611953, -2.4401896985611953, -1.4401896985611953, -0.44018969856119533]
    np.testing.assert_allclose(log_softmax(np.arange(4)), expected, rtol=1e-13)
    assert log_softmax([1000, 1]).tolist() == [0, -999]


def test_onnx_attention_operator_window():
    # ONNX, operator Attention, opset 25, node test "attention_bidirectional_window": one key back, two ahead,
    # https://onnx.ai/onnx/operators/onnx__Attention.html
    zeros, V = np.zeros((5, 1), np.float32), np.arange(5, dtype=np.float32)[:, None]
    output = attention(zeros, zeros, V, mask=window_mask(5, left=1, right=2))
    assert output[:, 0].tolist() == [1.0, 1.5, 2.5, 3.0, 3.5]


def test_onnx_attention_operator_fully_masked_row():
    # ONNX, operator Attention, node test "attention_23_boolmask_fullymasked_row_nan_robustness"
    Q = K = V = np.ones((2, 8), np.float32)
    output, weights = attention(Q, K, V, mask=[[False, False], [True, True]], return_weights=True)
    assert weights.tolist() == [[0, 0], [0.5, 0.5]]
    assert output[0].tolist() == [0] * 8


@pytest.mark.parametrize(
    "n, m, align, expected",
    [
        (2, 5, "bottom-right", [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]),
        (5, 2, "bottom-right", [[0, 0], [0, 0], [0, 0], [1, 0], [1, 1]]),
        (2, 5, "top-left", [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0]]),
        (5, 2, "top-left", [[1, 0], [1, 1], [1, 1], [1, 1], [1, 1]]),
    ],
)
def test_flash_attention_causal_alignment(n, m, align, expected):
    # T. Dao, flash-attention, README, "2.1: Change behavior of causal flag": v2.0 is top-left, v2.1 bottom-right,
    # https://github.com/Dao-AILab/flash-attention#21-change-behavior-of-causal-flag
    assert causal_mask(n, m, align=align).astype(int).tolist() == expected
    if align == "bottom-right":  # "If the row of the mask is all zero, the output will be zero."
        output = attention(np.ones((n, 1)), np.ones((m, 1)), np.ones((m, 1)), mask=causal_mask(n, m))
        assert output[:, 0].tolist() == [float(any(row)) for row in expected]


@pytest.mark.parametrize(
    "d, plain, scaled", [(16, 4.027, 1.007), (64, 7.991, 0.999), (256, 16.124, 1.008), (1024, 31.824, 0.995)]
)
def test_hello_agents_standard_deviation_of_scores(d, plain, scaled):
    # Datawhale, hello-agents, a review of pull request 840: standard deviations of q . k for unit normals,
    # https://github.com/datawhalechina/hello-agents/pull/840. Its seed is not told, so both are samples:
    # ours of 10,000 pairs has a relative standard error of 0.7 %, and three of those are allowed.
    rng = np.random.default_rng(d)
    Q, K = rng.normal(size=(2, 10_000, 1, d))
    assert attention_scores(Q, K, scale=1.0).std() == pytest.approx(plain, rel=0.021)
    assert attention_scores(Q, K).std() == pytest.approx(scaled, rel=0.021)


def test_nanogpt_sizes_of_one_attention_block():
    # A. Karpathy, nanoGPT, transformer_sizing.ipynb: one block of GPT-2 small, forward, 1,024 tokens,
    # https://github.com/karpathy/nanoGPT/blob/master/transformer_sizing.ipynb
    cost = attention_cost(1024, d_model=768, n_heads=12)
    assert cost.flops["Q"] + cost.flops["K"] + cost.flops["V"] == 3623878656
    assert cost.flops["scores"] == 1610612736
    assert cost.flops["mixture"] == 1610612736
    assert cost.flops["output"] == 1207959552
    assert cost.total_flops == 8053063680
    assert cost.parameters == 1769472 + 589824


def test_t5_initialiser():
    # Mesh TensorFlow, transformer/attention.py, AttentionParams: (d_model * d_kv)^-0.5 for W_q, d_model^-0.5 for W_k
    # and W_v, (heads * d_kv)^-0.5 for W_o, at the sizes of T5-small. The drawn entries are a sample: 262,144 of them,
    # whose standard deviation has a relative error of 0.14 %; three of those are allowed.
    assert_prints((512 * 64) ** -0.5, 0.005524, 6)
    assert_prints(512**-0.5, 0.04419, 5)
    for seed in range(3):
        drawn = init_weights(np.random.default_rng(seed), 512, 64, 8, scheme="t5")
        assert [W.std() for W in drawn] == pytest.approx([0.005524, 0.04419, 0.04419, 0.04419], rel=0.0045)


@pytest.mark.parametrize(
    "size, expected",
    [
        (1.0, [[0.509098, -0.9890710, 1.9868908], [1.4871088, 0.2218242, -0.7609778]]),
        (1e-4, [[0.5789279, -0.9066063, 1.8872364], [1.3892815, 0.0061483, -0.8457325]]),  # below the floor
    ],
)
def test_optax_adafactor(size, expected):
    # What optax 0.2.8 makes of the same three gradients in float64, in units of `size`:
    # optax.adafactor(learning_rate=lambda n: jnp.minimum(0.01, (n + 1.0) ** -0.5), min_dim_size_to_factor=1)
    W = size * np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
    optimizer = Adafactor()
    for G in (
        [[1.0, -2.0, 0.5], [3.0, 0.0, -1.0]],
        [[0.1, 0.4, -0.2], [-0.3, 2.0, 0.6]],
        [[-5.0, 1.0, 2.0], [0.5, 4.0, 3.0]],
    ):
        (W,) = optimizer.step((W,), (np.array(G),))
    assert_prints(W / size, expected, 7)
