"""What a page says of where it lives, in every kind of copy of the book; each copy builds without a warning.

The books here are small, and built with the settings of the real one.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parent.parent.parent
# Left out: what draws formulas, figures and fonts, which takes longer than all the rest.
EXTENSIONS = [
    "jupyter_book", "myst_nb", "sphinx_external_toc", "sphinxext.opengraph", "notfound.extension",
    "sphinx_last_updated_by_git", "sharing", "book_theme",
]  # fmt: skip
DESCRIPTION = 'One "chapter" & one formula: what a reader learns there, in a sentence.'


def settings():
    """Return the real settings, less what has nothing to do with where the book lives."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
    sphinx = config["sphinx"]["config"]
    assert set(EXTENSIONS) <= set(sphinx["extensions"])
    return {
        "title": "A Small Book",
        "author": "the authors",
        "only_build_toc_files": True,
        "execute": config["execute"],
        "html": {"favicon": str(ROOT / config["html"]["favicon"])},
        "sphinx": {
            "local_extensions": {"sharing": str(ROOT / "_ext")},
            "recursive_update": True,
            "config": {name: sphinx[name] for name in sphinx if "bibtex" not in name} | {"extensions": EXTENSIONS},
        },
    }


def notebook():
    cells = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# One"]},
        {"cell_type": "code", "id": "sum", "metadata": {}, "execution_count": 1, "source": ["1 + 1"], "outputs": []},
    ]
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "myst": {"html_meta": {"description": DESCRIPTION}},
    }
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


PAGE = f"---\nmyst:\n  html_meta:\n    description: {json.dumps(DESCRIPTION)}\n---\n# Home $x^2$\n\nWords and $x$.\n"
FILES = {
    "_config.yml": yaml.safe_dump(settings()),
    "_toc.yml": "format: jb-book\nroot: index\nchapters:\n- file: chapters/01-one\n",
    "index.md": PAGE,
    "chapters/01-one.ipynb": notebook(),
}


class Pages:
    """A built book: its folder, what the build said, and its pages' elements."""

    def __init__(self, folder, said):
        self.folder, self.said = folder, said

    def page(self, name):
        return BeautifulSoup((self.folder / name).read_text("utf8"), "html.parser")

    def links(self, name, start=""):
        return [a["href"] for a in self.page(name).select("a[href]") if a["href"].startswith(start)]

    def meta(self, name):
        found = self.page(name).select("meta[content]")
        return {tag.get("name") or tag.get("property"): tag["content"] for tag in found}

    def canonical(self, name):
        return [tag["href"] for tag in self.page(name).select("link[rel=canonical]")]

    def changed(self, name):
        return [" ".join(tag.get_text().split()) for tag in self.page(name).select(".last-updated")]

    def text(self):
        """Return all that was built and said, less the theme's own files."""
        files = [p for p in self.folder.rglob("*") if p.is_file() and "_static" not in p.relative_to(self.folder).parts]
        return "\n".join([self.said, *(p.read_text("utf8", errors="replace") for p in files)])


@pytest.fixture
def build(tmp_path):
    """Return a function that builds a book, warnings as errors, with what is added to the environment."""

    def run(book, status=0, **environment):
        command = [Path(sys.executable).with_name("jupyter-book"), "build", book]
        options = ["--path-output", tmp_path / "built", "-W", "-n", "--keep-going"]
        environment = {**os.environ, "NO_COLOR": "1", **environment}
        done = subprocess.run([*command, *options], capture_output=True, text=True, env=environment)
        said = done.stdout + done.stderr
        assert done.returncode == status, said
        return Pages(tmp_path / "built" / "_build" / "html", said)

    return run


@pytest.fixture
def plain(tmp_path):
    """Return a copy of the book that git knows nothing of: an unpacked download."""
    for name, text in FILES.items():
        (tmp_path / "plain" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "plain" / name).write_text(text, "utf8")
    return tmp_path / "plain"


def test_a_fork_on_github_has_everything_and_leaks_nothing(clone, push, build):
    book = clone("https://reader:ghp_secret@github.com/Reader/book.git", files=FILES)
    push(book, "main")
    pages = build(book)
    chapter, base = "chapters/01-one.html", "https://reader.github.io/book/"

    assert pages.links(chapter, "https://mybinder.org") == [
        "https://mybinder.org/v2/gh/Reader/book/main?urlpath=lab%2Ftree%2Fchapters%2F01-one.ipynb"
    ]
    assert pages.links(chapter, "https://colab") == [
        "https://colab.research.google.com/github/Reader/book/blob/colab/chapters/01-one.ipynb"
    ]
    assert "01-one.ipynb" in pages.links(chapter)
    assert pages.links(chapter, "https://github.com") == [
        "https://github.com/Reader/book/edit/main/chapters/01-one.ipynb"
    ]
    assert pages.links("index.html", "https://") == ["https://github.com/Reader/book/edit/main/index.md"]

    for name in ("index.html", chapter):
        assert pages.canonical(name) == [base + name]
        meta = pages.meta(name)
        assert meta["og:url"] == base + name
        assert meta["description"] == meta["og:description"] == DESCRIPTION
        assert meta["og:title"] and meta["og:type"] and meta["og:site_name"]
        assert "og:image" not in meta
        assert meta["article:modified_time"] == "2026-01-31T23:30:00+00:00"
        assert pages.changed(name) == ["Last updated on 31 January 2026."]

    sitemap = ElementTree.parse(pages.folder / "sitemap.xml").getroot()
    spaces = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    assert {loc.text for loc in sitemap.findall("s:url/s:loc", spaces)} == {base + "index.html", base + chapter}
    assert {when.text for when in sitemap.findall("s:url/s:lastmod", spaces)} == {"2026-01-31T23:30:00+00:00"}

    assert "The repository is https://github.com/Reader/book, branch main (from the git remote origin)." in pages.said
    assert "secret" not in pages.text()


def test_the_page_for_a_wrong_address_works_from_any_depth_and_made_pages_are_not_listed(clone, build):
    pages = build(clone("git@github.com:reader/book.git", files=FILES))
    page = pages.page("404.html")
    addresses = [tag[name] for name in ("href", "src") for tag in page.select(f"[{name}]")]
    assert [a for a in addresses if not a.startswith(("/book/", "https://", "#"))] == []
    assert {"/book/index.html", "/book/search.html"} <= set(pages.links("404.html"))
    assert [h1.get_text() for h1 in page.select("article h1")] == ["Page not found"]
    for made in ("404.html", "search.html"):
        assert 50 <= len(pages.meta(made)["description"]) <= 160
        assert pages.meta(made)["robots"] == "noindex"
        assert made not in (pages.folder / "sitemap.xml").read_text("utf8")


def test_without_a_remote_the_buttons_are_left_out_and_the_build_says_so(clone, build):
    pages = build(clone(None, files=FILES))
    for name in ("index.html", "chapters/01-one.html"):
        assert pages.links(name, "http") == []
        assert pages.canonical(name) == []
        meta = pages.meta(name)
        assert meta["og:description"] == DESCRIPTION and "og:url" not in meta
        assert pages.changed(name) == ["Last updated on 31 January 2026."]
    assert "01-one.ipynb" in pages.links("chapters/01-one.html")
    assert (pages.folder / "chapters" / "01-one.ipynb").read_text("utf8") == notebook()
    assert not (pages.folder / "sitemap.xml").exists()
    assert "/index.html" in pages.links("404.html")
    assert "The repository is not known: git has no remote called origin." in pages.said
    assert "set BOOK_REPOSITORY" in pages.said and "set BOOK_URL" in pages.said
    assert "WARNING" not in pages.said


def test_an_unpacked_download_builds_without_a_date(plain, build):
    pages = build(plain)
    assert pages.changed("index.html") == pages.changed("chapters/01-one.html") == []
    assert "01-one.ipynb" in pages.links("chapters/01-one.html")
    assert "The repository is not known: git reads no repository here." in pages.said
    assert "WARNING" not in pages.said


def test_a_machine_without_git_builds(plain, build, tmp_path):
    pages = build(plain, PATH=str(tmp_path), BOOK_REPOSITORY="https://github.com/reader/book")
    assert pages.changed("index.html") == []
    assert pages.links("index.html", "https://") == ["https://github.com/reader/book/edit/HEAD/index.md"]
    assert "WARNING" not in pages.said


def test_each_page_has_the_date_of_its_own_last_commit(clone, git, build, monkeypatch):
    book = clone(None, files=FILES)
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-03-01T12:00:00+0000")
    (book / "index.md").write_text(PAGE + "\nMore.\n", "utf8")
    git(book, "commit", "--quiet", "--all", "--message=more")
    (book / "chapters" / "01-one.ipynb").write_text(notebook() + "\n", "utf8")  # not committed
    (book / "new.md").write_text(PAGE, "utf8")  # not known to git
    (book / "_toc.yml").write_text(FILES["_toc.yml"] + "- file: new\n", "utf8")
    pages = build(book, TZ="Pacific/Kiritimati")
    assert pages.changed("index.html") == ["Last updated on 1 March 2026."]
    assert pages.changed("chapters/01-one.html") == ["Last updated on 31 January 2026."]
    assert pages.changed("new.html") == []
    assert "WARNING" not in pages.said


def test_a_clone_with_a_part_of_the_history_has_no_wrong_date(clone, git, build, tmp_path):
    book = clone(None, files=FILES)
    (book / "index.md").write_text(PAGE + "\nMore.\n", "utf8")
    git(book, "commit", "--quiet", "--all", "--message=more")
    git(tmp_path, "clone", "--quiet", "--depth=1", book.as_uri(), "shallow")
    pages = build(tmp_path / "shallow")
    assert pages.changed("chapters/01-one.html") == pages.changed("index.html") == []
    assert "The repository is not known: the git remote origin is no public address." in pages.said
    assert "WARNING" not in pages.said


def test_a_merge_does_not_lose_the_date(clone, git, build, monkeypatch):
    book = clone(None, files=FILES)
    git(book, "checkout", "--quiet", "-b", "side")
    (book / "index.md").write_text(PAGE + "\nMore.\n", "utf8")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-02-01T12:00:00+0000")
    git(book, "commit", "--quiet", "--all", "--message=side")
    git(book, "checkout", "--quiet", "main")
    (book / "other.txt").write_text("other", "utf8")
    git(book, "add", ".")
    git(book, "commit", "--quiet", "--message=other")
    git(book, "merge", "--quiet", "--no-edit", "side")
    assert build(book).changed("index.html") == ["Last updated on 1 February 2026."]


def test_gitlab_has_binder_and_editing_but_no_colab(clone, build):
    pages = build(clone("git@gitlab.com:group/team/book.git", files=FILES), BOOK_BRANCH="main")
    assert pages.links("chapters/01-one.html", "https://") == [
        "https://mybinder.org/v2/gl/group%2Fteam%2Fbook/main?urlpath=lab%2Ftree%2Fchapters%2F01-one.ipynb",
        "https://gitlab.com/group/team/book/-/edit/main/chapters/01-one.ipynb",
    ]
    assert "no Colab button" in pages.said
    assert pages.canonical("index.html") == []


def test_on_an_unknown_host_nothing_is_guessed(clone, build):
    pages = build(clone("https://git.example.org/a/b.git", files=FILES))
    assert pages.links("index.html", "http") == []
    assert [link.split("?")[0] for link in pages.links("chapters/01-one.html", "http")] == [
        "https://mybinder.org/v2/git/https%3A%2F%2Fgit.example.org%2Fa%2Fb/HEAD"
    ]
    assert "no Colab button" in pages.said and "no edit button" in pages.said


def test_the_environment_names_the_repository_and_the_address(plain, build):
    given = {
        "BOOK_REPOSITORY": "https://github.com/reader/book",
        "BOOK_BRANCH": "2026-edition",
        "BOOK_URL": "https://book.example.org",
    }
    pages = build(plain, **given)
    assert pages.canonical("index.html") == ["https://book.example.org/index.html"]
    assert "/index.html" in pages.links("404.html")
    assert pages.links("index.html", "https://") == ["https://github.com/reader/book/edit/2026-edition/index.md"]


def test_a_second_build_follows_a_new_remote(clone, git, build):
    book, address = clone("https://github.com/reader/book", files=FILES), "https://book.example.org/"
    build(book, BOOK_URL=address)
    git(book, "remote", "set-url", "origin", "https://github.com/other/copy")
    (book / "index.md").touch()  # a second build reads what changed, and the sitemap lists the rest too
    pages = build(book, BOOK_URL=address)
    assert (pages.folder / "sitemap.xml").read_text("utf8").count(f"<loc>{address}") == 2
    assert "github.com/other/copy" in pages.text() and "reader/book" not in pages.text()


def test_a_variable_that_cannot_be_read_stops_the_build_with_a_hint(plain, build):
    pages = build(plain, status=1, BOOK_REPOSITORY="reader/book")
    assert "BOOK_REPOSITORY is no public address such as https://github.com/OWNER/NAME" in pages.said
