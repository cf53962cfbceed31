"""Maths drawn while the book is built: HTML for the eye, MathML for screen readers, no script for the reader.

KaTeX is JavaScript. QuickJS, a small engine that pip installs, runs it, so the build needs no Node.
A formula that KaTeX cannot read is a warning with its place, and the book is built with warnings as errors.
"""

import functools
import html
import importlib.resources
import json
import re

import quickjs
from docutils import nodes
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

log = logging.getLogger(__name__)


@functools.cache
def engine():
    """Return QuickJS with KaTeX loaded, once a process."""
    context = quickjs.Context()
    # The package is a Sphinx extension that needs Node; only the KaTeX that it carries is used here.
    context.eval((importlib.resources.files("sphinxcontrib") / "katex.min.js").read_text("utf8"))
    return context


@functools.cache
def render(tex, display):
    """Return the HTML and MathML of a formula; raise `ValueError` where KaTeX cannot read it."""
    options = json.dumps({"displayMode": display, "throwOnError": True, "strict": "error"})
    try:
        # Joined in JavaScript: QuickJS hands over flat strings only, and KaTeX's is a rope of pieces.
        drawn = engine().eval(f"[katex.renderToString({json.dumps(tex)}, {options})].join('')")
    except quickjs.JSException as error:
        raise ValueError(str(error).splitlines()[0]) from None
    # The TeX source inside the MathML is heard by nobody, and a browser lays it out all the same.
    return re.sub(r"<annotation.*?</annotation>|</?semantics>", "", drawn, flags=re.S)


def tex_of(node):
    """Return the node's TeX without its label and number, which are Sphinx's to draw."""
    tex = re.sub(r"\\label\{[^}]*\}", "", node.astext())
    return re.sub(r"\\(begin|end)\{(align|alignat|equation|gather)\}", r"\\\1{\2*}", tex)


def html_of(node, display):
    try:
        return render(tex_of(node), display)
    except ValueError as error:
        log.warning("maths: %s", error, location=node, type="static_math")
        return f"<code>{html.escape(node.astext())}</code>"


def visit_inline(self, node):
    self.body.append(self.starttag(node, "span", "", CLASS="math") + html_of(node, False) + "</span>")
    raise nodes.SkipNode


def visit_block(self, node):
    """Write a formula in a box of its own, which scrolls where the page is narrow, and its number beside it."""
    self.body.append(self.starttag(node, "div", CLASS="equation"))
    self.body.append(f'<div class="scrolls" data-scrolls="Equation">{html_of(node, True)}</div>')
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<a class="eqno" href="#{node["ids"][0]}" title="Link to this equation">({number})</a>')
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("static", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "static"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
