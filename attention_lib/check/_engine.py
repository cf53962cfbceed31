"""How a self-check works: run the reader's function, compare, and recognise the mistake.

Each exercise names the right function, the inputs to try, and the wrong functions people really write.
An answer that agrees with a wrong function on every input has made that mistake.
"""

import functools
import io
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from copy import deepcopy
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Report:
    """What a check found; shows itself as one or two lines of text."""

    name: str
    ok: bool
    message: str
    mistake: str | None = None  # the name of a recognised mistake

    def __repr__(self):
        mark = "✓" if self.ok else "○" if self.message == NOT_WRITTEN else "✗"
        return f"{mark} {self.name}: {self.message}"


@dataclass(frozen=True)
class Mistake:
    """A wrong answer people really give: what it computes, and the one hint that mends it."""

    name: str
    imitation: Callable
    hint: str


@dataclass(frozen=True)
class Outcome:
    """How one call of a function ended."""

    result: object = None
    numbers: np.ndarray | None = None  # the result as an array, if it is made of numbers
    error: BaseException | None = None
    printed: str = ""


NOT_WRITTEN = "not written yet"
RIGHT = "all correct"
UNREADABLE = "this fails as soon as one looks at it: give plain numbers or arrays"
IN_A_TUPLE = "you return a tuple, and the right result is in it: return that one alone"
COMPLEX = "there are complex numbers where real ones were expected"
UNSTEADY = "it gives different results for the same input: is something random, or kept from call to call?"


def _never_raises(check):
    """Let a check end in a report whatever it is given: even an error's text or a class's name can raise."""

    @functools.wraps(check)
    def guarded(name, answer, *arguments, **options):
        if answer is None or answer is ...:
            return Report(name, False, NOT_WRITTEN)
        try:
            return check(name, answer, *arguments, **options)
        except KeyboardInterrupt:  # the reader's way out of an endless loop
            raise
        except BaseException:
            return Report(name, False, UNREADABLE)

    return guarded


@_never_raises
def check_function(
    name, answer, *, right, inputs, mistakes=(), form=None, called="result", boolean=None, rtol=1e-4, atol=1e-5
):
    """Compare `answer` with the function `right` on each of `inputs`, a list of argument tuples.

    The answer runs once on each, and what it prints is shown for one: the one that the report is about.
    `form` is the hint for a result of another kind or shape, and `called` names what is compared.
    `boolean`, where booleans are asked for, is the hint for ones and zeros in the right places.
    The tolerances are wide enough for answers in float32 and far too narrow for any mistake.
    """
    if not callable(answer):
        return Report(name, False, f"pass the function itself, not what it returned: check.{name}(your_function)")
    outcomes = [_run(answer, each) for each in inputs]

    def agreements(f, agree=_agree):  # one at a time: most functions are told apart on the first input
        return (agree(got, _run(f, each), rtol, atol) for got, each in zip(outcomes, inputs, strict=True))

    wrong = next((i for i, agrees in enumerate(agreements(right)) if not agrees), None)
    got, arguments = outcomes[wrong or 0], inputs[wrong or 0]
    print(got.printed, end="")
    if wrong is None and boolean and not all(np.array(each.result).dtype == bool for each in outcomes):
        return Report(name, False, boolean, "ones and zeros")
    if wrong is None:
        return Report(name, True, RIGHT)
    if isinstance(got.error, NotImplementedError):
        return Report(name, False, NOT_WRITTEN)
    for mistake in mistakes:
        if all(agreements(mistake.imitation)):
            return Report(name, False, mistake.hint, mistake.name)
    if all(agreements(right, _has_among_others)):
        return Report(name, False, IN_A_TUPLE, "in a tuple")
    if got.numbers is not None and not _agree(got, _run(answer, arguments), rtol, atol):
        return Report(name, False, UNSTEADY)
    want = _run(right, arguments).numbers
    return Report(name, False, _one_line(_describe(got, want, arguments, form, called, rtol, atol)))


@_never_raises
def check_value(name, answer, tests):
    """Try `answer`, as an array, against `tests`: predicates, each with the hint for when it is False.

    The first hint says which shape is wanted, so it is also what an answer gets that is no numbers.
    """
    value = _run(lambda: answer, ()).numbers
    if value is None:
        return Report(name, False, tests[0][1])
    if np.iscomplexobj(value):
        return Report(name, False, COMPLEX)
    for passes, hint in tests:
        verdict = _run(passes, (value.astype(float),)).numbers
        if verdict is None or not verdict.all():
            return Report(name, False, hint)
    return Report(name, True, RIGHT)


def numbers(result):
    """Return a result as an array of its own, of real or complex floats; None if it is not made of numbers."""
    try:
        array = np.array(result)  # a copy, which no later call can change
        if array.dtype.kind in "fc":
            return array
        return array.astype(float) if array.dtype.kind in "biuO" else None  # objects may be fractions
    except Exception:  # ragged, or no numbers
        return None


def _run(f, arguments):
    """Call `f` on copies of the arguments, without a sound, and return how that ends."""
    printed = io.StringIO()
    try:
        with redirect_stdout(printed), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = f(*deepcopy(arguments))
            return Outcome(result, numbers(result), printed=printed.getvalue())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a reader's function may even call exit()
        return Outcome(error=error, printed=printed.getvalue())


def _agree(got, want, rtol, atol):
    """Say whether two outcomes are the same numbers, to rounding, or errors of the same type."""
    if got.numbers is None or want.numbers is None:
        return got.error is not None and type(got.error) is type(want.error)  # a mistake may show by failing
    got, want = got.numbers, want.numbers
    same_kind = got.shape == want.shape and np.iscomplexobj(got) == np.iscomplexobj(want)
    return same_kind and bool(_close(got, want, rtol, atol).all())


def _has_among_others(got, want, rtol, atol):
    """Say whether an outcome is a tuple, as of output and weights, of which one part is the wanted numbers."""
    parts = got.result if isinstance(got.result, tuple) else ()
    return any(_agree(_run(lambda part: part, (part,)), want, rtol, atol) for part in parts)


def _close(got, want, rtol, atol):
    """Say of each number whether it is the wanted one, as far as its own precision can tell."""
    rounding = 8 * np.finfo(got.dtype).eps  # above the tolerances in float16 alone
    return np.isclose(got, want, max(rtol, rounding), max(atol, rounding), equal_nan=True)


def _describe(got, want, arguments, form, called, rtol, atol):
    """Say how an answer that matches no known mistake differs from the right one."""
    if all(np.ndim(argument) == 0 for argument in arguments):
        given = f"for ({', '.join(map(str, arguments))})"
    else:
        given = "on input of shape " + ", ".join(str(np.shape(argument)) for argument in arguments)
    if got.error is not None:
        return f"{given} it raises {type(got.error).__name__}: {got.error}".removesuffix(": ")
    if got.result is None:
        return "it returns None: is the return missing?"
    if got.numbers is None:
        kind = type(got.result).__name__
        return form or f"{given} it returns something of type {kind} where an array of numbers was expected"
    got = got.numbers
    if got.shape != want.shape:
        return form or f"{given} the {called} has shape {got.shape}, expected {want.shape}"
    if np.iscomplexobj(got):
        return f"{given} {COMPLEX}"
    off = tuple(np.argwhere(~_close(got, want, rtol, atol))[0])
    place = "".join(f"[{i}]" for i in off)
    return f"{given} {called}{place} is {got[off]:.6g}, expected {want[off]:.6g}"


def _one_line(text, width=240):
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= width else text[: width - 1] + "…"
