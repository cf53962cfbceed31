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


ROWS = {
    "plane": Row(plane, shown=[{}, {"shows": "outputs", "temperature": 4}]),
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
            worst[name] = max([worst[name], *abs(ours - theirs)[finite].flat])
    return worst
