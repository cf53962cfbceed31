"""Hints, solutions and hidden code as native details: they open without a script, by keyboard, and print.

Whatever has the class `dropdown` is folded. sphinx-togglebutton does the same with a script, which this replaces.
"""

import html

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.locale import admonitionlabels
from sphinx.transforms.post_transforms import SphinxPostTransform


class folded(nodes.General, nodes.Element):
    """A part of a page that opens on request."""


class FoldDropdowns(SphinxPostTransform):
    default_priority = 900  # after sphinx-exercise has resolved the titles of its solutions
    formats = ("html",)

    def run(self, **kwargs):
        for section in self.document.findall(nodes.section):
            if section["ids"] in (["exercise-content"], ["solution-content"]):
                section["ids"] = []  # sphinx-exercise gives all of them the same
        for node in list(self.document.findall(nodes.Admonition)):
            if "dropdown" not in node["classes"]:
                continue
            title = node.next_node(nodes.title, descend=True)
            classes = [name for name in node["classes"] if name != "dropdown"]
            if title in node.children:
                name = title.astext()  # plain text: a link inside a summary would be a control inside a control
            else:
                name = admonitionlabels[node.tagname]
                classes.append(node.tagname)
            fold = folded("", name=name, ids=node["ids"], classes=classes)
            fold += [child for child in node.children if child is not title]
            node.parent.replace(node, fold)  # replace_self() would hand on the class


def visit_folded(self, node):
    self.body.append(self.starttag(node, "details", CLASS="folded"))
    self.body.append(f'<summary>{html.escape(node["name"])}</summary>\n<div class="unfolded">\n')


def visit_hidden_code(self, node):
    """myst-nb's own summary says "Toggle hidden content" to screen readers and something else to the eye."""
    self.body.append('<details class="folded code"><summary>Code</summary>\n<div class="unfolded">\n')


def depart(self, node):
    self.body.append("</div>\n</details>\n")


def setup(app):
    app.setup_extension("myst_nb")
    app.add_node(folded, html=(visit_folded, depart))
    app.add_node(HideCodeCellNode, override=True, html=(visit_hidden_code, depart))
    app.add_post_transform(FoldDropdowns)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
