"""What makes a page found, shared, run and mended: its address, description, buttons and date.

All of it follows from the repository and the address of the pages (see repository.py).
What is not known is left out, and the build says so, as information: a copy without git builds without a warning.
"""

import html
import re
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from docutils import nodes
from ready import ready
from repository import find, find_base
from sphinx.errors import ConfigError
from sphinx.util import logging

logger = logging.getLogger(__name__)

# Pages that Sphinx makes. Search engines are to list the book, not these.
MADE = {
    "search": "Search every page of this book for a word, a formula's name or a function of the library.",
    "404": "There is no page at this address. The contents and the search of this book lead to what there is.",
}
NOT_FOUND = """<h1>Page not found</h1>
<p>There is no page at this address; it may have been renamed.
Start from <a href="{prefix}index.html">the first page</a>,
or <a href="{prefix}search.html">search the book</a>.</p>"""


def configure(app, config):
    """Find the repository and the address of the pages, before other extensions ask for them."""
    try:
        config.book_repository, source = find(app.srcdir)
        base = config.html_baseurl or find_base(config.book_repository)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    prefix = urlsplit(base).path or "/"
    config.html_baseurl = config.ogp_site_url = base
    config.notfound_urls_prefix = prefix
    config.notfound_context = {"title": "Page not found", "body": NOT_FOUND.format(prefix=prefix)}
    news = say(config.book_repository, source, base)
    app.connect("build-finished", lambda app, exception: logger.info(news))  # last, where people look


def say(repository, source, base):
    """Return in words what was found, and what is left out."""
    if repository:
        place = f"The repository is {repository.url}, branch {repository.branch} ({source})."
        if not repository.colab(""):
            place += " Colab reads from GitHub alone, so the chapters have no Colab button."
        if not repository.edit(""):
            place += " How this host edits a file is not known, so the pages have no edit button."
    else:
        place = (
            f"The repository is not known: {source}. The pages have no Binder, Colab and edit buttons. "
            "To have them, set BOOK_REPOSITORY to its address, or the git remote origin."
        )
    pages = f"The pages' address is {base}." if base else (
        "The pages' address is not known, so they state none, and there is no sitemap. To have them, set BOOK_URL."
    )  # fmt: skip
    return f"{place}\n{pages}"


def describe(app, pagename, templatename, context, doctree):
    """Give Open Graph the description that the page's author wrote, and describe the pages that Sphinx makes."""
    if doctree:
        for node in doctree.findall(nodes.meta):
            if node.get("name") == "description":
                context["meta"] = {**(context["meta"] or {}), "og:description": node["content"]}
    elif pagename in MADE:
        context["pageurl"] = None  # a page that is not to be listed has no address to list it under
        description = html.escape(MADE[pagename])
        context["metatags"] = context.get("metatags", "") + (
            f'<meta name="description" content="{description}" />\n<meta name="robots" content="noindex" />\n'
        )


def forget_address(app, pagename, templatename, context, doctree):
    """Take out the relative address that Open Graph writes where the pages' address is not known."""
    if not app.config.html_baseurl:
        context["metatags"] = re.sub(r'<meta property="og:url"[^>]*>\n?', "", context.get("metatags", ""))


def add_buttons(app, pagename, templatename, context, doctree):
    """List what a reader can do with the page: run it on Binder or Colab, download it, edit it."""
    if not doctree:
        return
    repository = app.config.book_repository
    file = app.env.doc2path(pagename, base=False)
    run, buttons = [], context["header_buttons"]

    def add(place, url, text, tooltip):
        if url:
            place.append({"url": html.escape(url), "text": text, "tooltip": tooltip})

    if file.endswith(".ipynb"):
        if repository:
            add(run, repository.binder(file), "Binder", "Run this chapter on Binder, in JupyterLab")
            add(run, repository.colab(file), "Colab", "Run this chapter on Google Colab")
        add(run, Path(file).name, "Download", "Download this chapter as a notebook")
        buttons.append({"tooltip": "Run this chapter", "buttons": run})
    if repository:
        add(buttons, repository.edit(file), "Edit this page", "Edit this page where the book is kept")


def write_notebooks(app, exception):
    """Put the copy of each chapter that runs anywhere beside its page."""
    if exception or app.builder.format != "html":
        return
    for name in app.env.found_docs:
        source = Path(app.env.doc2path(name))
        if source.suffix == ".ipynb":
            copy = Path(app.outdir, name).with_suffix(".ipynb")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(ready(source.read_text("utf8"), app.config.book_repository), "utf8", newline="\n")


def write_sitemap(app, exception):
    """List the pages, each with the date of its last change, where their address is known."""
    base = app.config.html_baseurl
    if exception or app.builder.format != "html" or not base:
        return
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">']
    for name in sorted(app.env.found_docs):
        seconds, _ = app.env.git_last_updated.get(name) or (None, None)
        changed = datetime.fromtimestamp(int(seconds), UTC).isoformat() if seconds else ""
        lastmod = f"<lastmod>{changed}</lastmod>" if changed else ""
        lines.append(f"<url><loc>{html.escape(base + app.builder.get_target_uri(name))}</loc>{lastmod}</url>")
    Path(app.outdir, "sitemap.xml").write_text("\n".join([*lines, "</urlset>"]) + "\n", "utf8")


def setup(app):
    app.add_config_value("book_repository", None, "html")  # when it changes, every page is written again
    app.connect("config-inited", configure, priority=100)
    app.connect("html-page-context", describe, priority=400)  # before Open Graph reads it
    app.connect("html-page-context", forget_address, priority=600)
    app.connect("html-page-context", add_buttons, priority=600)  # after the theme has made the list
    app.connect("build-finished", write_notebooks)
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
