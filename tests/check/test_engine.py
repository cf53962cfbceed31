"""The engine under the self-checks, on an exercise made up for it: double the numbers."""

import warnings

import numpy as np
import pytest

from attention_lib.check._engine import Mistake, check_function, check_value

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
    assert "expected 2" in check(lambda x: x * (2 + 8e-6)).message
    assert check(lambda x: x * (2 + 8e-6), rtol=1e-4).ok


def test_the_wrong_shape_is_described():
    assert check(lambda x: x.sum()).message == "on input of shape (3,) the result has shape (), expected (3,)"


@pytest.mark.parametrize("answer", [lambda x: 2j * x, lambda x: "six", lambda x: [[1], [1, 2]], lambda x: {1: 2}])
def test_no_numbers_are_described_without_a_warning(answer):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "where an array of numbers was expected" in check(answer).message


def test_the_reader_cannot_spoil_the_inputs():
    def answer(x):
        x *= 2
        return x

    assert check(answer).ok
    assert INPUTS[0][0].tolist() == [1.0, 2.0, 3.0]


def test_an_endless_loop_can_be_interrupted():
    def answer(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(answer)


def test_a_value_meets_its_tests_in_order():
    tests = [(lambda x: x > 0, "it is positive"), (lambda x: x % 2 == 0, "it is even")]
    assert check_value("two", -1, tests).message == "it is positive"
    assert check_value("two", 3, tests).message == "it is even"
    assert check_value("two", "2", tests).message == "it is positive"  # a test that fails to run counts as failed
    assert check_value("two", 2, tests).ok
