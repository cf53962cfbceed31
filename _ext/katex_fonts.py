"""Which characters of the formulas are drawn with which of KaTeX's fonts."""

import re
from html.parser import HTMLParser


def characters_by_font(css, pages):
    """Return {(family, bold, italic): characters} for all formulas on these pages."""
    walk = Walk(font_rules(css))
    for page in pages:
        walk.feed(page)
    return walk.characters


def font_rules(css):
    """Return [(classes, change)]: an element with all these classes changes this much of the font.

    Read from KaTeX's own style sheet. Of a selector only the last classes count ("x" in ".katex .x", and in
    ".x>span", whose text inherits): ancestors tell apart sizes and margins, never fonts.
    """
    rules = []
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", css):
        change = {}
        if family := re.search(r"font-family:(KaTeX_\w+)", body):
            change["family"] = family[1]
        if weight := re.search(r"font-weight:(\w+)", body):
            change["bold"] = weight[1] in ("700", "bold")
        if style := re.search(r"font-style:(\w+)", body):
            change["italic"] = style[1] == "italic"
        if change and "@font-face" not in selectors:
            for selector in selectors.split(","):
                last = selector.split(">")[0].split()[-1]
                rules.append((set(re.findall(r"\.([\w-]+)", last)), change))
    return [(classes, change) for classes, change in rules if classes]


class Walk(HTMLParser):
    """Goes down the elements of each formula with the font that they inherit."""

    def __init__(self, rules):
        super().__init__()
        self.rules = rules
        self.characters = {}
        self.fonts = []  # of the open elements inside a formula; outside there are none

    def handle_starttag(self, tag, attributes):
        classes = set((dict(attributes).get("class") or "").split())
        if self.fonts:
            font = dict(self.fonts[-1])
            for needed, change in self.rules:
                if needed <= classes:
                    font |= change
            self.fonts.append(font)
        elif "katex-html" in classes:
            self.fonts.append({"family": "KaTeX_Main", "bold": False, "italic": False})

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if self.fonts:
            self.fonts.pop()

    def handle_data(self, text):
        if self.fonts:
            self.characters.setdefault(tuple(self.fonts[-1].values()), set()).update(text)
