"""What the tests of the self-checks share: what each chapter shows of them, and answers that are no answers."""

import functools
import re
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest

from attention_lib import check

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
REPORT = re.compile(r"[✓○✗] (\w+): (.+)", re.DOTALL)


class Chapter:
    """A chapter's code cells.

    Attributes
    ----------
    stubs, solutions : dict of str to str
        What the checks in the cells tagged ``exercise`` and ``solution`` said, by the check's name.
        This is what the chapter shows, and nbval runs it all again and compares.
    """

    def __init__(self, path):
        self.stubs, self.solutions = {}, {}
        self.cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        for cell in self.cells:
            for report in filter(None, map(report_in, cell.outputs)):
                name, message = report.groups()
                tags = cell.metadata.get("tags", [])
                assert ("exercise" in tags) != ("solution" in tags), f"a check in an untagged cell: {name}"
                reports = self.stubs if "exercise" in tags else self.solutions
                assert name not in reports, f"checked twice: {name}"
                reports[name] = message

    @functools.cached_property
    def names(self):
        """Everything the cells define, run in order: ``chapter("01").names["my_function_solution"]``."""
        names = {"__name__": "__main__"}
        # A chapter sets NumPy's print options and a figure style; no other test may feel that.
        with np.printoptions(), matplotlib.rc_context(), pytest.MonkeyPatch.context() as patch:
            plt.switch_backend("agg")
            patch.setattr(plt, "show", lambda: plt.close("all"))
            for cell in self.cells:
                exec(cell.source, names)
        return names


def report_in(output):
    """Return the match of a check's report, if the value of the cell is one."""
    return REPORT.fullmatch(output.get("data", {}).get("text/plain", ""))


@functools.cache
def load(number):
    (path,) = CHAPTERS.glob(f"{number}-*.ipynb")
    return Chapter(path)


@pytest.fixture(scope="session")
def chapter():
    """Return a function: ``chapter("02")`` is that chapter, read once."""
    return load


@pytest.fixture
def exercise(monkeypatch):
    """Return a function: ``exercise("softmax")`` is what that check hands to the engine, None if it takes a value."""

    def look(name):
        found = []
        module = sys.modules[getattr(check, name).__module__]
        if hasattr(module, "check_value"):
            monkeypatch.setattr(module, "check_value", lambda *arguments: found.append(None))
        monkeypatch.setattr(module, "check_function", lambda name, answer, **options: found.append(options))
        getattr(check, name)(lambda *arguments: None)
        monkeypatch.undo()
        (options,) = found
        return options

    return look


def returns_a_string(*arguments):
    return "softmax"


def raises(*arguments):
    raise KeyError("no such token")


def exits(*arguments):
    exit()


def calls_itself(*arguments):
    return calls_itself(*arguments)


def spoils_its_input(*arguments):
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            argument[...] = np.nan
    return arguments


def returns(value):
    """Return an answer that gives the same value whatever it is asked."""
    return lambda *arguments: value


NESTED = []
NESTED.append(NESTED)
GARBAGE = {
    "number": -7.25,
    "text": "softmax",
    "dictionary": {"a": 1},
    "ragged": [[1.0], [2.0, 3.0]],
    "complex": 1j,
    "nan": np.array([np.nan]),
    "no arguments": lambda: 1.0,
    "returns None": returns(None),
    "returns complex": returns(1j * np.ones((2, 2))),
    "returns ragged": returns([[1.0], [2.0, 3.0]]),
    "returns itself nested": returns(NESTED),
    "returns a huge integer": returns(10**400),
    "returns dates": returns(np.array(["2017-06-12"], "M8[D]")),
    "returns digits": returns(np.array([["1", "2"], ["3", "4"]])),
    "returns an error": returns(ValueError("no such token")),
    "returns nothing in an array": returns(np.array([None, ...])),
    "returns no entries": returns(np.zeros((0, 3))),
    "is a class of errors": ValueError,
    "returns a string": returns_a_string,
    "generator": lambda *arguments: (x for x in arguments),
    "raises": raises,
    "exits": exits,
    "calls itself": calls_itself,
    "spoils its input": spoils_its_input,
}


@pytest.fixture(params=GARBAGE.values(), ids=GARBAGE)
def garbage(request):
    """One of many answers that no exercise asks for; a check must refuse it and not raise."""
    return request.param


def fails(*arguments, **keywords):
    raise RuntimeError("do not look at me")


def leaves(*arguments, **keywords):
    raise SystemExit(3)


class UnreadableError(Exception):
    __str__ = __repr__ = fails


class NamelessType(type):
    __name__ = property(fails)


class Nameless(metaclass=NamelessType):
    pass


class NamelessError(Exception, metaclass=NamelessType):
    pass


def hostile(**attributes):
    """Return an object that fails as soon as one of the attributes is used."""
    return type("Hostile", (), attributes)()


class HostileArray(np.ndarray):
    __array_ufunc__ = __array_function__ = __array_wrap__ = __getitem__ = __len__ = __str__ = __repr__ = fails
    shape = ndim = dtype = property(fails)


class HostileList(list):
    __len__ = __iter__ = __getitem__ = leaves


class HostileFloat(float):
    __float__ = __array__ = __repr__ = __format__ = fails


OBJECTS = {
    "array fails": hostile(__array__=fails),
    "array leaves": hostile(__array__=leaves),
    "class fails": hostile(__class__=property(fails)),
    "class leaves": hostile(__class__=property(leaves)),
    "all attributes leave": hostile(__getattribute__=leaves),
    "float leaves": hostile(__float__=leaves),
    "length leaves": hostile(__len__=leaves, __getitem__=leaves),
    "comparison fails": hostile(__eq__=fails, __bool__=fails, __hash__=fails),
    "functions of NumPy fail": hostile(__array_function__=fails, __array_ufunc__=fails),
    "cannot be copied": hostile(__deepcopy__=leaves, __copy__=leaves, __reduce_ex__=leaves),
    "nameless": Nameless(),
    "hostile array": np.full((2, 2), -7.25).view(HostileArray),
    "hostile list": HostileList([1.0]),
    "hostile float": HostileFloat(-7.25),
    "list of hostile objects": [hostile(__float__=leaves)],
}


def raises_error(error):
    def answer(*arguments):
        raise error

    return answer


ERRORS = {
    "unreadable error": UnreadableError(),
    "nameless error": NamelessError(),
    "error of an unreadable error": ValueError(UnreadableError()),
    "error with a hostile class": type("HostileError", (Exception,), {"__class__": property(leaves)})(),
    "generator exit": GeneratorExit(),
    "leaves with a hostile code": SystemExit(hostile(__str__=leaves)),
}
HOSTILE = (
    OBJECTS
    | {f"returns: {name}": returns(each) for name, each in OBJECTS.items()}
    | {f"raises: {name}": raises_error(each) for name, each in ERRORS.items()}
    | {"hostile call": hostile(__call__=leaves, __name__=property(leaves))}
)


@pytest.fixture(params=HOSTILE)  # the names, for pytest looks at its parameters
def hostile_answer(request):
    """One of many answers that fail, or leave Python, as soon as one looks at them."""
    return HOSTILE[request.param]
