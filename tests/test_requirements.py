"""The pins: exact, complete, and the same wherever they are written."""

import pins
import pytest

HELD = dict(line.split("==") for line in pins.CONSTRAINTS.read_text("utf8").splitlines() if "==" in line)


def test_constraints_hold_what_is_needed_and_no_more():
    assert set(HELD) == pins.needed(), "run: .venv/bin/python tools/pins.py"


@pytest.mark.parametrize("requirement", [r for r in pins.asked_for() if r.name != pins.LIBRARY], ids=lambda r: r.name)
def test_a_requirement_is_one_version_and_the_constraint_agrees(requirement):
    assert [specifier.operator for specifier in requirement.specifier] == ["=="]
    assert requirement.specifier.contains(HELD[pins.canonicalize_name(requirement.name)])


def test_constraints_are_versions():
    assert all(version[0].isdigit() for version in HELD.values())
