"""How a self-check works: run the reader's function, compare, and recognise the mistake.

Each exercise names the right function, the inputs to try, and the wrong functions people really write.
An answer that agrees with a wrong function on every input has made that mistake.
"""

import warnings
from collections.abc import Callable
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


NOT_WRITTEN = "not written yet"
RIGHT = "all correct"


def check_function(name, answer, *, right, inputs, mistakes=(), rtol=1e-6, atol=1e-9):
    """Compare `answer` with the function `right` on each of `inputs`, a list of argument tuples."""
    if answer is None or answer is ...:
        return Report(name, False, NOT_WRITTEN)
    if not callable(answer):
        return Report(name, False, f"pass the function itself, not what it returned: check.{name}(your_function)")

    def agrees(f, g, arguments):
        got, want = _run(f, arguments), _run(g, arguments)
        if isinstance(got, Exception) or isinstance(want, Exception):
            return type(got) is type(want)  # a mistake may show by failing on one of the inputs
        return _equal(got, want, rtol, atol)

    for arguments in inputs:
        if agrees(answer, right, arguments):
            continue
        got = _run(answer, arguments)
        if isinstance(got, NotImplementedError):
            return Report(name, False, NOT_WRITTEN)
        for mistake in mistakes:
            if all(agrees(answer, mistake.imitation, each) for each in inputs):
                return Report(name, False, mistake.hint, mistake.name)
        return Report(name, False, _describe(got, _run(right, arguments), arguments, rtol, atol))
    return Report(name, True, RIGHT)


def check_value(name, answer, tests):
    """Try `answer` against each of `tests`, pairs of a predicate and the hint for when it is False."""
    if answer is None or answer is ...:
        return Report(name, False, NOT_WRITTEN)
    for passes, hint in tests:
        result = _run(passes, (answer,))
        if isinstance(result, Exception) or not np.all(result):
            return Report(name, False, hint)
    return Report(name, True, RIGHT)


def _run(f, arguments):
    """Return what `f` returns for copies of the arguments, or the exception it ends in."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return f(*deepcopy(arguments))
    except KeyboardInterrupt:  # the reader's way out of an endless loop
        raise
    except BaseException as error:  # a reader's function may even call exit()
        return error if isinstance(error, Exception) else RuntimeError(type(error).__name__)


def _equal(got, want, rtol, atol):
    """Say whether two results have the same shape and, to rounding, the same numbers."""
    if isinstance(want, tuple):
        return (
            isinstance(got, (tuple, list))
            and len(got) == len(want)
            and all(_equal(g, w, rtol, atol) for g, w in zip(got, want, strict=True))
        )
    try:
        got, want = np.asarray(got), np.asarray(want)
        return got.shape == want.shape and np.allclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    except Exception:  # not numbers, not rectangular, or an object that cannot become an array
        return False


def _describe(got, want, arguments, rtol, atol):
    """Say how an answer that matches no known mistake differs from the right one."""
    if all(np.ndim(argument) == 0 for argument in arguments):
        given = f"for ({', '.join(map(str, arguments))})"
    else:
        given = "on input of shape " + ", ".join(str(np.shape(argument)) for argument in arguments)
    if isinstance(got, Exception):
        return f"{given} it raises {type(got).__name__}: {got}"
    if got is None:
        return "it returns None: is the return missing?"
    try:
        if np.iscomplexobj(got):
            raise TypeError
        got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    except Exception:
        return f"{given} it returns a {type(got).__name__} where an array of numbers was expected"
    if got.shape != want.shape:
        return f"{given} the result has shape {got.shape}, expected {want.shape}"
    off = np.argwhere(~np.isclose(got, want, rtol, atol, equal_nan=True))[0]
    place = "".join(f"[{i}]" for i in off)
    return f"{given} result{place} is {got[tuple(off)]:.6g}, expected {want[tuple(off)]:.6g}"
