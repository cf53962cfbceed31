"""Check the links of built pages: ``python tools/links.py dist/site``, and with --external the web's, too.

Inside the book every link has to lead to a file that is there, and to a place on its page that is there.
Links that leave the book are only listed, unless --external asks to visit them: that needs a network.
"""

import argparse
import re
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import Request, urlopen
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
ADDRESSES = {"href", "src", "poster", "action", "data", "xlink:href"}
GONE = {404, 410}  # the page is not there; by other answers a server may only be shy of programs
SECONDS = 20


class Page(HTMLParser):
    """What a page links to, and the places on it that can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places, self.base = set(), set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = {name: value or "" for name, value in attributes}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        self.links |= {given[name] for name in ADDRESSES & given.keys()}
        if "srcset" in given:
            self.links |= {part.split()[0] for part in given["srcset"].split(",") if part.strip()}
        if tag == "link" and given.get("rel") == "canonical":
            self.base = given["href"]
        if tag == "meta" and given.get("property") in {"og:url", "og:image"}:
            self.links.add(given["content"])


def read(folder):
    """Return the pages in a folder, and the address they say they have: a page, and the base of all."""
    folder = Path(folder)
    paths = [path for path in sorted(folder.rglob("*.html")) if not path.is_relative_to(folder / "_static")]
    pages = {path: Page(path.read_text("utf8")) for path in paths}  # the theme leaves templates in _static
    home = pages.get(folder / "index.html")
    return pages, home.base.removesuffix("index.html") if home else ""


def problems(folder):
    """Return one line for each link inside the book that leads nowhere."""
    folder = Path(folder)
    pages, base = read(folder)
    found = []
    for path, page in pages.items():
        here = path.relative_to(folder).as_posix()
        for link in sorted(page.links):
            for problem in check(folder, pages, base, here, link):
                found.append(f"{here}: {link}: {problem}")
    for path in sorted(folder.rglob("*.css")):
        here = path.relative_to(folder).as_posix()
        for link in style_links(path.read_text("utf8")):
            found += [f"{here}: {link}: {problem}" for problem in check(folder, pages, base, here, link)]
    if (folder / "sitemap.xml").is_file():
        for loc in ElementTree.parse(folder / "sitemap.xml").iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc"):
            found += [f"sitemap.xml: {loc.text}: {p}" for p in check(folder, pages, base, "sitemap.xml", loc.text)]
    return found


def style_links(text):
    """Return what a style sheet, or a page's own styles, load."""
    return set(re.findall(r"url\(\s*[\"']?([^\"')\s]+)", text)) | set(re.findall(r"@import\s+[\"']([^\"']+)", text))


def check(folder, pages, base, here, link):
    """Yield what is wrong with a link, if it stays inside the book."""
    root = base or "https://book.invalid/"
    target = urlsplit(urljoin(root + here, link.strip()))
    if target.scheme not in {"http", "https"} or not target._replace(fragment="", query="").geturl().startswith(root):
        if link.startswith("/") and not link.startswith("//"):
            yield "leaves the book's folder on its server"
        return
    name = unquote(target.path.removeprefix(urlsplit(root).path))
    if not name or name.endswith("/"):
        yield "names a folder, which a copy on a disk does not open; name its index.html"
        return
    file = folder / name
    if not file.is_file():
        yield "there is no such file"
    elif target.fragment and file in pages and unquote(target.fragment) not in pages[file].places:
        yield "there is no such place on that page"


def external(folder):
    """Return the addresses outside the book that its pages link to, each with the pages that do."""
    pages, base = read(folder)
    found = defaultdict(set)
    for path, page in pages.items():
        for link in page.links:
            if link.startswith(("http://", "https://")) and not (base and link.startswith(base)):
                found[link.split("#")[0]].add(path.relative_to(folder).as_posix())
    return dict(sorted(found.items()))


def visit(address):
    """Return "ok", or what the server said; what starts with "gone" is for someone to mend."""
    request = Request(address, headers={"User-Agent": "Mozilla/5.0 (link check of a book)", "Accept": "*/*"})
    try:
        with urlopen(request, timeout=SECONDS) as answer:
            answer.read(1)
        return "ok"
    except HTTPError as error:
        return f"{'gone' if error.code in GONE else 'unclear'}: {error.code} {error.reason}"
    except URLError as error:
        slow = isinstance(error.reason, TimeoutError)
        return f"{'unclear' if slow else 'gone'}: {error.reason}"
    except (TimeoutError, HTTPException, OSError) as error:
        return f"unclear: {error or type(error).__name__}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the built pages are")
    parser.add_argument("--external", action="store_true", help="visit the links that leave the book")
    arguments = parser.parse_args()
    found, away = problems(arguments.folder), external(arguments.folder)
    for line in found:
        print(line)
    answers = {}
    if arguments.external:
        with ThreadPoolExecutor(8) as pool:
            for address, answer in zip(away, pool.map(visit, away), strict=True):
                answers[address] = answer
                print(f"{answer:30} {address}", flush=True)
    gone = [address for address, answer in answers.items() if answer.startswith("gone")]
    for address in gone:
        print(f"GONE {address}\n     {answers[address]}; on {', '.join(sorted(away[address]))}")
    print(f"{len(found)} broken links inside the book, {len(away)} addresses outside it, {len(gone)} of them gone.")
    sys.exit(bool(found or gone))


if __name__ == "__main__":
    main()
