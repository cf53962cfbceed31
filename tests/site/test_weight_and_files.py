"""What the pages are made of: their weight, their files and fonts, third-party files, and markup that audits pass over."""

import gzip
import hashlib
import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urljoin

import pytest
from attention_lib import plotting
from book_fonts import KATEX
from book_theme import COLORED
from bs4 import BeautifulSoup
from chinese import HAN
from fontTools.ttLib import TTFont
from static_math import engine

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE, FIGURE = 150_000, 40_000  # bytes as sent
PLOT = re.compile(r'<svg class="plot".*?</svg>', re.S)


def sent(data):
    return len(gzip.compress(data if isinstance(data, bytes) else data.encode(), 6))


def loaded(site, name):
    """Return the files that a first visit of a page loads: links and scripts of its head, images, its fonts."""
    html = site.html(name)
    page = BeautifulSoup(html, "html.parser")
    found = {link["href"] for link in page.select("link[rel=stylesheet], link[rel=preload], link[rel=modulepreload], link[rel=icon]")}
    found |= {tag["src"] for tag in page.select("script[src], img[src]")}
    files = {urljoin(name, each.partition("?")[0]) for each in found}
    if re.search(HAN, PLOT.sub("", html)):
        files.add("_static/fonts/chinese.woff2")
    if name == "back/glossary.html":
        files.add("_static/fonts/glossary.woff2")
    return files


def weight(site, name):
    """Return the bytes of a first visit, without the figures and their fonts."""
    files = [site.folder / unquote(file) for file in loaded(site, name)]
    packed = [path.stat().st_size if path.suffix == ".woff2" else sent(path.read_bytes()) for path in files]
    return sent(PLOT.sub("", site.html(name))) + sum(packed)


def test_a_first_visit_weighs_at_most_150_kB_before_its_figures(site, record_property):
    weights = {name: weight(site, name) for name in site.pages}
    record_property("found", (f"kB at most, a page's first visit without figures", max(weights.values()) // 1000))
    assert {name: n for name, n in weights.items() if not 20_000 < n <= PAGE} == {}


def test_a_figure_weighs_at_most_40_kB(site):
    figures = {(name, i): sent(plot) for name in site.pages for i, plot in enumerate(PLOT.findall(site.html(name)), start=1)}
    assert len(figures) > 10
    assert {where: n for where, n in figures.items() if n > FIGURE} == {}


def test_the_text_of_every_figure_is_in_the_font_that_the_pages_have(site):
    """Matplotlib takes others for tall brackets and bold text; they would look different on every machine."""
    others = {(name, each) for name in site.pages for plot in PLOT.findall(site.html(name)) for each in re.findall(r"font-(?:family|weight)[^;\"]*", plot)}
    assert others == set()


def test_lines_keep_their_colour_on_light_paper_and_stand_out_from_dark():
    css = (ROOT / "_theme" / "static" / "book.css").read_text("utf8")
    pairs = re.findall(r"--plot-\d: light-dark\((#\w+), (#\w+)\)", css)
    assert [light for light, _ in pairs] == list(plotting.COLORS)
    light, dark = re.search(r"--sheet: light-dark\((#\w+), (#\w+)\)", css).groups()
    for on_light, on_dark in pairs:
        assert contrast(on_light, light) >= 3 and contrast(on_dark, dark) >= 4.5


def test_a_browser_without_light_dark_gets_the_light_colours():
    css = (ROOT / "_theme" / "static" / "book.css").read_text("utf8")
    both = dict(re.findall(r"--([\w-]+): light-dark\((#\w+),", css))
    plain = dict(re.findall(r"--([\w-]+): (#\w+);", css.partition("@supports not")[2].partition("}")[0]))
    assert plain.items() <= both.items() and {"sheet", "ink", "accent", "plot-1", "plot-5"} <= plain.keys()


def contrast(one, other):
    """Return the contrast of two colours as WCAG defines it."""

    def luminance(color):
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    brighter, darker = sorted([luminance(one), luminance(other)], reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_pages_load_nothing_but_files_of_the_book(site):
    for name in [*site.pages, *site.made]:
        for file in loaded(site, name) if name != "404.html" else ():
            assert (site.folder / unquote(file)).is_file(), (name, file)
    styles = "".join(path.read_text("utf8") for path in (site.folder / "_static").glob("*.css"))
    assert re.findall(r"(?:@import|url\(\s*['\"]?(?:https?:)?//)[^;)]*", styles) == []


@pytest.mark.parametrize("what", ["sphinx_book_theme", "fontawesome", "MathJax", "require.js", "thebe", "togglebutton"])
def test_what_the_usual_theme_sends_is_not_there(site, what):
    assert not [name for name in site.pages if re.search(what, BeautifulSoup(site.html(name), "html.parser").head.decode(), re.I)]


def faults_of(html):
    """Return what is wrong with a page's markup."""
    page = BeautifulSoup(html, "html.parser")
    found = []
    if page.html.get("lang") != "en":
        found.append("no language")
    if len(page.select("h1")) != 1:
        found.append(f"{len(page.select('h1'))} h1")
    levels = [int(heading.name[1]) for heading in page.select("main :is(h1, h2, h3, h4, h5, h6)")]
    found += [f"h{b} after h{a}" for a, b in zip(levels, levels[1:]) if b > a + 1]
    ids = Counter(tag["id"] for tag in page.select("[id]"))
    found += [f"id {name} x{n}" for name, n in ids.items() if n > 1]
    for image in page.select("img, svg.plot"):
        text = image.get("alt") if image.name == "img" else image.get("aria-label")
        if text is None or re.search(r"\.(svg|png)$|^\s*$", text) and image.parent.name != "a":
            found.append(f"an image without a description: {str(image)[:60]}")
        if not image.get("width") or not image.get("height"):
            found.append(f"an image without a size: {str(image)[:60]}")
    for tag, name in (("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src")):
        for element in page.find_all(tag):
            if re.match(r"(https?:)?//", element.get(name) or "") and element.get("rel") != ["canonical"]:
                found.append(f"from another host: {element[name]}")
    for figure in page.select("figure"):
        if not figure.figcaption or not re.match(r"\s*Figure \d+\.\d+\s+\w", figure.figcaption.get_text()):
            found.append("a figure without a numbered caption")
    for style in page.select("[style]"):
        # an explorable says in its own how much room to keep for it
        if not style.find_parent("svg") and not style.find_parent(class_="katex") and style.get("class") != ["explorable"]:
            found.append(f"a style in the page: {str(style)[:60]}")
    return found


def test_the_markup_of_every_page(site):
    assert {name: faults for name in [*site.pages, *site.made] if (faults := faults_of(site.html(name)))} == {}


GOOD = '<html lang="en"><body><main><h1>A</h1><h2 id="b">B</h2></main></body></html>'


@pytest.mark.parametrize(
    "fault, planted",
    [
        ("no language", GOOD.replace(' lang="en"', "")),
        ("2 h1", GOOD.replace("<h2", "<h1>C</h1><h2")),
        ("h3 after h1", GOOD.replace("h2", "h3")),
        ("id b x2", GOOD.replace("</main>", '<p id="b"></p></main>')),
        ("an image without a description", GOOD.replace("</main>", '<img src="a.png" width="1" height="1"></main>')),
        ("an image without a description", GOOD.replace("</main>", '<img alt="../_images/a.svg" width="1" height="1"></main>')),
        ("an image without a description", GOOD.replace("</main>", '<svg class="plot" width="1" height="1"></svg></main>')),
        ("an image without a size", GOOD.replace("</main>", '<img alt="A cat"></main>')),
        ("from another host", GOOD.replace("<body>", '<script src="https://cdn.example.org/a.js"></script><body>')),
        ("from another host", GOOD.replace("<body>", '<link rel="stylesheet" href="//fonts.example.org/a.css"><body>')),
        ("a figure without a numbered caption", GOOD.replace("</main>", "<figure></figure></main>")),
    ],
)
def test_a_planted_fault_is_found(fault, planted):
    assert faults_of(GOOD) == []
    assert [found for found in faults_of(planted) if found.startswith(fault)]


def test_titles_are_different_and_name_the_book(site):
    titles = [BeautifulSoup(site.html(name), "html.parser").title.get_text() for name in [*site.pages, *site.made]]
    assert len(set(titles)) == len(titles)
    assert all(title.endswith("Attention, One Matrix at a Time") and "<" not in title for title in titles)


def test_the_colours_of_code_are_those_of_the_style_sheet():
    css = (ROOT / "_theme" / "static" / "book.css").read_text("utf8")
    part = css.partition("/* Code: ")[2].partition("/* ---")[0]
    assert set(re.findall(r"\.(\w+)(?=[, ]|$)", part.partition("*/")[2])) == COLORED


def listed_wrongly(folder):
    """Return what differs between the files of a folder and its CHECKSUMS."""
    lines = (folder / "CHECKSUMS").read_text("utf8").splitlines()
    stated = {name: digest for digest, name in (line.split("  ") for line in lines)}
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    there = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in there.items() if name != "CHECKSUMS"}
    return sorted(name for name in stated.keys() | there.keys() if stated.get(name) != there.get(name))


def test_third_party_files_are_unchanged(tmp_path):
    assert listed_wrongly(KATEX) == []
    (tmp_path / "a.css").write_text("a", "utf8")
    (tmp_path / "b.css").write_text("b", "utf8")
    (tmp_path / "CHECKSUMS").write_text(f"{hashlib.sha256(b'other').hexdigest()}  a.css\n", "utf8")
    assert listed_wrongly(tmp_path) == ["a.css", "b.css"]  # one changed, one not listed


def test_katex_is_of_one_version_and_the_licence_stays_with_the_fonts(site):
    style = re.search(r'content:"([\d.]+)"', (KATEX / "katex.min.css").read_text("utf8"))[1]
    assert style == engine().eval("katex.version") == "0.16.22"
    assert style in (ROOT / "third_party" / "README.md").read_text("utf8")
    licences = (site.folder / "_static" / "fonts" / "LICENSES.txt").read_text("utf8")
    assert licences.count("SIL OPEN FONT LICENSE") >= 3 and "Khan Academy" in licences and "Bitstream" in licences


def test_a_cut_font_does_not_carry_the_reserved_name(site):
    fonts = list((site.folder / "_static" / "fonts").glob("*.woff2"))
    assert len(fonts) == 8
    for path in fonts:
        font = TTFont(path)
        assert font.getBestCmap()
        assert not [name for name in font["name"].names if re.search("Source|Noto|DejaVu", name.toUnicode())]
