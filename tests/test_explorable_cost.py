"""The lines of cost, beside what every explorable is tested for: which layers it takes, and how it writes large numbers."""

import json
import re

import pytest
import traitlets

from attention_lib import attention_cost
from attention_lib.explorables import CostLines
from attention_lib.explorables._web import source
from attention_lib.explorables.cost import prefixed, share


def test_heads_divide_the_features():
    lines = CostLines()
    with pytest.raises(traitlets.TraitError, match="heads = 12 does not divide features = 1000"):
        lines.features = 1000
    with pytest.raises(traitlets.TraitError, match="heads = 5 does not divide features = 768"):
        CostLines(heads=5)
    assert (lines.features, lines.heads) == (768, 12)
    lines.set_state({"features": 1000, "heads": 8})  # both at once, as a page sends them
    assert (lines.features, lines.heads) == (1000, 8)


def test_the_lines_cross_where_algebra_says():
    assert CostLines(features=768, heads=12).crossings == [2 * 768, 2.5 * 768 / 12]
    assert CostLines(features=768, heads=1).crossings == [2 * 768, 2.5 * 768]
    assert CostLines(features=768, causal=True).crossings[0] == 4 * 768 - 1
    for tokens, enough in ((1535, False), (1536, True)):
        cost = attention_cost(tokens, d_model=768)
        assert (cost.pair_flops >= cost.projection_flops) == enough


@pytest.mark.parametrize(
    "value, said",
    [(16, "16.0 "), (999, "999 "), (999.6, "1.00 k"), (50331648, "50.3 M"), (8053063680, "8.05 G"), (2**56, "72.1 P")],
)
def test_large_numbers_have_three_digits_and_a_prefix(value, said):
    assert prefixed(value) == said


def test_no_share_is_rounded_to_nothing_or_to_all():
    assert [share(part, 1000) for part in (0, 1, 10, 600, 990, 999, 1000)] == ["0%", "<1%", "1%", "60%", "99%", "over 99%", "100%"]


def test_the_layers_to_choose_from_have_their_published_sizes():
    """Tokens, features and heads: nanoGPT's transformer_sizing.ipynb; Raffel et al. 2020; Brown et al. 2020, table 2.1."""
    rows = json.loads(re.search(r"^const MODELS = (.*);$", source("cost.js"), re.M)[1])
    layers = {name: layer for name, *layer in rows}
    assert layers["GPT-2 small"] == [1024, 768, 12]
    assert layers["T5-small"] == [512, 512, 8]
    assert layers["GPT-3"] == [2048, 12288, 96]
    for tokens, features, heads in layers.values():
        CostLines(tokens=tokens, features=features, heads=heads)  # allowed
