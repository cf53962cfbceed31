"""What is particular to two explorables: a mask is painted and warns, queries and keys turn together."""

import re
from contextlib import contextmanager

import numpy as np
import pytest
from browsing import PHONE, settle, tab
from web_server import serving

from attention_lib.explorables import MaskPainter, TwoQuestions, modules
from attention_lib.explorables._web import source
from attention_lib.masks import causal_mask

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>One</title><link rel="icon" href="data:,"><link rel="stylesheet" href="explorables.css">
<script type="module" src="host.js"></script><main>{}</main><p style="height: 2000px">The rest.</p></html>"""
NEXT_FRAME = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
PRESSED = "() => [...document.querySelectorAll('[role=grid] tbody tr')].map(line => [...line.querySelectorAll('button')].map(e => e.ariaPressed === 'true'))"
FOCUSED = "() => document.activeElement.ariaLabel"


@pytest.fixture
def alive(browser, tmp_path):
    """Return a context with an explorable alone on a page."""

    @contextmanager
    def opened(it, **options):
        (tmp_path / "index.html").write_text(PAGE.format(it.to_html()), "utf8")
        for name in ("explorables.css", "core.js", "host.js", *(f"{module}.js" for module in modules())):
            (tmp_path / name).write_text(source(name), "utf8")
        with serving(tmp_path) as address, tab(browser, address, **options) as page:
            page.goto("index.html")
            page.locator(".ex-alive").wait_for()
            settle(page)
            yield page
            assert page.faults == []

    return opened


def numbers(page, caption):
    """Return a table's numbers, by the start of its caption."""
    page.evaluate(NEXT_FRAME)
    table = page.locator(".ex table").filter(has=page.locator("caption", has_text=re.compile(f"^{caption}")))
    rows = [line.locator("td").all_inner_texts() for line in table.locator("tbody tr").all() if line.is_visible()]
    return np.array([[float(text.replace("−", "-")) for text in row] for row in rows])


def words(page):
    page.evaluate(NEXT_FRAME)
    return " ".join(page.locator(".ex p").all_inner_texts())


# ---------------------------------------------------------------------------------------------------------------
# The mask painter


def cell(page, i, j):
    return page.get_by_role("button", name=f"query {i}, key {j}, may attend", exact=True)


def pressed(page):
    page.evaluate(NEXT_FRAME)
    return page.evaluate(PRESSED)


def test_the_mask_is_a_grid_with_one_tab_stop_arrow_keys_and_space(alive):
    with alive(MaskPainter()) as page:
        grid = page.get_by_role("grid")
        assert grid.get_by_role("button").count() == 25 and grid.locator("button[tabindex='0']").count() == 1
        cell(page, 1, 1).focus()
        for key, name in [("ArrowRight", "1, key 2"), ("ArrowDown", "2, key 2"), ("ArrowUp", "1, key 2"), ("ArrowUp", "1, key 2"),
                          ("End", "1, key 5"), ("Home", "1, key 1"), ("ArrowLeft", "1, key 1"), ("Control+End", "5, key 5"), ("Control+Home", "1, key 1")]:  # fmt: skip
            page.keyboard.press(key)
            assert page.evaluate(FOCUSED) == f"query {name}, may attend", key
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
        meant = causal_mask(5)
        meant[0, 1] = True
        assert pressed(page) == meant.tolist()
        assert page.evaluate(FOCUSED) == "query 1, key 2, may attend"
        assert grid.locator("button[tabindex='0']").get_attribute("aria-label") == "query 1, key 2, may attend"
        page.keyboard.press("Tab")
        assert not page.evaluate("document.activeElement.closest('[role=grid]') !== null")


def test_a_mouse_paints_what_it_is_drawn_over_and_a_click_after_it_is_one_click(alive):
    with alive(MaskPainter()) as page:
        places = [cell(page, 4, j).bounding_box() for j in (1, 2, 3)]
        middles = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in places]
        page.mouse.move(*middles[0])
        page.mouse.down()
        for middle in (*middles, middles[0]):  # there and back
            page.mouse.move(*middle, steps=3)
        page.mouse.up()
        meant = causal_mask(5)
        meant[3, :3] = False
        assert pressed(page) == meant.tolist()
        for _ in range(2):
            meant[3, 1] ^= True
            cell(page, 4, 2).click()
            assert pressed(page) == meant.tolist()
        page.mouse.move(*middles[0])
        page.mouse.down()
        page.mouse.move(*middles[1], steps=3)
        page.mouse.move(5, 5, steps=3)
        page.mouse.up()  # let go outside
        meant[3, :2] = True
        assert pressed(page) == meant.tolist()
        cell(page, 4, 3).press("Enter")
        meant[3, 2] ^= True
        assert pressed(page) == meant.tolist()


def test_a_finger_that_swipes_over_the_mask_scrolls_and_paints_nothing(alive):
    with alive(MaskPainter(), viewport=PHONE, has_touch=True, is_mobile=True) as page:
        cell(page, 5, 5).scroll_into_view_if_needed()
        box, above, before = cell(page, 5, 2).bounding_box(), page.evaluate("scrollY"), pressed(page)
        session = page.context.new_cdp_session(page)
        for kind, k in [("touchStart", 0), *(("touchMove", k) for k in range(1, 12)), ("touchEnd", None)]:
            points = [] if k is None else [{"x": box["x"] + 20, "y": box["y"] + 20 - 15 * k}]
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_function("above => scrollY > above + 50", arg=above)
        assert pressed(page) == before
        for i, j in ((3, 3), (2, 1)):
            cell(page, i, j).tap()
            before[i - 1][j - 1] ^= True
            assert pressed(page) == before


@pytest.mark.parametrize("queries, rows", [("all", [1, 2, 3, 4, 5]), ("last", [3, 4, 5]), ("first", [1, 2, 3])])
def test_the_chosen_mask_is_the_library_s_and_only_the_queries_there_are_shown(alive, queries, rows):
    it = MaskPainter(queries=queries)
    with alive(it) as page:
        masks = page.get_by_role("group", name="Mask", exact=True)
        names = masks.locator("label").all_inner_texts()
        assert len(names) == len(it.presets) - (queries == "all")
        meant = [mask for k, mask in enumerate(it.presets) if not (queries == "all" and k == 1)]
        for name, mask in zip(names, meant, strict=True):
            masks.get_by_role("radio", name=name, exact=True).click()
            assert pressed(page) == mask.tolist(), name
            assert masks.get_by_role("radio", name=name, exact=True).is_checked()
        heads = page.get_by_role("grid").locator("tbody th").all_inner_texts()
        assert heads == [f"q{'₀₁₂₃₄₅'[row]}" for row in rows]


LEFT = (causal_mask(5) & (np.arange(5) >= 2)).tolist()
LAST, FIRST = (np.zeros((5, 5), bool) for _ in range(2))
LAST[2:], FIRST[:3] = causal_mask(3, 5, align="top-left"), causal_mask(3, 5)


@pytest.mark.parametrize(
    "state, warnings, said",
    [
        ({}, 1, "Leak: 10 of 10 hidden places take weight. q₁ may not see k₂, and gives it 0.15."),
        ({"fill": "-inf"}, 0, "No hidden key takes weight."),
        ({"fill": "-1e9"}, 0, "Every row sums to 1."),
        ({"fill": "after"}, 1, "The weights of q₁ sum to 0.15: the hidden keys took their part first."),
        ({"fill": "-1e9", "allowed": LEFT}, 2, "Leak: 10 of 19 hidden places take weight. q₁ may not see k₁, and gives it 0.20."),
        ({"fill": "-1e9", "allowed": LEFT}, 2, "q₁ may see nothing, and attends evenly to hidden keys."),
        ({"fill": "-inf", "allowed": LEFT}, 0, "q₁ may see nothing, and gets zeros, where a plain softmax has 0/0, NaN. All other rows sum to 1."),
        ({"fill": "-inf", "queries": "last", "allowed": LAST.tolist()}, 1, "The past is lost: q₃ does not see k₂ and k₃."),
        ({"fill": "-inf", "queries": "first", "allowed": FIRST.tolist()}, 1, "The future leaks: q₁ sees k₂ and k₃, later than itself."),
        ({"fill": "-inf", "allowed": [[True] * 5] * 5}, 0, "Not causal: q₁ sees k₂, k₃, k₄ and k₅, later than itself."),
        ({"fill": "-inf", "queries": "first"}, 0, "No query sees a key that comes later."),
    ],
)  # fmt: skip
def test_it_says_in_words_who_reads_what_is_hidden(alive, state, warnings, said):
    it = MaskPainter(**state)
    with alive(it) as page:
        assert said in words(page)
        assert words(page).count("✗") == page.locator(".ex-wrong").count() == warnings
        shown = numbers(page, "Weights")
        assert np.abs(shown - np.column_stack([it.weights, it.sums])).max() < 0.0051
        assert page.locator("td.ex-leak").count() == (it.leaks > 0).sum() + (it.fill == "after") * (it.sums < 1 - 1e-9).sum()


# ---------------------------------------------------------------------------------------------------------------
# Two questions


def test_all_queries_go_with_the_one_that_is_dragged_and_no_key(alive):
    with alive(TwoQuestions()) as page:
        places = {name: page.get_by_role("slider", name=name).bounding_box() for name in ("Query q2", "Query q4", "Key k2")}
        box = places["Query q2"]
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 30, y + 50, steps=5)
        page.mouse.up()
        page.evaluate(NEXT_FRAME)
        moved = {name: page.get_by_role("slider", name=name).bounding_box() for name in places}
        assert abs(moved["Query q2"]["x"] - box["x"] - 30) < 3 and abs(moved["Query q2"]["y"] - box["y"] - 50) < 3
        assert moved["Query q4"] != places["Query q4"] and moved["Key k2"] == places["Key k2"]
        assert page.get_by_role("radio", name="x₂").is_checked()


def test_turning_both_changes_both_and_nothing_that_follows(alive):
    with alive(TwoQuestions()) as page:
        before = [numbers(page, name) for name in ("Wq$", "Wk$", "WqWk", "Scores", "Weights")]
        assert np.allclose(before[3], TwoQuestions().scores, atol=0.0051)
        page.get_by_role("button", name="Turn both by 30°").click()
        after = [numbers(page, name) for name in ("Wq$", "Wk$", "WqWk", "Scores", "Weights")]
        assert [np.array_equal(*each) for each in zip(before, after, strict=True)] == [False, False, True, True, True]


@pytest.mark.parametrize(
    "angle, said, attends",
    [
        ("0°", "S is its own mirror image", [1, 2, 3, 4]),
        ("90°", "Nobody scores itself", [2, 3, 4, 1]),
        ("180°", "S is its own mirror image", [3, 4, 1, 2]),
        ("−90°", "Nobody scores itself", [4, 1, 2, 3]),
    ],
)
def test_the_turn_between_them_says_who_attends_to_whom(alive, angle, said, attends):
    with alive(TwoQuestions(turn_k=45)) as page:
        assert "S is not its own mirror image." in words(page)
        page.get_by_role("button", name=angle, exact=True).click()
        assert said in words(page)
        assert (numbers(page, "Weights").argmax(axis=1) + 1).tolist() == attends
        page.wait_for_function("said => document.querySelector('[aria-live]').textContent.includes(said)", arg=f"x₄ to x{'₀₁₂₃₄'[attends[3]]}.")
