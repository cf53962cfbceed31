"""Faults planted in a page: the checks of this folder must find each, or they prove nothing."""

import shutil
import time

import pytest
from book_fonts import KATEX
from browsing import PHONE, barriers, fonts_of, not_in_fonts, settle, shifts, tab, walk_by_keyboard, wider_than_the_screen
from web_server import serving


@pytest.fixture
def planted(browser, site, tmp_path):
    """Return a function that opens a chapter with something written into it, or with other files around it."""
    opened = []

    def plant(markup="", before="</article>", change=lambda folder: None, **how):
        folder = tmp_path / "site"
        shutil.copytree(site.folder, folder)
        chapter = folder / site.chapters[1]
        chapter.write_text(chapter.read_text("utf8").replace(before, markup + before, 1), "utf8")
        change(folder)
        server = serving(folder, delay=lambda path: path.endswith(".woff2") and time.sleep(0.6))
        window = tab(browser, server.__enter__(), **how)
        page = window.__enter__()
        opened.extend([server, window])
        page.goto(site.chapters[1])
        settle(page)
        return page

    yield plant
    for each in reversed(opened):
        each.__exit__(None, None, None)


@pytest.mark.parametrize(
    "markup",
    [
        '<script src="https://cdn.example.org/a.js"></script>',
        '<link rel="stylesheet" href="//fonts.example.org/a.css">',
        "<script>fetch('https://example.org/count').catch(() => {})</script>",
    ],
)
def test_a_request_to_another_host(planted, markup):
    assert any("asked another host" in fault for fault in planted(markup, before="</head>").faults)


@pytest.mark.parametrize(
    "markup, fault",
    [
        ("<script>null.x</script>", "script: Cannot read"),
        ('<script src="none.js"></script>', "404 for"),
        ("<script>console.error('oh')</script>", "console: oh"),
    ],
)
def test_a_complaint_in_the_console(planted, markup, fault):
    assert any(each.startswith(fault) for each in planted(markup).faults)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "markup, rule",
    [
        ('<img src="../_static/favicon.svg">', "image-alt"),
        ('<p style="color: #999; background: #aaa">Hard to read.</p>', "color-contrast"),
        ('<p style="width: 80px; overflow: auto; white-space: nowrap">It goes on and on and on and on and on</p>', "scrollable-region"),
        ("<h6>Too deep</h6>", "heading-order"),
        ("<button></button>", "button-name"),
    ],
)
def test_a_barrier(planted, markup, rule, theme):
    assert any(fault.startswith(rule) for fault in barriers(planted(markup, theme=theme)))


def test_something_wider_than_a_phone(planted):
    page = planted('<div style="width: 500px">wide</div>', viewport=PHONE)
    assert "scrolls sideways" in wider_than_the_screen(page)


def test_fonts_of_formulas_that_come_late(planted):
    """KaTeX's own style sheet, with its fonts in files of their own, moves the lines of a phone."""

    def change(folder):
        shutil.copyfile(KATEX / "katex.min.css", folder / "_static" / "katex.css")
        shutil.copytree(KATEX / "fonts", folder / "_static" / "fonts", dirs_exist_ok=True)

    assert shifts(planted(change=change, viewport={"width": PHONE["width"], "height": 30_000}))["lines"]


def test_a_character_that_was_cut_away(planted, site):
    fonts = fonts_of(site.folder)
    page = planted("<p>A word in Greek: ꙮ.</p>")
    assert not_in_fonts(page, ".katex-html", fonts) == []
    assert not_in_fonts(page, "body", fonts) == ["Book/false/false: ꙮ"]
    math = ("KaTeX_Math", False, True)
    assert [not_in_fonts(page, ".katex-html", fonts | {math: fonts[math] - {"X"}})] == [["KaTeX_Math/false/true: X"]]


def test_a_focus_that_cannot_be_seen(planted):
    page = planted("<style>main a:focus-visible { outline: none }</style>")
    stops, _ = walk_by_keyboard(page)
    assert [stop for stop in stops if not stop["outlined"]]


def test_a_control_that_the_keyboard_cannot_reach(planted):
    page = planted("<script>addEventListener('keydown', e => e.key === 'Tab' && scrollY > 500 && e.preventDefault())</script>")
    stops, count = walk_by_keyboard(page)
    assert len(stops) != count
