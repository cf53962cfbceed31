"""What holds for every exercise of every chapter, and for every self-check, whatever its topic."""

from pathlib import Path

import pytest

from attention_lib import check
from attention_lib.check._engine import NOT_WRITTEN, RIGHT, Report

NUMBERS = sorted(path.name[:2] for path in (Path(__file__).resolve().parents[2] / "chapters").glob("*.ipynb"))
CHECKS = sorted(check.__all__)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_readers_cells_say_not_written_yet(chapter, number):
    messages = {name: report.message for name, report in chapter(number).stubs.items()}
    assert len(messages) >= 4
    assert messages == dict.fromkeys(messages, NOT_WRITTEN)


@pytest.mark.parametrize("number", NUMBERS)
def test_each_exercise_has_a_solution_and_it_is_right(chapter, number):
    messages = {name: report.message for name, report in chapter(number).solutions.items()}
    assert messages == dict.fromkeys(chapter(number).stubs, RIGHT)


def test_every_check_belongs_to_one_exercise(chapter):
    exercises = [name for number in NUMBERS for name in chapter(number).stubs]
    assert sorted(exercises) == CHECKS


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_refuses_garbage_and_never_raises(name, garbage):
    report = getattr(check, name)(garbage)
    assert isinstance(report, Report)
    assert not report.ok
    assert report.message not in (NOT_WRITTEN, RIGHT)
    assert len(repr(report)) < 400


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("nothing", [None, ...])
def test_nothing_is_not_written_yet(name, nothing):
    assert getattr(check, name)(nothing).message == NOT_WRITTEN
