"""What holds for every exercise of every chapter, and for every self-check, whatever its topic."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from attention_lib import check
from attention_lib.check._engine import NOT_WRITTEN, RIGHT, UNREADABLE, Report, check_function

NUMBERS = sorted(path.name[:2] for path in (Path(__file__).resolve().parents[2] / "chapters").glob("*.ipynb"))
CHECKS = sorted(check.__all__)
# These take numbers; all others take a function.
VALUES = ["aim", "circle", "divisor", "doubled_weights", "line_scores", "lone_winner", "query_rates"]
FUNCTIONS = sorted(set(CHECKS) - set(VALUES))


@pytest.mark.parametrize("number", NUMBERS)
def test_the_readers_cells_say_not_written_yet(chapter, number):
    messages = chapter(number).stubs
    assert len(messages) >= 4
    assert messages == dict.fromkeys(messages, NOT_WRITTEN)


@pytest.mark.parametrize("number", NUMBERS)
def test_each_exercise_has_a_solution_and_it_is_right(chapter, number):
    assert chapter(number).solutions == dict.fromkeys(chapter(number).stubs, RIGHT)


def test_every_check_belongs_to_one_exercise(chapter):
    exercises = [name for number in NUMBERS for name in chapter(number).stubs]
    assert sorted(exercises) == CHECKS


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_refuses_garbage_and_never_raises(name, garbage):
    report = getattr(check, name)(garbage)
    assert isinstance(report, Report)
    assert not report.ok
    assert report.mistake is None
    assert report.message not in (NOT_WRITTEN, RIGHT, UNREADABLE)
    assert len(repr(report)) < 300


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_refuses_a_hostile_answer_and_never_raises(name, hostile_answer):
    try:
        report = getattr(check, name)(hostile_answer)
    except BaseException:  # pytest itself could not show some of these errors
        pytest.fail("the check raised", pytrace=False)
    assert isinstance(report, Report)
    assert not report.ok
    assert report.message not in (NOT_WRITTEN, RIGHT)
    assert len(repr(report)) < 300


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("nothing", [None, ...])
def test_nothing_is_not_written_yet(name, nothing):
    assert getattr(check, name)(nothing).message == NOT_WRITTEN


def test_each_check_takes_what_it_says(exercise):
    assert [name for name in CHECKS if exercise(name) is None] == VALUES


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_mistake_is_told_from_the_right_answer_and_from_every_other_mistake(exercise, name):
    options = exercise(name)
    for mistake in options["mistakes"]:
        report = check_function(name, mistake.imitation, **options)
        assert (report.ok, report.mistake, report.message) == (False, mistake.name, mistake.hint)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("error", [ValueError, TypeError, IndexError, ZeroDivisionError, np.linalg.LinAlgError])
def test_a_function_that_always_fails_is_taken_for_no_mistake(name, error):
    def answer(*arguments):
        raise error("three rows")

    report = getattr(check, name)(answer)
    assert report.mistake is None
    assert f"it raises {error.__name__}: three rows" in report.message


def as_fractions(result):
    return np.vectorize(Fraction, otypes=[object])(np.asarray(result, float))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "turn",
    [as_fractions, lambda result: as_fractions(result).tolist(), np.float16, np.float32, np.longdouble],
    ids=["array of fractions", "list of fractions", "float16", "float32", "longdouble"],
)
def test_a_right_answer_may_have_any_kind_of_number(exercise, name, turn):
    options = exercise(name)
    report = check_function(name, lambda *arguments: turn(options["right"](*arguments)), **options)
    assert report.message == options.get("boolean", RIGHT)  # where booleans are asked for no number will do


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_check_runs_the_answer_once_on_each_input_and_shows_one_of_its_prints(exercise, name, capsys):
    options = exercise(name)
    calls = []

    def answer(*arguments):
        calls.append(arguments)
        print("call", len(calls))
        return options["right"](*arguments)

    assert check_function(name, answer, **options).ok
    assert len(calls) == len(options["inputs"])
    assert capsys.readouterr().out == "call 1\n"
