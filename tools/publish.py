"""Make exactly what is published, ``make site``, or a copy to read from a disk, ``make offline``."""

import argparse
import base64
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import book
import links

from attention_lib.explorables._web import bundle, source

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
NAME = "attention-one-matrix-at-a-time"
ALWAYS = ["404.html", "sitemap.xml", "objects.inv"]  # published though no page leads to them
FONT = re.compile(r"""url\(\s*["']?([^"')]+\.woff2)[^"')]*["']?\s*\)""")
PRELOAD = re.compile(r'<link rel="modulepreload" href="[^"]*/([\w-]+)\.js">\n?')
HOST = re.compile(r'<script type="module" src="[^"]*/host\.js"></script>')
READ_ME = "Open index.html in a browser. Nothing in this folder needs a network.\n"


def publishable(folder):
    """Return, relative to `folder`, the files that its pages lead to; builders leave much else behind."""
    folder = Path(folder)
    licences = [path.relative_to(folder).as_posix() for path in folder.rglob("*LICENSE*")]
    found, todo = set(), [name for name in ["index.html", *ALWAYS, *licences] if (folder / name).is_file()]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        for link in leads_to(folder / name):
            target = urlsplit(urljoin(f"https://book.invalid/{name}", link))
            inside = unquote(target.path).lstrip("/") if target.netloc == "book.invalid" else ""
            if inside and (folder / inside).is_file():
                todo.append(inside)
    return sorted(found)


def leads_to(path):
    """Return what a file loads or links to."""
    if path.suffix == ".html":
        text = path.read_text("utf8")
        return links.Page(text).links | links.style_links(text)
    if path.suffix == ".css":
        return links.style_links(path.read_text("utf8"))
    if path.suffix == ".js":  # what it imports, or names beside itself
        return set(re.findall(r"""["'](\.{1,2}/[\w./-]+)["']""", path.read_text("utf8")))
    return set()


def make_site(built, site):
    """Copy what is published from a built book; stop if a link in it leads nowhere."""
    shutil.rmtree(site, ignore_errors=True)
    for name in publishable(built):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(built / name, site / name)
    (site / ".nojekyll").touch()  # a host that runs Jekyll would drop every folder with an underscore
    found = links.problems(site)
    if found:
        sys.exit("\n".join(["", *found, f"{len(found)} links lead nowhere (page: link: why)."]))


def make_offline(site, archive):
    """Write a zip of the site that reads as well from a disk as from a server."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with ZipFile(archive, "w", ZIP_DEFLATED, compresslevel=9) as out:
        for path in sorted(path for path in site.rglob("*") if path.is_file()):
            name = path.relative_to(site).as_posix()
            if name not in ALWAYS and name != ".nojekyll":
                add(out, name, for_a_disk(path))
        add(out, "README.txt", READ_ME.encode())


def add(out, name, data):
    info = ZipInfo(f"{NAME}/{name}")  # with a fixed date, so that the same book is the same file
    info.compress_type, info.external_attr = ZIP_DEFLATED, 0o644 << 16
    out.writestr(info, data)


def for_a_disk(path):
    """Return a file's bytes, less what a browser refuses to a page that it opened from a disk."""
    if path.suffix == ".css":  # some browsers load no font file there
        return FONT.sub(lambda match: inline(path, match), path.read_text("utf8")).encode()
    if path.suffix == ".html":  # nor one that is asked for ahead, nor modules
        text = re.sub(r"<link\b[^>]*\bas=\"?font\b[^>]*>\n?", "", path.read_text("utf8"))
        return with_modules(text).encode()
    if path.name == "documentation_options.js":  # nor let the search read the pages it found; it lists them
        return path.read_text("utf8").replace("SHOW_SEARCH_SUMMARY: true", "SHOW_SEARCH_SUMMARY: false").encode()
    return path.read_bytes()


def with_modules(page):
    """Return a page with its explorables' scripts inside it, each module under the name that the host asks for."""
    names = [name for name in PRELOAD.findall(page) if name not in ("core", "host")]
    imports = {f"./{name}.js": f"data:text/javascript;base64,{in_base64(bundle(name).encode())}" for name in names}
    scripts = f"""<script type="importmap">{json.dumps({"imports": imports})}</script>
<script type="module">
{source("host.js")}</script>"""
    return HOST.sub(lambda _: scripts, PRELOAD.sub("", page))


def in_base64(data):
    return base64.b64encode(data).decode()


def inline(path, match):
    font = path.parent / unquote(match[1])
    if not font.is_file():
        return match[0]
    return f"url(data:font/woff2;base64,{in_base64(font.read_bytes())})"


def size(paths):
    return f"{sum(path.stat().st_size for path in paths) / 1e6:.1f} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--offline", action="store_true", help="then make the zip for reading from a disk")
    arguments = parser.parse_args()
    site, archive = DIST / "site", DIST / f"{NAME}.zip"
    with tempfile.TemporaryDirectory() as folder:
        if book.build(Path(folder), fresh=True):
            sys.exit("\nThe build stopped or warned; the lines with WARNING or ERROR above say where.")
        make_site(Path(folder) / "_build" / "html", site)
    files = [path for path in site.rglob("*") if path.is_file()]
    pages = sum(path.suffix == ".html" for path in files)
    _, base = links.read(site)
    print(f"\nThe site is made: {pages} pages, {len(files)} files, {size(files)}; all links inside lead somewhere.")
    print(f"  {site}\n  to be served at {base or 'any address (set BOOK_URL to have one on the pages)'}")
    if arguments.offline:
        make_offline(site, archive)
        print(f"The copy for a disk is made, {size([archive])}: unpack it and open index.html.\n  {archive}")


if __name__ == "__main__":
    main()
