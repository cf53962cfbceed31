"""Explorables: small things to drag and to press, on the book's pages and in Jupyter.

>>> from attention_lib.explorables import AttentionPlane
>>> plane = AttentionPlane(points=[[2, 1], [1, 4], [-1, 2]])
>>> plane.scores.tolist()
[[5.0, 6.0, 0.0], [6.0, 17.0, 7.0], [0.0, 7.0, 5.0]]

In Jupyter the object is alive: what you drag, Python reads, and what Python sets, moves.
On the book's pages the same JavaScript runs without Python.

Each stands in a module of its own here, and its JavaScript in ``web/`` under the same name.
They need anywidget: ``pip install "attention-lib[explore]"``.
Importing this package loads none of that; asking it for an explorable does.
"""

import importlib
import pkgutil


def modules():
    """Return the names of the modules that have an explorable each."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def load(module):
    """Return the class of the explorable in the module of this name."""
    from attention_lib.explorables._base import Explorable

    found = vars(importlib.import_module(f"{__name__}.{module}")).values()
    classes = [each for each in found if isinstance(each, type) and issubclass(each, Explorable)]
    (explorable,) = (each for each in classes if each is not Explorable)
    return explorable


def __getattr__(name):
    if name[0].isupper():
        for each in map(load, modules()):
            if each.__name__ == name:
                return each
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
