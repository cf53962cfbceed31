"""The copy for a disk, read in a browser from file:// with the network off."""

import shutil
from zipfile import ZipFile

import publish
import pytest


@pytest.fixture(scope="module")
def copy(book, tmp_path_factory):
    """Return the folder that a reader unpacks, far from the book it was made from."""
    folder = tmp_path_factory.mktemp("disk")
    publish.make_site(book, folder / "site")
    publish.make_offline(folder / "site", folder / "book.zip")
    shutil.rmtree(folder / "site")
    with ZipFile(folder / "book.zip") as archive:
        archive.extractall(folder / "a folder with spaces, ümlauts & 100%")
    return folder / "a folder with spaces, ümlauts & 100%" / publish.NAME


@pytest.fixture
def tab(browser):
    """Return a page with the network off, and a list of all that went wrong or left the disk."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page, wrong = context.new_page(), []
    page.on("console", lambda message: message.type in {"error", "warning"} and wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    # A page left behind aborts what it still loads; that is no failure.
    page.on("requestfailed", lambda it: it.failure == "net::ERR_ABORTED" or wrong.append(f"{it.url}: {it.failure}"))
    page.on("request", lambda request: request.url.startswith(("file:", "data:")) or wrong.append(request.url))
    yield page, wrong
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_reads_from_a_disk(copy, tab, theme):
    page, wrong = tab
    page.emulate_media(color_scheme=theme)
    paths = sorted(copy.rglob("*.html"))
    assert paths
    for path in paths:
        page.goto(path.as_uri())
        page.evaluate("document.fonts.ready")
        seen = page.evaluate("""() => ({
            broken: [...document.images].filter(i => i.loading != "lazy" && !i.naturalWidth).map(i => i.src),
            fonts: [...document.fonts].filter(f => f.status == "error").map(f => f.family),
            text: [...document.fonts].some(f => f.family.includes("Book") && f.status == "loaded"),
            styled: getComputedStyle(document.body).backgroundColor,
        })""")
        assert seen["broken"] == seen["fonts"] == [] and seen["text"], (path.name, seen)
        light = sum(map(int, seen["styled"].removeprefix("rgb(").rstrip(")").split(","))) / 3
        assert light > 200 if theme == "light" else light < 60, (path.name, seen)
    assert wrong == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_are_drawn_in_ink_that_stands_out(copy, tab, theme):
    page, _ = tab
    page.emulate_media(color_scheme=theme)
    for path in sorted(copy.glob("chapters/*.html")):
        page.goto(path.as_uri())
        figures = page.locator("article figure svg, article .cell_output svg")
        assert figures.count(), path.name
        for index in range(figures.count()):
            box = figures.nth(index).bounding_box()
            assert box and box["width"] > 100 and box["height"] > 50, (path.name, index, box)


def test_explorables_are_alive_on_a_disk(copy, tab):
    """Where a page may load no module, its modules stand in it."""
    page, wrong = tab
    paths = [path for path in sorted(copy.glob("chapters/*.html")) if 'class="explorable"' in path.read_text("utf8")]
    assert len(paths) >= 2
    for path in paths:
        page.goto(path.as_uri())
        page.wait_for_function("() => [...document.querySelectorAll('.explorable')].every(e => e.matches('.ex-alive'))")
    page.goto((copy / "chapters" / "02-scores.html").as_uri())
    dot = page.get_by_role("slider", name="Token x1")
    dot.press("ArrowRight")
    page.wait_for_function("e => e.ariaValueText.startsWith('x 2.10')", arg=dot.element_handle())
    assert wrong == []


@pytest.mark.parametrize("words", ["softmax jacobian", "分数"])
def test_the_search_finds_pages_and_follows_to_one(copy, tab, words):
    page, wrong = tab
    page.goto((copy / "index.html").as_uri())
    page.goto((copy / "search.html").as_uri() + "?q=" + words)
    found = page.locator("#search-results li a").first
    found.wait_for(timeout=20_000)
    found.click()
    page.wait_for_url(lambda address: "search.html" not in address)
    page.locator("article h1").wait_for()
    assert wrong == []


def test_the_theme_is_chosen_with_a_button_and_kept_on_the_next_page(copy, tab):
    page, wrong = tab
    page.emulate_media(color_scheme="light")
    page.goto((copy / "index.html").as_uri())
    paper = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(paper)
    for _ in range(3):
        if page.evaluate(paper) != before:
            break
        page.get_by_role("button", name="Theme").click()
    dark = page.evaluate(paper)
    assert dark != before
    page.goto(next(copy.glob("chapters/*.html")).as_uri())
    assert page.evaluate(paper) == dark
    assert wrong == []


def test_a_reader_goes_from_page_to_page(copy, tab):
    page, wrong = tab
    page.goto((copy / "index.html").as_uri())
    seen = [page.url]
    while page.locator("a[rel=next]").count():
        page.locator("a[rel=next]").first.click()
        page.wait_for_load_state()
        assert page.url not in seen
        seen.append(page.url)
    assert len(seen) == len([path for path in copy.rglob("*.html") if path.name != "search.html"])
    assert wrong == []
