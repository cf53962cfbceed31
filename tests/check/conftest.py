"""What the tests of the self-checks share: each chapter run as its reader runs it, and answers that are no answers."""

import ast
import functools
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest

from attention_lib.check._engine import Report

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"


class Chapter:
    """A chapter's code cells, run in order.

    Attributes
    ----------
    names : dict
        Everything the cells define: ``chapter("02").names["my_function_solution"]``.
    stubs, solutions : dict of str to Report
        What the checks in the cells tagged ``exercise`` and ``solution`` said, by the check's name.
    """

    def __init__(self, path):
        self.names, self.stubs, self.solutions = {"__name__": "__main__"}, {}, {}
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                shown = run(cell.source, self.names)
                if isinstance(shown, Report):
                    tags = cell.metadata.get("tags", [])
                    assert ("exercise" in tags) != ("solution" in tags), f"a check in an untagged cell: {shown}"
                    reports = self.stubs if "exercise" in tags else self.solutions
                    assert shown.name not in reports, f"checked twice: {shown}"
                    reports[shown.name] = shown


def run(source, names):
    """Run one cell's source and return what a notebook would show: the value of a last expression."""
    *body, last = ast.parse(source).body or [ast.Pass()]
    if not isinstance(last, ast.Expr):
        body, last = [*body, last], None
    exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None


@functools.cache
def load(number):
    (path,) = CHAPTERS.glob(f"{number}-*.ipynb")
    # A chapter sets NumPy's print options and a figure style; no other test may feel that.
    with np.printoptions(), matplotlib.rc_context(), pytest.MonkeyPatch.context() as patch:
        plt.switch_backend("agg")
        patch.setattr(plt, "show", lambda: plt.close("all"))
        return Chapter(path)


@pytest.fixture(scope="session")
def chapter():
    """Return a function: ``chapter("02")`` is that chapter, run once."""
    return load


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


class Hostile:
    """An object that cannot even be asked for its shape."""

    def __array__(self, *arguments, **keywords):
        raise RuntimeError("no array here")

    def __call__(self, *arguments):
        return Hostile()


@pytest.fixture(
    params=[
        -7.25,
        "softmax",
        {"a": 1},
        [[1.0], [2.0, 3.0]],
        1j,
        np.array([np.nan]),
        Hostile(),
        lambda: 1.0,
        lambda *arguments: None,
        lambda *arguments: 1j * np.ones((2, 2)),
        lambda *arguments: [[1.0], [2.0, 3.0]],
        lambda *arguments: (x for x in arguments),
        returns_a_string,
        raises,
        exits,
        calls_itself,
        spoils_its_input,
    ],
    ids=lambda answer: getattr(answer, "__name__", repr(answer)[:20]),
)
def garbage(request):
    """One of many answers that no exercise asks for; a check must refuse it and not raise."""
    return request.param
