"""Fonts cut down to the characters that the book uses, once all pages are written.

Whole, they would weigh 15 MB; cut, about 100 kB, of which a page loads what it needs. The text fonts and the figures'
font come from pinned packages. No package carries KaTeX's fonts, so they stand in third_party/katex.
"""

import base64
import html
import importlib.metadata
import importlib.resources
import io
import re
from pathlib import Path

import matplotlib
from chinese import HAN
from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer
from katex_fonts import characters_by_font

KATEX = Path(__file__).parent.parent / "third_party" / "katex"
SERIF = importlib.resources.files("fontpkg_source_serif_4") / "files"
CHINESE = importlib.resources.files("pylopdf_fonts_zh_cn") / "NotoSerifSC-Regular.otf"
SANS = importlib.resources.files("fontpkg_source_sans_3") / "files"
DEJAVU = Path(matplotlib.get_data_path(), "fonts", "ttf")

# name of the cut font -> where the whole one is, and what stays of its axes: weight, optical size
TEXT = {
    "serif": (SERIF / "SourceSerif4[opsz,wght].ttf", {"opsz": 14, "wght": (400, 700)}),
    "serif-italic": (SERIF / "SourceSerif4-Italic[opsz,wght].ttf", {"opsz": 14, "wght": 400}),
    "sans": (SANS / "SourceSans3[wght].ttf", {"wght": (400, 700)}),
}
FIGURE = {"figure": DEJAVU / "DejaVuSans.ttf", "figure-oblique": DEJAVU / "DejaVuSans-Oblique.ttf"}


def licenses():
    """Return the licences of all fonts, which stay with them wherever they go."""
    packages = ["fontpkg-source-serif-4", "fontpkg-source-sans-3", "pylopdf-fonts-zh-cn"]
    texts = {name: importlib.metadata.distribution(name).read_text("licenses/LICENSE") for name in packages}
    texts["DejaVu Sans"] = (DEJAVU / "LICENSE_DEJAVU").read_text("utf8")
    texts["KaTeX"] = (KATEX / "LICENSE").read_text("utf8")
    return "\n\n".join(f"=== {name} ===\n\n{text}" for name, text in texts.items())


def cut(path, characters, axes=None):
    """Return a font as WOFF2 with these characters alone; none of them there: b""."""
    # The licence reserves the fonts' names, so a changed font must not carry them: no name stays inside.
    options = subset.Options(
        flavor="woff2",
        hinting=False,
        notdef_outline=True,
        name_IDs=[],
        layout_features=["kern", "mark", "mkmk", "ccmp"],
        drop_tables=["FFTM", "STAT", "MVAR"],
    )
    font = subset.load_font(str(path), options)
    known = {ord(character) for character in characters} & set(font.getBestCmap())
    if not known:
        return b""
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=known)
    subsetter.subset(font)
    if axes:
        instancer.instantiateVariableFont(font, axes, inplace=True)
    file = io.BytesIO()
    subset.save_font(font, file, options)
    return file.getvalue()


def covered(path):
    return set(map(chr, TTFont(str(path)).getBestCmap()))


def text_of(markup):
    return html.unescape(re.sub(r"<[^>]*>", " ", markup))


def math_style(pages):
    """Return KaTeX's style sheet with the fonts inside it, each cut to the formulas of these pages.

    A font that comes late moves the lines around a formula; one that comes inside the style sheet is never late.
    """
    css = (KATEX / "katex.min.css").read_text("utf8")
    wanted = characters_by_font(css, pages)

    def embed(face):
        family = re.search(r'font-family:"?(KaTeX_\w+)', face[0])[1]
        key = family, "font-weight:700" in face[0], "font-style:italic" in face[0]
        file = re.search(r"url\(([^)]+\.woff2)\)", face[0])[1]
        font = cut(KATEX / file, wanted.get(key, ""))
        data = base64.b64encode(font).decode()
        return re.sub(r"src:[^}]*", f"src:url(data:font/woff2;base64,{data})", face[0]) if font else ""

    return re.sub(r"@font-face\{[^}]*\}", embed, css)


def write_fonts(app, error):
    if error or app.builder.format != "html":
        return
    files = sorted(Path(app.outdir).rglob("*.html"))
    pages = [file.read_text("utf8") for file in files]
    elsewhere = "".join(text_of(page) for file, page in zip(files, pages, strict=True) if file.stem != "glossary")
    static = Path(app.outdir, "_static")
    fonts = static / "fonts"
    fonts.mkdir(exist_ok=True)
    scripts = [file.read_text("utf8") for file in Path(app.outdir, "_static").glob("explorables-*/*.js")]
    everything = set("".join(text_of(page) for page in pages) + "".join(scripts))
    chinese = {character for character in everything if re.match(HAN, character)}
    glossary = chinese - set(elsewhere)
    plots = set(text_of("".join(plot for page in pages for plot in re.findall(r'<svg class="plot".*?</svg>', page))))
    made = {name: cut(path, everything - chinese, axes) for name, (path, axes) in TEXT.items()}
    made["symbols"] = cut(DEJAVU / "DejaVuSerif.ttf", everything - chinese - covered(TEXT["serif"][0]))
    made["chinese"], made["glossary"] = cut(CHINESE, chinese - glossary), cut(CHINESE, glossary)
    made |= {name: cut(path, plots) for name, path in FIGURE.items()}
    for name, font in made.items():
        (fonts / f"{name}.woff2").write_bytes(font)
    (static / "katex.css").write_text(math_style(pages), "utf8")
    (fonts / "LICENSES.txt").write_text(licenses(), "utf8")


def setup(app):
    app.connect("build-finished", write_fonts, priority=900)  # once the explorables' scripts are there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
