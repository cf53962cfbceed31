"""Matplotlib's SVG figures as part of the page: they follow its colours, and their text can be selected and found.

A figure in an `img` element would need one file for each theme, could not use the page's fonts, and would print
dark from a dark page.
"""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from attention_lib import plotting
from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

log = logging.getLogger(__name__)

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
POINT = 4 / 3  # CSS pixels

# A figure's black is the page's ink, its white the page's paper; book.css has the lines' colours for dark paper.
# The numbers in heatmap cells are not pure black or white, so they keep the colour chosen for their cell.
COLORS = {"#000000": "currentColor", "#ffffff": "var(--paper)"}
COLORS |= {color: f"var(--plot-{number})" for number, color in enumerate(plotting.COLORS, start=1)}


class InlineFigures(SphinxPostTransform):
    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs):
        images = [node for node in self.document.findall(nodes.image) if node["uri"].endswith(".svg")]
        for number, node in enumerate(images, start=1):
            svg = Path(self.app.srcdir, node["uri"]).read_text("utf8")
            if "Matplotlib" not in svg:
                continue
            if not node.get("alt"):
                log.warning("figure without alt text", location=node, type="inline_figures")
            node.replace_self(nodes.raw("", inline(svg, node.get("alt", ""), f"plot{number}-"), format="html"))


def inline(svg, alt, prefix):
    """Return a matplotlib SVG as HTML to be put into a page.

    `prefix` makes its ids its own: every figure has a "line2d_1", and a page has many figures.
    """
    root = ET.fromstring(svg)
    for parent in root.iter():
        for child in list(parent):
            if child.tag in (f"{SVG}metadata", f"{SVG}style"):  # the style sheet has that one rule
                parent.remove(child)
    linked = set(re.findall(r"#([\w.-]+)", " ".join(value for e in root.iter() for value in e.attrib.values())))
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        attributes = {name.replace(HREF, "href"): value for name, value in element.items()}
        if attributes.get("id") not in linked:
            attributes.pop("id", None)
        element.attrib = {name: rewrite(name, value, prefix) for name, value in attributes.items()}
        element.tail = None  # line breaks; a space that is drawn is inside a tspan
        if element.tag not in ("text", "tspan") or len(element):
            element.text = None
    _, _, width, height = root.get("viewBox").split()
    size = {"width": f"{float(width) * POINT:.0f}", "height": f"{float(height) * POINT:.0f}"}
    root.attrib = {"class": "plot", "role": "img", "aria-label": alt, "viewBox": root.get("viewBox"), **size}
    return ET.tostring(root, encoding="unicode")


def rewrite(name, value, prefix):
    """Return the value of one attribute: shorter, in the page's colours, with ids of its own."""
    if name == "id":
        return prefix + value
    if name == "href":  # of a marker, or a picture as data in lines
        return f"#{prefix}{value[1:]}" if value.startswith("#") else "".join(value.split())
    if name in ("d", "x", "y", "transform"):
        # matplotlib writes a millionth of a point; a hundredth is finer than any screen
        value = re.sub(r"-?\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), value)
        return " ".join(value.split())
    value = value.replace("url(#", f"url(#{prefix}")
    value = re.sub(r"#[0-9a-f]{6}\b", lambda color: COLORS.get(color[0], color[0]), value)
    return re.sub(r"\s*font-family: 'DejaVu Sans'[^;]*;?", "", value)  # the page names that font once


def setup(app):
    app.add_post_transform(InlineFigures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
