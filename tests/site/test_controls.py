"""What a reader can press works. Audits miss all of it."""

import re

import pytest
from browsing import PHONE, settle, tab, unfold

THEME = "document.documentElement.dataset.theme"
PAPER = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture
def page(browser, site):
    with tab(browser, site.address, permissions=["clipboard-read", "clipboard-write"]) as page:
        yield page
        assert page.faults == []


@pytest.fixture
def phone(browser, site):
    with tab(browser, site.address, PHONE, has_touch=True) as page:
        yield page
        assert page.faults == []


@pytest.fixture(scope="module")
def chapter(site):
    """A chapter with an equation, a figure, code, a hint and a solution: the second has them all."""
    return site.chapters[1]


def top_of(locator):
    return locator.evaluate("element => element.getBoundingClientRect().top")


def test_the_theme_button_goes_round_and_is_remembered(page, chapter, site):
    page.goto(chapter)
    button = page.get_by_role("button", name="Theme")
    seen, papers = [page.evaluate(THEME)], [page.evaluate(PAPER)]
    for _ in range(3):
        button.click()
        seen.append(page.evaluate(THEME))
        papers.append(page.evaluate(PAPER))
        assert button.locator("svg:visible").count() == 1
        assert seen[-1] in button.get_attribute("aria-label") or seen[-1] == "auto"
    assert seen == ["auto", "light", "dark", "auto"]
    assert papers[0] == papers[1] == papers[3] != papers[2]
    button.click()
    button.click()
    page.goto("index.html")
    assert page.evaluate(THEME) == "dark" and page.evaluate(PAPER) == papers[2]


def test_the_automatic_theme_follows_the_device_and_figures_follow_the_theme(page, chapter):
    page.goto(chapter)
    text = page.locator("svg.plot text").first
    ink = [text.evaluate("e => getComputedStyle(e).fill")]
    page.emulate_media(color_scheme="dark")
    ink.append(text.evaluate("e => getComputedStyle(e).fill"))
    assert ink[0] != ink[1]
    assert ink[1] == page.evaluate("getComputedStyle(document.body).color")


@pytest.mark.parametrize("words, where", [("softmax jacobian", "chapters/"), ("分数", "back/glossary"), ("注意力头", "back/")])
def test_the_search_finds(page, site, words, where):
    page.goto("index.html")
    page.keyboard.press("Control+k")
    page.locator("dialog[open] input").fill(words)
    page.keyboard.press("Enter")
    results = page.locator("#search-results li a")
    results.first.wait_for()
    page.get_by_text("Search finished").wait_for()
    found = results.evaluate_all("links => links.map(a => a.getAttribute('href'))")
    assert any(where in link for link in found), found
    summary = page.locator("#search-results li p").first
    summary.wait_for()
    assert "\\" not in summary.inner_text()  # text, with no TeX in it
    results.first.click()
    page.locator("article h1").wait_for()


def test_the_search_says_when_it_finds_nothing(page):
    page.goto("search.html?q=xylophone")
    page.get_by_text("did not match any documents").wait_for()


def test_the_search_dialog_opens_and_closes(page, chapter):
    page.goto(chapter)
    dialog = page.locator("dialog#search")
    page.get_by_role("link", name="Search").click()
    assert dialog.locator("input").evaluate("field => field === document.activeElement")
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    page.keyboard.press("Control+k")
    page.mouse.click(5, 500)  # beside it
    assert not dialog.is_visible()


def test_copy_takes_the_code_alone(page, chapter):
    page.goto(chapter)
    cell = page.locator(".cell_input .highlight").first
    cell.hover()
    cell.get_by_role("button", name="Copy").click()
    cell.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("import ") and "Copy" not in copied
    assert copied == cell.locator("pre").inner_text().rstrip()
    outputs = page.locator(".cell_output .copy")
    assert outputs.count() == 0


def test_every_section_figure_and_equation_has_a_link_of_its_own(page, chapter, site):
    page.goto(chapter)
    for what in ("section > h2", "figure figcaption", ".equation"):
        link = page.locator(f"article {what} a.headerlink, article {what} a.eqno").first
        link.scroll_into_view_if_needed()
        link.hover()
        assert link.evaluate("a => getComputedStyle(a).opacity") == "1"
        link.click()
        target = page.locator(f"[id='{page.url.partition('#')[2]}']")
        assert target.count() == 1
        assert 40 < top_of(target) < 300, what  # below the bar, on the screen


def test_a_reference_jumps_to_its_equation_and_its_figure(page, site):
    for kind in ("equation-", "fig-"):
        name = next(name for name in site.chapters if f'<a class="reference internal" href="#{kind}' in site.html(name))
        page.goto(name)
        unfold(page)
        link = page.locator(f"article a.reference.internal[href^='#{kind}']").first
        assert re.search(r"\d+\.\d+", link.inner_text())  # numbered in its chapter
        target = page.locator(f"[id='{link.get_attribute('href')[1:]}']")
        link.click()
        settle(page)
        assert 40 < top_of(target) < 300


@pytest.mark.parametrize("kind", ["hint", "solution"])
def test_a_hint_and_a_solution_open_by_click_and_by_key(page, chapter, kind):
    page.goto(chapter)
    part = page.locator(f"details.{kind}").first
    inside, title = part.locator(".unfolded").first, part.locator("summary").first
    assert not inside.is_visible()
    title.click()
    assert inside.is_visible()
    title.press("Enter")
    assert not inside.is_visible()
    title.press("Space")
    assert inside.is_visible()


def test_back_to_top_comes_when_the_reader_turns_back(page, chapter):
    page.goto(chapter)
    link = page.get_by_role("link", name="Back to top")
    assert not link.is_visible()
    page.mouse.wheel(0, 6000)
    page.wait_for_function("scrollY > 3000")
    assert not link.is_visible()
    page.mouse.wheel(0, -600)
    link.wait_for(timeout=5000)
    link.click()
    page.wait_for_function("scrollY == 0")


def test_the_contents_of_the_page_follow_the_reader(page, chapter):
    page.goto(chapter)
    links = page.get_by_role("navigation", name="On this page").get_by_role("link")
    assert links.count() > 5
    links.nth(3).click()
    page.wait_for_function("document.querySelector('#page [aria-current]')")
    assert page.locator("#page [aria-current]").inner_text() == links.nth(3).inner_text()


@pytest.mark.parametrize("width, beside", [(390, False), (800, False), (1150, False), (1280, True), (1920, True)])
def test_the_contents_of_the_page_are_at_hand_in_every_window(page, chapter, width, beside):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(chapter)
    contents, button = page.locator("#page"), page.get_by_role("button", name="On this page")
    assert (contents.is_visible(), button.is_visible()) == (beside, not beside)
    if not beside:
        button.click()
    assert contents.get_by_role("link", name="Exercises").is_visible()


def test_the_menu_marks_this_page_and_next_leads_on(page, site):
    page.goto("index.html")
    visited = []
    while page.locator("a.next").count():
        current = page.get_by_role("navigation", name="Chapters").locator("[aria-current=page]")
        assert current.count() == 1
        visited.append(current.inner_text())
        with page.expect_navigation():
            page.locator("a.next").click()
    assert len(visited) == len(set(visited)) == len(site.pages) - 1


def test_the_menus_of_a_phone_open_lead_and_close(phone, chapter):
    phone.goto(chapter)
    menu, contents = (phone.get_by_role("navigation", name=name) for name in ("Chapters", "On this page"))
    assert not menu.is_visible() and not contents.is_visible()
    phone.get_by_role("button", name="On this page").click()
    contents.get_by_role("link").nth(4).click()
    assert not contents.is_visible() and "#" in phone.url
    phone.get_by_role("button", name="Chapters").click()
    phone.mouse.click(380, 600)  # beside it
    assert not menu.is_visible()
    phone.get_by_role("button", name="Chapters").click()
    menu.get_by_role("link").first.click()
    phone.wait_for_url("**/index.html")


def test_a_formula_wider_than_the_window_scrolls_in_its_own_box_by_key(page, site):
    page.set_viewport_size({"width": 240, "height": 600})
    name = next(name for name in site.chapters if 'class="equation"' in site.html(name))
    page.goto(name)
    settle(page)
    boxes = page.locator(".equation .scrolls[tabindex='0']").element_handles()
    box = max(boxes, key=lambda box: box.evaluate("box => box.scrollWidth - box.clientWidth"))
    assert box.get_attribute("role") == "group" and box.get_attribute("aria-label") == "Equation"
    box.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("box => box.scrollLeft > 10", arg=box)
    page.set_viewport_size({"width": 2000, "height": 600})
    page.wait_for_function("box => !box.hasAttribute('tabindex')", arg=box)


def test_the_text_of_a_figure_can_be_selected(page, chapter):
    page.goto(chapter)
    label = page.locator("svg.plot text").filter(has_text="query").first
    label.scroll_into_view_if_needed()
    label.evaluate("""text => { const range = document.createRange(); range.selectNodeContents(text);
        getSelection().removeAllRanges(); getSelection().addRange(range); }""")
    assert "query" in page.evaluate("getSelection().toString()")
