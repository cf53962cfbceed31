"""What all explorables are built on: an anywidget that is also a piece of a page."""

import html
import json

import anywidget
import numpy as np
import traitlets

from attention_lib.explorables._web import bundle, style_in_jupyter


class Numbers(traitlets.TraitType):
    """A trait that holds an array of finite numbers, as lists.

    `shape` has None where any length will do, and no number is larger in size than `limit`.
    """

    def __init__(self, default, shape, limit=np.inf, **options):
        self.shape, self.limit = shape, limit
        super().__init__(default, **options)
        self.default_value = self.validate(None, default)

    def validate(self, obj, value):
        try:
            array = np.asarray(value, float)
        except (TypeError, ValueError):
            array = None
        fits = array is not None and len(array.shape) == len(self.shape) and np.isfinite(array).all()
        if not fits or any(want not in (None, got) for want, got in zip(self.shape, array.shape, strict=True)):
            shape = str(self.shape).replace("None", "any")
            raise traitlets.TraitError(f"{self.name or 'value'} is {value!r}, expected finite numbers of shape {shape}")
        if np.abs(array).max(initial=0) > self.limit:
            raise traitlets.TraitError(f"{self.name or 'value'} is {value!r}, expected -{self.limit} to {self.limit}")
        return array.tolist()


class Real(traitlets.Float):
    """A trait that holds a number from `min` to `max`; NaN, which is neither below nor above, is refused too."""

    def validate(self, obj, value):
        value = super().validate(obj, value)
        if np.isnan(value):
            raise traitlets.TraitError(f"{self.name} is {value!r}, expected a number from {self.min} to {self.max}")
        return value


class Explorable(anywidget.AnyWidget):
    """A thing to drag and to press. In Jupyter an anywidget; in stored HTML what ``web/host.js`` brings to life.

    A subclass stands in a module of its own, named as its JavaScript in ``web/``. It has

    - traits tagged ``sync=True``: what a reader changes, all of it and nothing else;
    - properties: what follows from them, computed by the library. ``compute`` in JavaScript returns the same names;
    - ``text`` and ``tables``: the same for who has no JavaScript, reads on GitHub or on paper;
    - ``height``: the pixels it takes in a column 670 wide and on a phone, so that the page does not jump.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)
    height = (0, 0)

    @traitlets.default("_esm")
    def _javascript(self):
        return bundle(self.module())

    @traitlets.default("_css")
    def _style(self):
        return style_in_jupyter(self.module())

    @classmethod
    def module(cls):
        return cls.__module__.rpartition(".")[2]

    @classmethod
    def inputs(cls):
        """Return the names of the traits that a reader changes."""
        return sorted(cls.class_traits(sync=True).keys() - Explorable.class_traits().keys() - {"_anywidget_id"})

    @classmethod
    def results(cls):
        """Return the names of the properties that follow from them."""
        own = cls.__mro__[: cls.__mro__.index(Explorable)]
        found = {name for each in own for name, value in vars(each).items() if isinstance(value, property)}
        return sorted(name for name in found if name[0] != "_" and name not in vars(Explorable))

    def state(self):
        return {name: getattr(self, name) for name in self.inputs()}

    def text(self):
        """Return a sentence that says what the tables show."""
        raise NotImplementedError

    def tables(self):
        """Return (caption, names of rows, names of columns, numbers) for each table."""
        raise NotImplementedError

    def to_html(self):
        state = html.escape(json.dumps(self.state(), sort_keys=True))
        wide, narrow = self.height
        return (
            f'<div class="explorable" data-module="{self.module()}" data-state="{state}"'
            f' style="--ex-wide: {wide}px; --ex-narrow: {narrow}px">\n<div class="ex-still">\n'
            f"<p>{html.escape(self.text())}</p>\n{''.join(table(*each) for each in self.tables())}</div>\n</div>"
        )

    def __repr__(self):  # what nbval compares, so without an address
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.state().items())})"

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/plain": repr(self), "text/html": self.to_html()}, metadata


def table(caption, rows, columns, numbers, places=2):
    """Return a table of numbers as HTML, with a real minus and no minus zero."""

    def cell(value):
        shown = value if isinstance(value, str) else f"{round(float(value), places) + 0:.{places}f}".replace("-", "−")
        return f"<td>{html.escape(shown)}</td>"

    head = "".join(f'<th scope="col">{html.escape(each)}</th>' for each in columns)
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>{"".join(map(cell, row))}</tr>\n'
        for name, row in zip(rows, numbers, strict=True)
    )
    return f"<table>\n<caption>{html.escape(caption)}</caption>\n<tr><td></td>{head}</tr>\n{body}</table>\n"
