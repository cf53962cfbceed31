"""What is published: its pages are described, its links lead somewhere, and nothing else is in it."""

import re
import threading
from contextlib import contextmanager
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from zipfile import ZipFile

import links
import publish
import pytest
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parent.parent.parent
BASE = "https://reader.github.io/attention/"  # as tests/conftest.py builds it


@pytest.fixture(scope="module")
def site(book, tmp_path_factory):
    """Return the folder that make site would publish."""
    folder = tmp_path_factory.mktemp("site") / "site"
    publish.make_site(book, folder)
    return folder


@pytest.fixture(scope="module")
def pages(site):
    paths = site.rglob("*.html")
    return {path.relative_to(site).as_posix(): BeautifulSoup(path.read_text("utf8"), "html.parser") for path in paths}


def content(page, key):
    """Return what a page's meta elements of one name or property say."""
    return [tag["content"] for tag in page.select(f'meta[name="{key}"], meta[property="{key}"]')]


def written(pages):
    """Return the pages that an author wrote."""
    return {name: page for name, page in pages.items() if name not in {"404.html", "search.html"}}


def test_every_page_has_one_title_of_its_own(pages):
    titles = {name: [title.get_text() for title in page.select("head title")] for name, page in pages.items()}
    assert all(len(found) == 1 and found[0].strip() for found in titles.values()), titles
    assert len({found[0] for found in titles.values()}) == len(titles)


def test_every_page_has_one_description_of_its_own_that_a_search_engine_shows_whole(pages):
    found = {name: content(page, "description") for name, page in pages.items()}
    wrong = {name: texts for name, texts in found.items() if len(texts) != 1 or not 50 <= len(texts[0]) <= 160}
    assert wrong == {}
    assert len({texts[0] for texts in found.values()}) == len(found)


def test_every_written_page_has_its_address_and_what_a_shared_link_shows(pages):
    for name, page in written(pages).items():
        assert [link["href"] for link in page.select("link[rel=canonical]")] == [BASE + name]
        assert content(page, "og:url") == [BASE + name]
        assert content(page, "og:description") == content(page, "description")
        assert content(page, "og:title") and content(page, "og:site_name") == ["Attention, One Matrix at a Time"]
        assert not content(page, "robots")


def test_the_sitemap_lists_the_written_pages(site, pages):
    listed = re.findall(r"<loc>(.*?)</loc>", (site / "sitemap.xml").read_text("utf8"))
    assert sorted(listed) == sorted(BASE + name for name in written(pages))


def test_every_chapter_can_be_run_downloaded_and_edited_and_every_page_edited(pages):
    for name, page in written(pages).items():
        linked = [a["href"] for a in page.select("a[href]")]
        source = name.removesuffix(".html") + (".ipynb" if name.startswith("chapters/") else ".md")
        assert f"https://github.com/reader/attention/edit/main/{source}" in linked
        lab = "https://mybinder.org/v2/gh/reader/attention/main?urlpath=lab%2Ftree%2F" + source.replace("/", "%2F")
        colab = f"https://colab.research.google.com/github/reader/attention/blob/colab/{source}"
        ways = [lab, colab, Path(source).name] if name.startswith("chapters/") else []
        assert [link for link in linked if link in {lab, colab, Path(source).name}] == ways


def test_no_placeholder_names_an_owner(site):
    """Also not in what the repository says of itself: a fork is nobody's but its owner's."""
    told = ["README.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE", "_config.yml", "pyproject.toml", "index.md"]
    files = [ROOT / name for name in told] + [path for path in site.rglob("*.html")]
    for path in files:
        text = path.read_text("utf8").replace("github.com/reader/attention", "")
        assert not re.search(r"github\.com/(your|owner|user|name|example|org|<|\{|\.\.\.)", text, re.IGNORECASE), path
        assert not re.search(r"your-?(name|user|org)|example\.(com|org)|TODO|FIXME", text), path


def test_nothing_is_published_that_no_page_leads_to(site):
    names = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    assert names - set(publish.publishable(site)) == {".nojekyll"}
    assert {"index.html", "404.html", "search.html", "sitemap.xml", "searchindex.js", ".nojekyll"} <= names
    assert not [name for name in names if re.search(r"buildinfo|doctree|_sources|\.map$|\.md$|\.py$", name)]


def test_every_link_inside_the_book_leads_to_a_place_that_is_there(site):
    assert links.problems(site) == []


def test_links_that_leave_the_book_are_listed_with_their_pages(site):
    away = links.external(site)
    assert "https://creativecommons.org/licenses/by/4.0/" in away
    assert not [address for address in away if address.startswith(BASE)]


PAGE = '<html><head><link rel="canonical" href="https://a.org/book/{name}"></head><body id="top">{body}</body></html>'


@pytest.mark.parametrize(
    "link, problem",
    {
        '<a href="none.html">': "there is no such file",
        '<a href="b/">': "names a folder",
        '<a href="b">': "there is no such file",
        '<a href="./">': "names a folder",
        '<a href="b/two.html#none">': "there is no such place",
        '<a href="#none">': "there is no such place",
        '<a href="B/two.html">': "there is no such file",
        '<a href="/book/none.html">': "there is no such file",
        '<a href="/other/">': "leaves the book's folder",
        '<a href="https://a.org/book/none.html">': "there is no such file",
        '<img src="none.svg">': "there is no such file",
        '<img src="b/two.html" srcset="b/two.html 1x, none.png 2x">': "there is no such file",
        '<form action="none.html">': "there is no such file",
        '<meta property="og:image" content="https://a.org/book/none.png">': "there is no such file",
        '<svg><use xlink:href="none.svg#a"/></svg>': "there is no such file",
    }.items(),
)
def test_a_link_that_leads_nowhere_is_found(tmp_path, link, problem):
    small_site(tmp_path, link)
    found = links.problems(tmp_path)
    assert len(found) == 1 and found[0].startswith("index.html: ") and problem in found[0], found


@pytest.mark.parametrize(
    "link",
    [
        '<a href="b/two.html#top">', '<a href="#top">', '<a href="b/two.html?q=1">', '<a href="/book/b/two.html">',
        '<a href="https://a.org/book/b/two.html">', '<a href="https://a.org/else">', '<a href="mailto:a@a.org">',
        '<img src="data:image/png;base64,AA">', '<a href="b/%74wo.html">', '<a name="x" href="#x">',
    ],
)  # fmt: skip
def test_a_link_that_leads_somewhere_is_not_refused(tmp_path, link):
    small_site(tmp_path, link)
    assert links.problems(tmp_path) == []


def test_a_style_sheet_and_a_sitemap_that_lead_nowhere_are_found(tmp_path):
    small_site(tmp_path, "")
    (tmp_path / "a.css").write_text('@import "none.css"; p { background: url(none.png) }', "utf8")
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    listed = f'<urlset xmlns="{space}"><url><loc>https://a.org/book/x</loc></url></urlset>'
    (tmp_path / "sitemap.xml").write_text(listed, "utf8")
    assert [line.split(":")[0] for line in links.problems(tmp_path)] == ["a.css", "a.css", "sitemap.xml"]


def small_site(folder, link):
    (folder / "b").mkdir()
    (folder / "index.html").write_text(PAGE.format(name="index.html", body=link), "utf8")
    (folder / "b" / "two.html").write_text(PAGE.format(name="b/two.html", body="two"), "utf8")


def test_a_site_with_a_broken_link_is_not_made(tmp_path):
    small_site(tmp_path, '<a href="none.html">')
    with pytest.raises(SystemExit, match="index.html: none.html: there is no such file"):
        publish.make_site(tmp_path, tmp_path / "dist" / "site")


@contextmanager
def web(answers):
    """Serve on this machine; `answers` maps a path to a status."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(answers[self.path])
            self.send_header("Location", "/ok")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    "path, status, verdict",
    [
        ("/ok", 200, "ok"),
        ("/moved", 301, "ok"),
        ("/gone", 404, "gone"),
        ("/shy", 403, "unclear"),
        ("/busy", 503, "unclear"),
    ],
)
def test_a_link_that_leaves_the_book_is_gone_only_if_its_server_says_so(path, status, verdict):
    with web({path: status, "/ok": 200}) as address:
        assert links.visit(address + path).startswith(verdict)


def test_a_server_that_is_not_there_is_gone():
    with web({}) as address:
        pass
    assert links.visit(address).startswith("gone")


class Loads(HTMLParser):
    """What a page loads by itself, without a click."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "link" and given.get("rel") not in {"canonical", "next", "prev", "search"}:
            self.found.append(given["href"])
        if tag in {"img", "script", "source", "iframe", "video", "audio"} and given.get("src"):
            self.found.append(given["src"])


@pytest.fixture(scope="module")
def offline(site, tmp_path_factory):
    """Return the folder that a reader unpacks."""
    folder = tmp_path_factory.mktemp("offline")
    publish.make_offline(site, folder / "book.zip")
    with ZipFile(folder / "book.zip") as archive:
        archive.extractall(folder)
    return folder / publish.NAME


def test_the_copy_for_a_disk_asks_a_browser_for_nothing_that_it_refuses_there(offline):
    for path in offline.rglob("*.html"):
        text = path.read_text("utf8")
        for address in Loads(text).found:
            assert not re.match(r"/|\w+://", address), f"{path.name}: {address}"
        assert not re.search(r"<script[^>]*type=\"module\"[^>]*src=|modulepreload|fetch\(", text)
        assert not re.search(r"<link[^>]*as=\"?font", text)
    for path in offline.rglob("*.css"):
        assert not [link for link in links.style_links(path.read_text("utf8")) if not link.startswith("data:")], path
    assert "SHOW_SEARCH_SUMMARY: false" in (offline / "_static" / "documentation_options.js").read_text("utf8")


def test_the_copy_for_a_disk_is_whole(site, offline):
    names = {path.relative_to(offline).as_posix() for path in offline.rglob("*") if path.is_file()}
    expected = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    assert names == expected - {"404.html", "sitemap.xml", "objects.inv", ".nojekyll"} | {"README.txt"}
    assert links.problems(offline) == []


def test_the_copy_for_a_disk_is_the_same_to_the_byte_when_the_book_is(site, tmp_path):
    publish.make_offline(site, tmp_path / "one.zip")
    for path in site.rglob("*.html"):
        path.touch()
    publish.make_offline(site, tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
