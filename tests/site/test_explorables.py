"""The explorables in a browser: every one alive, under every hand, in both themes; on a page of their own and in the book."""

import json
import re

import nbformat
import notebooks
import pytest
from browsing import (
    ALL_BUT_COLOURS,
    DESKTOP,
    ONLY_COLOURS,
    PHONE,
    barriers,
    settle,
    shifts,
    tab,
    walk_by_keyboard,
    wider_than_the_screen,
)
from explorable_rows import ROWS, differences, states_of
from web_server import serving

from attention_lib import explorables
from attention_lib.explorables._web import bundle, files

LOOKS = [(module, arguments) for module, row in ROWS.items() for arguments in row.shown]
PLANE = [module for module, _ in LOOKS].index("plane")
PREFIX = "/attention-book/"
CONTROLS = "button, input, select, textarea, [role=slider], [role=spinbutton], [tabindex]"
NEXT_FRAME = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
# All that is shown but the control's own value, what is only heard, and where the focus would go.
SEEN = """ex => {
    const copy = ex.querySelector(".ex").cloneNode(true);
    copy.querySelectorAll(".ex-heard, output, [role=slider]").forEach(e => e.remove());
    const unseen = ["data-lm-suppress-shortcuts", "tabindex"];
    copy.querySelectorAll("*").forEach(e => unseen.forEach(name => e.removeAttribute(name)));
    copy.querySelectorAll("[class]").forEach(e => e.setAttribute("class", [...e.classList].sort().join(" ")));
    return copy.innerHTML.replaceAll(` class=""`, "");
}"""
# Whether a finger so many pixels from the middle of a control, each way, is still on it.
REACHES = """(control, half) => {
    control.scrollIntoView({ block: "center" });
    const box = control.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
    return [[0, 0], [half, 0], [-half, 0], [0, half], [0, -half]].every(([dx, dy]) => {
        const hit = document.elementFromPoint(x + dx, y + dy);
        return hit === control || control.contains(hit) || [...control.labels ?? []].some(label => label.contains(hit));
    });
}"""
OTHER_CONTROLS = """() => [...document.querySelectorAll("article :is(input, select, textarea, button, canvas, iframe, [role=slider])")]
    .filter(e => !e.closest(".explorable, .copy")).map(e => e.outerHTML.slice(0, 90))"""
ALIVE = """() => [...document.querySelectorAll(".explorable")].map(e => [
    e.classList.contains("ex-alive"), e.querySelectorAll(".ex").length, e.querySelector(".ex-still").checkVisibility()])"""


def notebook(cells):
    return nbformat.v4.new_notebook(cells=cells, metadata=notebooks.METADATA)


@pytest.fixture(scope="module")
def small(small_book):
    """Build a book with a page for each look of each explorable, and one that has them all; return its folder."""
    looks = []
    for number, (module, arguments) in enumerate(LOOKS):
        it = explorables.load(module)(**arguments)
        data = {"text/html": it.to_html(), "text/plain": repr(it)}
        shown = nbformat.v4.new_output("execute_result", data=data, execution_count=number + 1)
        cell = nbformat.v4.new_code_cell("it", outputs=[shown], execution_count=number + 1)
        looks.append([nbformat.v4.new_markdown_cell(f"## Look {number}\n\nTry it."), cell])
    title = nbformat.v4.new_markdown_cell("# Explorables")
    chapters = {f"look-{number}": notebook([title, *cells]) for number, cells in enumerate(looks)}
    status, said, pages = small_book(index="# Home\n\nNothing to drag.\n", looks=notebook([title, *sum(looks, [])]), **chapters)
    assert status == 0, said
    return pages


@pytest.fixture(scope="module")
def address(small):
    with serving(small, PREFIX) as address:
        yield address


@pytest.fixture(scope="module")
def desktop(browser, address):
    with tab(browser, address) as page:
        yield page


@pytest.fixture(scope="module")
def mobile(browser, address):
    with tab(browser, address, PHONE, has_touch=True, is_mobile=True) as page:
        yield page


@pytest.fixture
def page(desktop):
    """The page with every look."""
    desktop.faults.clear()
    yield opened(desktop)
    assert desktop.faults == []


@pytest.fixture
def ex(desktop, number):
    """One look, alone on its page."""
    desktop.faults.clear()
    yield opened(desktop, f"look-{number}.html").locator(".explorable")
    assert desktop.faults == []


@pytest.fixture
def touched(mobile, number):
    """The same on a phone."""
    mobile.faults.clear()
    yield opened(mobile, f"look-{number}.html").locator(".explorable")
    assert mobile.faults == []


def opened(page, name="looks.html"):
    page.goto(name)
    page.wait_for_function("() => [...document.querySelectorAll('.explorable')].every(e => e.matches('.ex-alive'))")
    settle(page)
    return page


IDS = [f"{module}-{number}" for module, row in ROWS.items() for number in range(len(row.shown))]


@pytest.fixture(params=range(len(LOOKS)), ids=IDS)
def number(request):
    return request.param


def look(page, number):
    return page.locator(".explorable").nth(number)


def seen(ex):
    ex.page.evaluate(NEXT_FRAME)
    return ex.evaluate(SEEN)


def controls(ex):
    return [each for each in ex.locator(CONTROLS).all() if each.inner_text() != "Reset"]


def press(control):
    """Use a control by keyboard alone."""
    control.focus()
    kind = control.get_attribute("role") or control.get_attribute("type")
    if kind == "number":
        value, step, most = (float(control.evaluate(f"e => Number(e.{name})")) for name in ("value", "step", "max"))
        control.press("ControlOrMeta+a")
        control.press_sequentially(f"{value + step if value + step <= most else value - step:.6g}")
        control.press("Enter")
    else:
        keys = {"checkbox": "Space", "radio": "ArrowRight", "slider": "ArrowRight", "range": "ArrowRight"}
        control.press(keys.get(kind, "Enter"))


def named(control):
    return control.evaluate("e => e.outerHTML.slice(0, 120)")


# ---------------------------------------------------------------------------------------------------------------
# Each by itself


def test_every_one_is_alive_under_a_subpath_and_the_tables_give_way(page):
    assert page.url.endswith(f"{PREFIX}looks.html")
    assert page.evaluate(ALIVE) == [[True, 1, False]] * len(LOOKS)


def test_a_page_without_one_loads_nothing_for_it(browser, address, small):
    with tab(browser, address) as page:
        asked = []
        page.on("request", lambda it: asked.append(it.url))
        page.goto("index.html")
        settle(page)
        assert asked and not [url for url in asked if "explorables" in url]


def test_the_files_of_one_state_stand_in_one_folder(page, small):
    """So a browser never puts an old module beside a new host: any change is another folder."""
    folders = {path.name for path in (small / "_static").glob("explorables-*")}
    html = (small / "looks.html").read_text("utf8")
    assert set(re.findall(r"_static/(explorables-\w+)/", html)) == folders and len(folders) == 1
    loaded = page.evaluate("performance.getEntriesByType('resource').map(each => each.name)")
    names = [url.rpartition("/")[2] for url in loaded if "/explorables-" in url]
    assert sorted(names) == sorted(files())


@pytest.mark.parametrize("form", ["page", "Jupyter"])
def test_a_browser_computes_what_the_library_does(page, form, small):
    folder = next((small / "_static").glob("explorables-*")).name
    for module in ROWS:
        states = states_of(module)
        results = page.evaluate(
            """async ([address, text, states]) => {
                const it = await import(text ? URL.createObjectURL(new Blob([text], { type: "text/javascript" })) : address);
                const finite = (_, v) => (typeof v === "number" && !Number.isFinite(v) ? String(v) : v);
                return JSON.stringify(states.map(it.compute), finite);
            }""",
            [f"{PREFIX}_static/{folder}/{module}.js", bundle(module) if form == "Jupyter" else "", states],
        )
        worst = differences(module, states, json.loads(results))
        assert max(worst.values()) <= 1e-12, (module, worst)


def test_every_control_moves_the_picture_by_key_and_reset_brings_it_back(ex):
    start, reset = seen(ex), ex.get_by_role("button", name="Reset")
    assert controls(ex)
    for control in controls(ex):
        if control.get_attribute("type") == "radio" and not control.is_checked():
            continue  # by keyboard one goes to it from the chosen one
        press(control)
        assert seen(ex) != start, named(control)
        reset.press("Enter")
        assert seen(ex) == start, f"Reset after {named(control)}"


def test_keys_faster_than_the_pictures_are_all_counted(page):
    dot = look(page, PLANE).get_by_role("slider").first
    for key in ["ArrowRight"] * 12 + ["ArrowUp"] * 7:
        dot.evaluate("(e, key) => e.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))", key)
    page.evaluate(NEXT_FRAME)
    assert dot.get_attribute("aria-valuetext") == "x 3.20, y 1.70"


def test_every_control_moves_the_picture_by_pointer(ex):
    start, reset = seen(ex), ex.get_by_role("button", name="Reset")
    for control in controls(ex):
        control.scroll_into_view_if_needed()
        box = control.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        if control.get_attribute("role") == "slider":
            ex.page.mouse.move(x, y)
            ex.page.mouse.down()
            ex.page.mouse.move(x - 20, y + 15, steps=4)
            ex.page.mouse.up()
            ex.page.mouse.move(x - 60, y + 60)  # let go of: it stays
        elif control.get_attribute("type") == "range":
            ex.page.mouse.click(box["x"] + 0.15 * box["width"], y)
        elif control.get_attribute("type") == "number" or control.get_attribute("type") == "radio" and control.is_checked():
            continue
        else:
            ex.page.mouse.click(x, y)
        assert seen(ex) != start, named(control)
        reset.click()
        assert seen(ex) == start


def finger(page, points):
    """Put a finger down, move it from point to point, and lift it."""
    session = page.context.new_cdp_session(page)
    for kind, at in [("touchStart", points[0]), *(("touchMove", each) for each in points[1:]), ("touchEnd", None)]:
        where = [{"x": at[0], "y": at[1]}] if at else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})
    page.wait_for_timeout(50)


def test_a_finger_moves_every_control_and_the_page_stands_still(touched):
    ex, phone = touched, touched.page
    start, reset = seen(ex), ex.get_by_role("button", name="Reset")
    for control in controls(ex):
        kind = control.get_attribute("role") or control.get_attribute("type")
        if kind == "number" or kind == "radio" and control.is_checked():
            continue
        control.evaluate("e => e.scrollIntoView({ block: 'center' })")
        box, above = control.bounding_box(), phone.evaluate("scrollY")
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        if kind == "slider":
            finger(phone, [(x + 15, y + 12), *((x + 15 - 8 * k, y + 12 + 8 * k) for k in range(1, 6))])
        elif kind == "range":
            phone.touchscreen.tap(box["x"] + 0.15 * box["width"], y)
        else:
            phone.touchscreen.tap(x, y)
        assert seen(ex) != start, named(control)
        assert phone.evaluate("scrollY") == above, f"the page moved under {named(control)}"
        reset.tap()
        assert seen(ex) == start


def test_a_finger_beside_the_controls_scrolls_the_page(touched):
    ex, phone = touched, touched.page
    ex.evaluate("e => scrollTo(0, e.getBoundingClientRect().top + scrollY - 300)")
    box, before = ex.locator(".ex-head p").bounding_box(), phone.evaluate("scrollY")
    x, y = box["x"] + 20, box["y"] + 10
    finger(phone, [(x, y - 15 * k) for k in range(12)])
    phone.wait_for_function("before => scrollY > before + 50", arg=before)


def test_every_control_is_large_enough(ex, touched):
    """24 pixels for a mouse, 44 for a finger, as wide as it looks or wider."""
    for shown, half in ((ex, 11.5), (touched, 21.5)):
        for control in [*controls(shown), shown.get_by_role("button", name="Reset")]:
            assert control.evaluate(REACHES, half), f"{2 * half + 1:.0f} pixels: {named(control)}"


def test_the_shortcuts_of_the_page_still_work_from_within(ex):
    controls(ex)[0].press("Control+k")
    assert ex.page.locator("dialog#search").is_visible()


def test_what_slides_says_its_value_in_words(ex):
    for control in ex.locator("[role=slider], input[type=range]").all():
        before = control.get_attribute("aria-valuetext")
        assert before
        press(control)
        ex.page.evaluate(NEXT_FRAME)
        assert control.get_attribute("aria-valuetext") not in (before, None), named(control)


def test_a_screen_reader_hears_the_result_after_a_pause(ex):
    heard = ex.locator("[aria-live=polite]")
    assert heard.count() == 1 and heard.inner_text() == ""
    control = ex.locator("[role=slider], input").first
    for _ in range(3):
        press(control)
    assert heard.inner_text() == ""  # not yet
    ex.page.wait_for_function("e => e.textContent.length > 10", arg=heard.element_handle())


def test_the_keyboard_reaches_every_control_and_shows_where_it_is(page):
    stops, count = walk_by_keyboard(page)
    assert len(stops) == count > 10
    assert [stop["what"] for stop in stops if not stop["outlined"]] == []
    assert [stop["what"] for stop in stops if not stop["seen"]] == []


@pytest.mark.parametrize(
    "viewport, theme, rules",
    [(DESKTOP, "light", {}), (PHONE, "light", ALL_BUT_COLOURS), (PHONE, "dark", ONLY_COLOURS)],
    ids=["desktop", "phone", "dark phone"],
)
def test_axe_finds_no_barrier_before_and_after_use(browser, address, viewport, theme, rules):
    with tab(browser, address, viewport, theme) as page:
        opened(page)
        assert barriers(page, rules) == []
        for number in range(len(LOOKS)):
            for control in controls(look(page, number)):
                press(control)
        page.evaluate(NEXT_FRAME)
        assert barriers(page, rules) == []
        assert page.faults == []


@pytest.mark.parametrize("width", [320, 390, 600, 700, 1280])
def test_nothing_scrolls_sideways(browser, address, width):
    with tab(browser, address, {"width": width, "height": 800}) as page:
        opened(page)
        assert wider_than_the_screen(page) == []


FINGER = {"has_touch": True, "is_mobile": True}


@pytest.mark.parametrize(
    "viewport, touch, gap",
    [(DESKTOP, {}, 40), (PHONE, FINGER, 40), (PHONE, {}, 110), ({"width": 600, "height": 900}, FINGER, 180)],
    ids=["desktop", "phone", "narrow window", "small tablet"],
)
def test_room_is_kept_for_it(browser, address, viewport, touch, gap):
    """Nothing below moves when it comes to life, and no gap is left, or no large one."""
    with tab(browser, address, viewport, **touch) as page:
        opened(page)
        for number, (module, arguments) in enumerate(LOOKS):
            kept, taken = look(page, number).evaluate(
                "e => [parseFloat(getComputedStyle(e).minHeight), e.querySelector('.ex').getBoundingClientRect().height]"
            )
            assert 0 <= kept - taken <= gap, f"{module} {arguments}: {kept:.0f} kept, {taken:.0f} taken"
    with tab(browser, address, {"width": viewport["width"], "height": 20_000}, **touch) as page:
        opened(page)
        assert shifts(page)["lines"] == []


def test_nothing_glides_for_a_reader_who_wants_no_motion(ex):
    for control in controls(ex):
        press(control)
        ex.page.evaluate(NEXT_FRAME)
        assert ex.page.evaluate("document.getAnimations().length") == 0
    moving = "e => [...e.querySelectorAll('*')].filter(e => getComputedStyle(e).transitionDuration !== '0s').length"
    assert ex.evaluate(moving) == 0


def test_without_a_script_the_tables_stand_there(browser, address):
    with tab(browser, address, PHONE, java_script_enabled=False) as page:
        page.goto("looks.html")
        assert page.locator(".ex").count() == 0
        for number in range(len(LOOKS)):
            assert look(page, number).locator(".ex-still table").first.is_visible()
            kept = look(page, number).bounding_box()["height"]
            assert kept - look(page, number).locator(".ex-still").bounding_box()["height"] < 30
        assert page.faults == []


def test_where_its_script_fails_the_tables_come(browser, address):
    with tab(browser, address) as page:
        page.route("**/plane.js", lambda route: route.fulfill(body="export default 1;", content_type="text/javascript"))
        page.goto("looks.html")
        still = look(page, PLANE).locator(".ex-still table").first
        page.wait_for_function("table => getComputedStyle(table).visibility === 'visible'", arg=still.element_handle())
        assert page.locator(".ex-alive [aria-label='Three tokens to drag']").count() == 0
        assert any("explorable plane" in fault for fault in page.faults)


def test_paper_has_the_tables(ex):
    ex.page.emulate_media(media="print")
    assert ex.locator(".ex-still table").first.is_visible() and not ex.locator(".ex").is_visible()
    ex.page.emulate_media(media="screen")
    assert ex.locator(".ex").is_visible() and not ex.locator(".ex-still").is_visible()


def test_a_build_that_runs_the_notebook_shows_the_same_and_no_widget_of_another_host(browser, small_book):
    cell = nbformat.v4.new_code_cell("from attention_lib.explorables import AttentionPlane\nAttentionPlane()")
    cells = [nbformat.v4.new_markdown_cell("# Run"), cell]
    status, said, pages = small_book("force", index="# Home\n\nWords.\n", run=notebook(cells))
    assert status == 0, said
    with serving(pages, PREFIX) as address, tab(browser, address) as page:
        opened(page, "run.html")
        assert page.evaluate(ALIVE) == [[True, 1, False]]
        assert page.faults == []
    for word in RUNTIME:
        assert word not in (pages / "run.html").read_text("utf8")


# ---------------------------------------------------------------------------------------------------------------
# In the book

RUNTIME = ("vnd.jupyter.widget", "require.min.js", "html-manager", "application/javascript")


def test_every_explorable_of_every_page_is_alive_and_no_other_control_is_there(browser, site, record_property):
    found = {}
    with tab(browser, site.address) as page:
        for name in site.pages:
            opened(page, name)
            alive = page.evaluate(ALIVE)
            assert alive == [[True, 1, False]] * len(alive), name
            assert page.evaluate(OTHER_CONTROLS) == [], name
            assert not [word for word in RUNTIME if word in site.html(name)], name
            if alive:
                found[name] = len(alive)
            for ex in page.locator(".explorable").all():
                start = seen(ex)
                press(controls(ex)[0])
                assert seen(ex) != start, name
        assert page.faults == []
    assert len(found) >= 2
    record_property("found", ("explorables in the pages, each alive", sum(found.values())))


def test_another_control_in_a_page_is_found(page):
    page.evaluate("document.querySelector('article').append(document.createElement('select'))")
    assert page.evaluate(OTHER_CONTROLS) == ["<select></select>"]


@pytest.mark.parametrize(
    "fault, test",
    [
        ("e => e.querySelector('[role=slider], input').style.setProperty('display', 'none')", test_every_control_is_large_enough),
        ("e => { e.querySelector('.ex').outerHTML += ''; }", test_every_control_moves_the_picture_by_key_and_reset_brings_it_back),
        ("e => { e.querySelector('.ex').outerHTML += ''; }", test_every_control_moves_the_picture_by_pointer),
        ("e => { e.querySelector('.ex').outerHTML += ''; }", test_what_slides_says_its_value_in_words),
    ],
)
def test_a_dead_control_is_found(page, fault, test):
    ex = look(page, 0)
    ex.evaluate(fault)
    with pytest.raises(AssertionError):
        test(*([ex, ex] if test is test_every_control_is_large_enough else [ex]))
