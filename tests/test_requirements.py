"""The pins: exact, complete, and the same wherever they are written."""

from importlib import metadata

import pins
import pytest
from packaging.specifiers import SpecifierSet

HELD = dict(line.split("==") for line in pins.CONSTRAINTS.read_text("utf8").splitlines() if "==" in line)


def test_constraints_hold_what_is_needed_and_no_more():
    assert set(HELD) == pins.needed(), "run: .venv/bin/python tools/pins.py"


@pytest.mark.parametrize("requirement", [r for r in pins.asked_for() if r.name != pins.LIBRARY], ids=lambda r: r.name)
def test_a_requirement_is_one_version_and_the_constraint_agrees(requirement):
    assert [specifier.operator for specifier in requirement.specifier] == ["=="]
    assert requirement.specifier.contains(HELD[pins.canonicalize_name(requirement.name)])


def test_constraints_are_versions():
    assert all(version[0].isdigit() for version in HELD.values())


@pytest.mark.parametrize("name", sorted(HELD))
def test_a_pin_runs_on_every_python_that_we_name(name):
    try:
        needs = SpecifierSet(metadata.metadata(name).get("Requires-Python") or "")
    except metadata.PackageNotFoundError:
        assert name in {"appnope", "colorama", "pywinpty"}  # for macOS and Windows; all run everywhere
    else:
        # The first release of each, too: Debian 12 has 3.11.2.
        assert all(needs.contains(version) for version in ("3.11.0", "3.12.0", "3.13.0")), f"{name} needs {needs}"
