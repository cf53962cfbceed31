"""The engine under the self-checks, on an exercise made up for it: double the numbers."""

import sys
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from attention_lib.check._engine import COMPLEX, IN_A_TUPLE, UNSTEADY, Mistake, check_function, check_value

INPUTS = [(np.array([1.0, 2.0, 3.0]),), (np.array([[1.0, -1.0], [0.5, 0.25]]),)]


def double(x):
    return 2 * x


def squares(x):
    return x**2


def fails_on_matrices(x):
    (a, b, c) = x.tolist()
    return np.array([2 * a, 2 * b, 2 * c])


MISTAKES = [
    Mistake("squared", squares, "you squared them"),
    Mistake("vectors only", fails_on_matrices, "this handles a vector only"),
]


def check(answer, **options):
    return check_function("double", answer, right=double, inputs=INPUTS, mistakes=MISTAKES, **options)


def test_a_right_answer_is_right():
    assert repr(check(lambda x: x + x)) == "✓ double: all correct"


def test_a_mistake_is_named_with_its_hint():
    report = check(lambda x: x * x)
    assert (report.ok, report.mistake) == (False, "squared")
    assert repr(report) == "✗ double: you squared them"


def test_a_mistake_may_show_by_failing_on_one_input():
    assert check(lambda x: np.array([2 * each for each in fails_on_matrices(x) / 2])).mistake == "vectors only"


def test_a_mistake_must_agree_on_every_input():
    report = check(lambda x: x**2 if x.ndim == 1 else x**3)
    assert report.mistake is None
    assert "(3,)" in report.message


def test_another_error_than_the_mistakes_is_shown():
    def answer(x):
        if x.ndim == 2:
            raise KeyError("row")
        return 2 * x

    report = check(answer)
    assert report.mistake is None
    assert report.message == "on input of shape (2, 2) it raises KeyError: 'row'"


def test_an_answer_just_outside_the_tolerance_is_described_and_does_not_raise():
    # NumPy's own default tolerance would call these equal and leave nothing to describe
    assert "expected 2" in check(lambda x: x * (2 + 8e-6), rtol=1e-6, atol=0.0).message
    assert check(lambda x: x * (2 + 8e-6)).ok
    assert not check(lambda x: x * (2 + 8e-4)).ok


def test_the_tolerance_grows_with_the_answers_own_rounding_alone():
    assert check(lambda x: (x * (2 + 8e-4)).astype(np.float16)).ok
    assert not check(lambda x: (x * (2 + 8e-4)).astype(np.float32)).ok
    assert not check(lambda x: (x * 2.05).astype(np.float16)).ok


def test_the_wrong_shape_is_described():
    assert check(lambda x: x.sum()).message == "on input of shape (3,) the result has shape (), expected (3,)"


@pytest.mark.parametrize(
    "answer", [lambda x: "six", lambda x: [["2", "4"], ["6", "8"]], lambda x: [[1], [1, 2]], lambda x: {1: 2}]
)
def test_no_numbers_are_described_without_a_warning(answer):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "where an array of numbers was expected" in check(answer).message


def test_complex_numbers_are_refused_even_where_the_imaginary_part_is_0():
    assert check(lambda x: 2 * x + 0j).message == f"on input of shape (3,) {COMPLEX}"


def test_a_returned_error_is_not_a_raised_one():
    assert "it returns something of type ValueError" in check(lambda x: ValueError("r")).message


@pytest.mark.parametrize(("code", "told"), [((), "SystemExit"), ((3,), "SystemExit: 3")])
def test_an_exit_keeps_its_name(code, told):
    assert check(lambda x: sys.exit(*code)).message == f"on input of shape (3,) it raises {told}"


def test_the_text_of_an_error_becomes_one_short_line():
    def answer(x):
        raise ValueError("first\nsecond\t\x1b[31m\ud800third" + 5000 * "!")

    message = check(answer).message
    assert message.startswith("on input of shape (3,) it raises ValueError: first second [31m third!!!")
    assert message.isprintable()
    assert 200 < len(message) < 250


def test_numbers_may_come_as_objects():
    assert check(lambda x: [2 * Fraction(each) for each in x.tolist()] if x.ndim == 1 else 2 * x).ok
    assert check(lambda x: np.vectorize(Decimal, otypes=[object])(2 * x)).ok
    assert "expected 2" in check(lambda x: np.vectorize(Fraction, otypes=[object])(3 * x)).message


def test_a_wrong_answer_runs_once_on_each_input_too():
    calls = []

    def answer(x):
        calls.append(x)
        return x**2

    assert check(answer).mistake == "squared"
    assert len(calls) == len(INPUTS)


def test_the_prints_of_the_input_that_the_hint_is_about_are_shown(capsys):
    def answer(x):
        print("shape", x.shape)
        return 2 * x if x.ndim == 1 else 2 * x + 1

    assert "(2, 2)" in check(answer).message
    assert capsys.readouterr().out == "shape (2, 2)\n"


def test_prints_before_an_error_are_shown(capsys):
    def answer(x):
        print("so far")
        raise KeyError("row")

    check(answer)
    assert capsys.readouterr().out == "so far\n"


def test_an_answer_that_is_random_is_called_so():
    rng = np.random.default_rng(0)
    assert check(lambda x: 2 * x + rng.standard_normal(x.shape)).message == UNSTEADY


def test_an_answer_that_remembers_is_called_so():
    calls = []

    def answer(x):
        calls.append(x)
        return 2 * x if len(calls) > 1 else 3 * x

    assert check(answer).message == UNSTEADY


def test_an_answer_may_return_the_same_array_each_time():
    buffer = np.empty(2)

    def answer(x):
        buffer[:] = 2 * x
        return buffer

    assert check_function("double", answer, right=double, inputs=[(np.ones(2),), (np.zeros(2),)]).ok


def test_an_answer_may_change_how_numpy_treats_errors():
    def answer(x):
        np.seterr(all="raise")
        warnings.simplefilter("error")
        return 2 * x

    before = np.geterr()
    assert check_function("double", answer, right=lambda x: 2 * x + 0 * np.exp(-1e9 * x**2), inputs=INPUTS).ok
    assert np.geterr() == before


def test_the_form_asked_for_is_the_hint_for_any_other():
    for answer in (lambda x: "six", lambda x: x.sum(), lambda x: (x, [x])):
        assert check(answer, form="return one array").message == "return one array"
    assert check(lambda x: 3 * x, form="return one array", called="double").message == (
        "on input of shape (3,) double[0] is 3, expected 2"
    )


@pytest.mark.parametrize("answer", [lambda x: (2 * x, "rest"), lambda x: ([x], 2 * x), lambda x: (2 * x,)])
def test_a_tuple_with_the_right_result_in_it_is_called_so(answer):
    for options in ({}, {"form": "return one array"}):
        report = check(answer, **options)
        assert (report.ok, report.mistake, report.message) == (False, "in a tuple", IN_A_TUPLE)


def test_a_tuple_must_have_the_right_result_in_it_on_every_input():
    for answer in (lambda x: (x, 3 * x), lambda x: (2 * x if x.ndim == 1 else x, "rest"), lambda x: ()):
        assert check(answer).mistake is None


def test_a_tuple_may_be_the_right_result():
    assert check(lambda x: tuple(2 * x)).ok


def test_the_reader_cannot_spoil_the_inputs():
    def answer(x):
        x *= 2
        return x

    assert check(answer).ok
    assert INPUTS[0][0].tolist() == [1.0, 2.0, 3.0]


def interrupts(*arguments, **keywords):
    raise KeyboardInterrupt


class Interrupts:
    __array__ = interrupts


class InterruptsError(Exception):
    __str__ = interrupts


def raises_it(x):
    raise InterruptsError


@pytest.mark.parametrize("answer", [interrupts, lambda x: Interrupts(), raises_it])
def test_the_reader_can_interrupt_a_check(answer):
    with pytest.raises(KeyboardInterrupt):
        check(answer)


def test_the_reader_can_interrupt_a_check_of_values():
    with pytest.raises(KeyboardInterrupt):
        check_value("two", Interrupts(), [(lambda x: x > 0, "it is positive")])


TESTS = [(lambda x: x > 0, "it is positive"), (lambda x: x % 2 == 0, "it is even")]


def test_a_value_meets_its_tests_in_order():
    assert check_value("two", -1, TESTS).message == "it is positive"
    assert check_value("two", 3, TESTS).message == "it is even"
    assert check_value("two", 2, TESTS).ok


@pytest.mark.parametrize("no_numbers", ["2", [[1], [1, 2]], {2}, lambda: 2, [None]])
def test_what_is_no_number_gets_the_first_hint(no_numbers):
    assert check_value("two", no_numbers, TESTS).message == "it is positive"


@pytest.mark.parametrize("number", [np.uint8(2), Fraction(2), Decimal(2), [2, 4], np.float16(2), True + True])
def test_a_value_may_be_any_kind_of_number(number):
    assert check_value("two", number, TESTS).ok


def test_a_complex_value_is_refused():
    assert check_value("two", 2 + 0j, TESTS).message == COMPLEX


def test_a_test_that_fails_to_run_counts_as_failed():
    assert check_value("two", [1, 2, 3], [(lambda x: x.reshape(2, 2), "it has four entries")]).message == (
        "it has four entries"
    )
