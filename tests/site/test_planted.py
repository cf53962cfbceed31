"""Faults planted in a page: the checks of this folder must find each, or they prove nothing."""

import shutil
from contextlib import ExitStack

import pytest
from book_fonts import KATEX
from browsing import (
    PHONE,
    barriers,
    fonts_of,
    not_in_fonts,
    open_with_late_fonts,
    settle,
    shifts,
    tab,
    walk_by_keyboard,
    wider_than_the_screen,
)
from web_server import serving


PAGE = "back/notation.html"  # short, with formulas and links


@pytest.fixture
def planted(browser, site, tmp_path):
    """Return a function that opens a page with something written into it."""
    with ExitStack() as opened:

        def plant(markup, before="</article>", **how):
            folder = tmp_path / "site"
            shutil.copytree(site.folder, folder)
            text = (folder / PAGE).read_text("utf8")
            assert before in text
            (folder / PAGE).write_text(text.replace(before, markup + before, 1), "utf8")
            page = opened.enter_context(tab(browser, opened.enter_context(serving(folder)), **how))
            page.goto(PAGE)
            settle(page)
            return page

        yield plant


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


def test_fonts_of_formulas_that_come_late(browser, site, tmp_path):
    """KaTeX's own style sheet, with its fonts in files of their own, moves the lines of a phone."""
    folder = tmp_path / "site"
    shutil.copytree(site.folder, folder)
    shutil.copyfile(KATEX / "katex.min.css", folder / "_static" / "katex.css")
    shutil.copytree(KATEX / "fonts", folder / "_static" / "fonts", dirs_exist_ok=True)
    with serving(folder) as address, tab(browser, address, {"width": PHONE["width"], "height": 30_000}) as page:
        open_with_late_fonts(page, site.chapters[1])
        assert shifts(page)["lines"]


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
