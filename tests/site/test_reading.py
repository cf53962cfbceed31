"""Reading under other conditions: late fonts, no script, by keyboard, on paper, with little bandwidth."""

import io
import re

import pytest
from browsing import DESKTOP, PHONE, open_with_late_fonts, settle, shifts, tab, unfold, walk_by_keyboard, wider_than_the_screen
from pypdf import PdfReader


@pytest.mark.parametrize("width", [DESKTOP["width"], PHONE["width"]])
def test_no_line_moves_when_fonts_are_late(browser, site, width):
    """In a window as high as the page, where every move would be seen."""
    moved = {}
    with tab(browser, site.address, {"width": width, "height": 30_000}) as page:
        for name in site.pages:
            open_with_late_fonts(page, name)
            moved[name] = shifts(page)["lines"]
    assert {name: lines for name, lines in moved.items() if lines} == {}


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_score_for_moving_is_below_a_hundredth(browser, site, viewport):
    with tab(browser, site.address, viewport) as page:
        for name in ("index.html", site.chapters[0]):  # for the others the test above is the stricter one
            open_with_late_fonts(page, name)
            assert shifts(page)["score"] < 0.01, name


def test_a_page_reads_without_a_script(browser, site):
    with tab(browser, site.address, PHONE, java_script_enabled=False) as page:
        page.goto(site.chapters[1])
        assert page.locator("article h1").is_visible()
        assert page.locator("svg.plot").first.bounding_box()["height"] > 100
        assert page.locator(".katex-html").first.bounding_box()["width"] > 5
        solution = page.locator("details.solution").first
        solution.locator("summary").first.click()
        assert solution.locator(".unfolded").first.is_visible()
        assert not page.locator(".tool.theme").is_visible()  # it would do nothing
        assert page.locator(".copy").count() == 0
        page.get_by_role("button", name="Chapters").click()
        page.get_by_role("navigation", name="Chapters").get_by_role("link").nth(1).click()
        page.wait_for_url(f"**/{site.chapters[0]}")
        page.get_by_role("link", name="Search").click()
        assert "needs JavaScript" in page.locator("main noscript").inner_text()
        assert page.faults == []


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_keyboard_reaches_everything_and_shows_where_it_is(browser, site, viewport):
    with tab(browser, site.address, viewport) as page:
        page.goto(site.chapters[0])
        unfold(page)
        stops, count = walk_by_keyboard(page)
        assert len(stops) == count
        assert [stop["what"] for stop in stops if not stop["outlined"]] == []
        assert [stop["what"] for stop in stops if not stop["seen"]] == []
        assert "Skip to the text" in stops[0]["what"]


def test_the_first_tab_stop_skips_to_the_text(browser, site):
    with tab(browser, site.address) as page:
        page.goto(site.chapters[0])
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('main') !== null")


def test_paper_shows_the_article_alone_with_everything_unfolded(browser, site):
    """Printed from the dark theme: ink on white all the same."""
    name = site.chapters[1]
    with tab(browser, site.address, theme="dark") as page:
        page.goto(name)
        settle(page)
        hints = page.locator("details .unfolded p").all_text_contents()
        pdf = PdfReader(io.BytesIO(page.pdf(format="A4", margin=dict.fromkeys(("top", "bottom", "left", "right"), "18mm"))))
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        ink = page.evaluate("getComputedStyle(document.querySelector('svg.plot text')).fill")
        assert max(map(int, re.findall(r"\d+", ink))) < 80
        for hidden in (".bar", ".side", ".turn", ".copy", ".actions"):
            assert not page.locator(hidden).first.is_visible()
        assert page.evaluate("""() => [...document.querySelectorAll("figure, .equation")].every(e =>
            getComputedStyle(e).breakInside === "avoid" && e.getBoundingClientRect().height < 900)""")
    text = squeeze("".join(sheet.extract_text() for sheet in pdf.pages))
    assert len(pdf.pages) > 5 and "Skip to the text" not in text
    plain = [hint for hint in map(squeeze, hints) if hint.isascii() and len(hint) > 30]
    assert len(plain) > 3
    assert [hint for hint in plain if hint[:30] not in text] == []


def squeeze(text):
    return re.sub(r"\s+", "", text)


def test_text_can_be_twice_as_large(browser, site):
    """At 200 % of the text size and at 320 pixels, as WCAG asks, nothing is lost to the side."""
    for options in ({"viewport": {"width": 320, "height": 700}}, {"viewport": {"width": 720, "height": 450}}):
        with tab(browser, site.address, **options) as page:
            for name in [site.chapters[0], "index.html"]:
                page.goto(name)
                unfold(page)
                assert wider_than_the_screen(page) == []


def test_figure_text_is_at_least_11_pixels_on_a_phone(browser, site):
    small = {}
    with tab(browser, site.address, PHONE) as page:
        for name in site.chapters:
            page.goto(name)
            unfold(page)
            # the largest letters of each text: an index of a symbol is smaller
            sizes = page.evaluate("""() => [...document.querySelectorAll("svg.plot text")].map(text => {
                const { a, b } = text.getScreenCTM(), parts = [text, ...text.querySelectorAll("tspan")];
                const written = parts.filter(part => !part.querySelector("tspan"));
                const largest = Math.max(...written.map(part => parseFloat(getComputedStyle(part).fontSize)));
                return [Math.hypot(a, b) * largest, text.textContent.trim()];
            })""")
            assert sizes, name
            small[name] = sorted({(round(size, 1), text) for size, text in sizes if size < 10.95})
    assert {name: found for name, found in small.items() if found} == {}


def test_nothing_glides_for_a_reader_who_wants_no_motion(browser, site):
    moves = """() => [getComputedStyle(document.documentElement).scrollBehavior, document.getAnimations().length,
        [...document.querySelectorAll("body *")].filter(e => getComputedStyle(e).transitionDuration !== "0s").length]"""
    with tab(browser, site.address) as page:  # every tab of these tests asks for reduced motion
        page.goto(site.chapters[0])
        assert page.evaluate(moves) == ["auto", 0, 0]
        page.emulate_media(reduced_motion="no-preference")
        assert page.evaluate(moves)[0] == "smooth"
