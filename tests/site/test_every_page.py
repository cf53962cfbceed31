"""Every page in a browser, wide and narrow, light and dark: what a reader would stumble over, and no other host."""

import re
from pathlib import Path

import pytest
from browsing import (
    ALL_BUT_COLOURS,
    DESKTOP,
    ONLY_COLOURS,
    PHONE,
    barriers,
    fonts_of,
    not_in_fonts,
    settle,
    tab,
    unfold,
    wider_than_the_screen,
)
from web_server import serving

VIEWS = {
    "desktop": ({"viewport": DESKTOP}, {}),
    "phone": ({"viewport": PHONE}, ALL_BUT_COLOURS),
    "dark phone": ({"viewport": PHONE, "theme": "dark"}, ONLY_COLOURS),
}
ROOT = Path(__file__).resolve().parents[2]
UNDRAWN = """() => [...document.querySelectorAll("article .katex")].filter(formula => {
    const box = formula.querySelector(".katex-html").getBoundingClientRect();
    return !formula.querySelector("math") || box.width < 3 || box.height < 5;
}).map(formula => formula.textContent)"""


@pytest.fixture(scope="module")
def faults(browser, site):
    """Look at every page once in each view; return (page, view, what) for all that is wrong, by kind."""
    found = {kind: [] for kind in ("network and console", "width", "barriers", "maths", "fonts of maths", "fonts")}

    fonts = fonts_of(site.folder)

    def note(kind, name, view, what):
        found[kind] += [(name, view, each) for each in what]

    for view, (how, rules) in VIEWS.items():
        with tab(browser, site.address, **how) as page:
            for name in [*site.pages, "search.html", "search.html?q=softmax"]:
                page.goto(name)
                settle(page)
                note("width", name, view, wider_than_the_screen(page))
                unfold(page)
                note("width", name, view, wider_than_the_screen(page))
                note("barriers", name, view, barriers(page, rules))
                if view == "desktop":
                    note("maths", name, view, page.evaluate(UNDRAWN))
                    note("fonts of maths", name, view, not_in_fonts(page, ".katex-html", fonts))
                    note("fonts", name, view, not_in_fonts(page, "body", fonts))
                note("network and console", name, view, page.faults)
                page.faults.clear()
    return found


def test_no_page_asks_another_host_or_complains(faults, site):
    assert len(site.chapters) >= 4 and len(site.pages) > len(site.chapters)
    assert faults["network and console"] == []


def test_no_page_scrolls_sideways(faults):
    assert faults["width"] == []


def test_axe_finds_no_barrier_with_all_parts_open(faults):
    assert faults["barriers"] == []


FOR_A_WIDTH = re.compile(r"@(?:media|container)[^{]*width[^{]*\{((?:[^{}]|\{[^{}]*\})*)\}")
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
COLOUR = re.compile(r"(?<![\w-])(?:color|background[\w-]*|fill|stroke|opacity|filter|mix-blend-mode|--[\w-]+)\s*:")


@pytest.mark.parametrize("sheet", ["_theme/static/book.css", "attention_lib/explorables/web/explorables.css"])
def test_no_colour_depends_on_the_width(sheet):
    """So that each theme's contrast need be looked at in one width; what a menu lies on is behind no text."""
    blocks = FOR_A_WIDTH.findall((ROOT / sheet).read_text("utf8"))
    rules = [rule for block in blocks for rule in RULE.findall(block) if "::backdrop" not in rule[0]]
    assert len(rules) >= 5
    assert [rule for rule in rules if COLOUR.search(rule[1])] == []


def test_every_formula_is_drawn_and_has_mathml(faults):
    assert faults["maths"] == []


def test_every_character_of_a_formula_is_in_the_cut_fonts(faults):
    """One that was cut away would be drawn with another font, and out of place."""
    assert faults["fonts of maths"] == []


def test_text_looks_the_same_everywhere(faults):
    """The book's own fonts have all its characters, the Chinese ones too; only code is in the reader's font."""
    assert faults["fonts"] == []


def test_the_menus_of_a_phone_have_no_barrier(browser, site):
    for theme in ("light", "dark"):
        with tab(browser, site.address, PHONE, theme) as page:
            page.goto(site.chapters[0])
            for menu in ("Chapters", "On this page"):
                page.get_by_role("button", name=menu).click()
                assert page.get_by_role("navigation", name=menu).is_visible()
                assert barriers(page) == []
                page.keyboard.press("Escape")
                assert not page.get_by_role("navigation", name=menu).is_visible()
            page.get_by_role("link", name="Search").click()
            assert page.locator("dialog[open] input").is_visible()
            assert barriers(page) == []


def test_the_page_for_a_wrong_address_is_whole(browser, site):
    """Its links start at the root of the host, since it is shown for addresses of any depth."""
    prefix = re.search(r'href="([^"]*)_static/book.css', site.html("404.html"))[1]
    with serving(site.folder, prefix) as address, tab(browser, address) as page:
        page.goto("no/such/page.html")
        settle(page)
        assert page.faults == [
            f"404 for {address}no/such/page.html",
            "console: Failed to load resource: the server responded with a status of 404 (Not Found)",
        ]
        assert page.locator("h1").inner_text() == "Page not found"
        assert barriers(page) == []
        page.get_by_role("navigation", name="Chapters").get_by_role("link").nth(1).click()
        page.wait_for_url(address + site.chapters[0])
