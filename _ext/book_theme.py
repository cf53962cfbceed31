"""The book's own theme: which styles and scripts a page loads.

The theme is in `_theme`. It stands on Sphinx's documented "basic" theme and on nothing else, so that what a
page sends is what the theme's files say.
"""

import re
from pathlib import Path

THEME = Path(__file__).parent.parent / "_theme"

# What Sphinx and the extensions link on every page and the theme's own style sheet and script do instead.
STYLES = ("basic.css", "pygments.css", "mystnb.", "exercise.css")
SCRIPTS = ("documentation_options.js", "doctools.js", "sphinx_highlight.js")  # Sphinx's search page needs them

# The kinds of code that book.css colours, by Pygments' short names. A chapter has thousands of words of code.
COLORED = set("k kn kc kd kr ow nf nc nb bp nd fm s s1 s2 sa sd si se sb sx m mi mf mh c c1 cm ch gp go ge".split())


def choose_assets(app, pagename, templatename, context, doctree):
    """Leave out what the page does not use, and let no script hold up the page."""

    def wanted(asset, unwanted):
        return not Path(str(asset.filename or "").partition("?")[0]).name.startswith(unwanted)

    context["css_files"] = [asset for asset in context["css_files"] if wanted(asset, STYLES)]
    if pagename != "search":
        context["script_files"] = [asset for asset in context["script_files"] if wanted(asset, SCRIPTS)]
    for asset in context["script_files"]:
        if asset.filename and "module" not in asset.attributes.get("type", ""):
            asset.attributes["defer"] = "defer"


def lighten_code(app, pagename, templatename, context, doctree):
    """Take away the elements around words of code that no style colours: half of all elements of a chapter."""

    def unwrap(block):
        return re.sub(
            r'<span class="(\w+)">([^<]*)</span>', lambda word: word[0] if word[1] in COLORED else word[2], block[0]
        )

    context["body"] = re.sub(r'<div class="highlight"><pre>.*?</pre>', unwrap, context.get("body", ""), flags=re.S)


def mend_roles(app, pagename, templatename, context, doctree):
    """Docutils gives the entries of a bibliography a role that ARIA has withdrawn."""
    context["body"] = context.get("body", "").replace('role="doc-biblioentry"', 'role="listitem"')


def tell_template(app, pagename, templatename, context, doctree):
    """Give the template what it asks for beyond Sphinx's own context."""
    context["author"] = app.config.author
    context["has_math"] = 'class="katex"' in context.get("body", "")
    context["header_buttons"] = []  # other extensions add what stands above the article: run, download, edit


def setup(app):
    app.add_html_theme("attention", str(THEME))
    app.add_js_file("book.js")
    app.add_config_value("comments_config", {}, "html")  # Jupyter Book sets it for sphinx-comments
    app.connect("html-page-context", choose_assets, priority=900)
    app.connect("html-page-context", lighten_code)
    app.connect("html-page-context", mend_roles)
    app.connect("html-page-context", tell_template)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
