"""What the README says to type works: its Python runs, and each command of make exists."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf8")


def test_the_python_runs_and_hides_the_future():
    (code,) = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)
    names = {}
    exec(code, names)
    assert names["output"].shape == names["X"].shape == (5, 16)
    assert np.array_equal(names["weights"] != 0, np.tri(5, dtype=bool))


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "index.md"])
def test_every_make_command_exists(page):
    text = (ROOT / page).read_text("utf8")
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.M))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf8"), re.M))
    assert named and named <= targets
