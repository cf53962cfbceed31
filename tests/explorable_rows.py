"""One row for each explorable: what the tests put in, and how it is shown. A new explorable takes a row in ROWS.

`states` yields what the traits are set to, hundreds of times, extremes among them; what is not named is as it starts.
`shown` has the arguments of each look that a page may give it.
"""

from dataclasses import dataclass, field
from typing import Callable

import numpy as np

from attention_lib import explorables


@dataclass
class Row:
    states: Callable
    shown: list = field(default_factory=lambda: [{}])


def plane(rng):
    for _ in range(400):
        yield {"points": rng.uniform(-4, 4, (3, 2)).round(2).tolist(), "temperature": float(10 ** rng.uniform(-1, 2))}
    for temperature in (0.1, 1, 100):
        far, same, none = [[4, 4], [-4, -4], [4, -4]], [[4, 4]] * 3, [[0, 0]] * 3
        for points in (far, same, none, [[0, 0], [4, 0], [0, -4]], [[1, 1], [2, 2], [-3, -3]]):
            yield {"points": points, "temperature": temperature}


def softmax(rng):
    kinds = ["float64", "float32", "float16"]
    for k in range(600):
        scores, shift = rng.uniform(-5, 5, 4).round(2).tolist(), rng.choice([0, 0, 9, 90, 700, 720, 1000, -20, -90, -700, -760])
        temperature = 1 if k % 3 else float(10 ** rng.uniform(-1, 2))
        yield {"scores": scores, "shift": float(shift), "temperature": temperature, "kept": kinds[k % 7 % 3]}
    yield {"scores": [4.09, -5, -5, -5], "shift": 7, "kept": "float16"}  # rounds down to the largest that it has
    for scores in ([5, 5, 5, 5], [-5, 5, -5, 5], [0, 0, 0, 0], [5, -5, -5, -5], [1, 3, 2, -1]):
        for shift in (-1000, -700, 0, 5, 8.5, 85, 705, 1000):
            for temperature in (0.1, 1, 100):
                yield from ({"scores": scores, "shift": shift, "temperature": temperature, "kept": kind} for kind in kinds)


def saturation(rng):
    for seed in (0, 999):
        widths = {1, 2, 3, 64, 1024, *(2 ** rng.uniform(0, 10, 75)).astype(int).tolist()}
        for d_k in sorted(widths) + [1000, 5]:  # forward and back: what is kept from one to the next is right
            yield from ({"d_k": d_k, "scaled": scaled, "seed": seed} for scaled in (False, True))


def cost(rng):
    for k in range(400):
        heads = int(rng.integers(1, 129))
        size = 2 ** rng.uniform(4, 20), 2 ** rng.uniform(4, 14)
        layer = {"tokens": int(size[0]), "features": max(16 // heads + 1, int(size[1]) // heads) * heads, "heads": heads}
        yield layer | {"itemsize": (2, 4, 8)[k % 3], "causal": k % 2 == 0}
    for tokens in (16, 17, 2**20 - 1, 2**20):
        for features, heads in ((16, 1), (16, 16), (127, 127), (128, 128), (16383, 1), (16384, 1), (16384, 128)):
            layer = {"tokens": tokens, "features": features, "heads": heads}
            yield from (layer | {"itemsize": size, "causal": causal} for size in (2, 8) for causal in (False, True))


def questions(rng):
    for _ in range(300):
        turns, scales = rng.uniform(-180, 180, 2).round(1), rng.uniform(0.1, 1.5, 2).round(3)
        yield dict(zip(("turn_q", "turn_k", "scale_q", "scale_k"), (*turns.tolist(), *scales.tolist()), strict=True))
    for turn_q in (-180, -90, 0, 90, 180):
        for turn_k in (-180, -90, 0, 30, 180):
            for scale in (0.1, 1, 1.5):
                yield {"turn_q": turn_q, "turn_k": turn_k, "scale_q": scale, "scale_k": 1.5}


def mask(rng):
    for fill in ("-inf", "-1e9", "0", "after"):
        for queries in ("all", "last", "first"):
            for share in (0, 1, *rng.uniform(0.1, 0.9, 25)):
                yield {"allowed": (rng.random((5, 5)) < share).tolist(), "fill": fill, "queries": queries}


ROWS = {
    "cost": Row(cost, shown=[{}, {"tokens": 131072, "features": 4096, "heads": 32, "itemsize": 2, "causal": True}]),
    "mask": Row(mask, shown=[{}, {"queries": "last"}]),
    "plane": Row(plane, shown=[{}, {"shows": "outputs", "temperature": 4}]),
    "questions": Row(questions),
    "saturation": Row(saturation, shown=[{}, {"d_k": 512, "scaled": True}]),
    "softmax": Row(softmax, shown=[{}, {"shift": 710}, {"shift": 8, "kept": "float16"}]),
}


def states_of(module):
    """Return the states of a row, with all their traits; the same on every run."""
    start = explorables.load(module)().state()
    return [start | state for state in ROWS[module].states(np.random.default_rng(0))]


def differences(module, states, results):
    """Return the largest difference between JavaScript and NumPy for each result."""
    it = explorables.load(module)()
    worst = dict.fromkeys(it.results(), 0.0)
    for state, result in zip(states, results, strict=True):
        assert sorted(result) == it.results()
        it.set_state(state)
        assert it.state() == state  # within what the traits allow
        for name in worst:
            ours, theirs = (np.array(each, float) for each in (getattr(it, name), result[name]))
            finite = np.isfinite(ours)
            assert ours.shape == theirs.shape and np.isfinite(theirs[finite]).all(), f"{name} at {state}"
            np.testing.assert_array_equal(theirs[~finite], ours[~finite], f"{name} at {state}")
            apart = abs(ours[finite] - theirs[finite]) / np.maximum(1, abs(ours[finite]))  # of what is above 1, a share
            worst[name] = max([worst[name], *apart.flat])
    return worst
