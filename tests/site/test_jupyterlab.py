"""The explorables in a real JupyterLab on this machine: what is dragged, Python reads; what Python sets, moves."""

import json
import os
import re
import subprocess
import sys
import time
from html import unescape

import nbformat
import notebooks
import pytest
import traitlets
from browsing import CHROMIUM, ONLY_COLOURS, barriers, tab
from explorable_rows import ROWS, states_of

from attention_lib import explorables

OPTIONS = {
    "ServerApp.ip": "127.0.0.1",
    "ServerApp.port": "0",
    "ServerApp.open_browser": "False",
    "ServerApp.allow_root": "True",
    "IdentityProvider.token": "",
    "LabApp.expose_app_in_browser": "True",
    "LabApp.extension_manager": "readonly",
}
NO_NEWS = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}  # nothing is asked of another host
OF_LAB = "shared (singleton )?module @jupyterlab/"  # a warning of the widgets' own extension, which likes a newer Lab
CELLS = ["from attention_lib.explorables import {0}\n\nit = {0}()\nit", "", "it"]  # of each explorable
SHOW, ASK, AGAIN = range(3)
POWERS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")

# The first control of each kind that Tab reaches, by its place among all.
KINDS = """ex => {
    const all = [...ex.querySelectorAll("*")], first = {};
    all.forEach((e, place) => {
        if (e.tabIndex < 0 || e.textContent === "Reset" || e.type === "radio" && !e.checked) return;
        first[e.getAttribute("role") ?? e.type] ??= place;
    });
    return first;
}"""
# All that is drawn and written, without what is only heard; and what the controls say of themselves.
SEEN = """ex => {
    const says = e => e.ariaValueText ?? (e.matches("[type=radio], [type=checkbox]") ? String(e.checked) : e.value);
    const controls = [...ex.querySelectorAll("output, input, [role=slider]")].map(says), copy = ex.cloneNode(true);
    copy.querySelectorAll(".ex-heard, output, [role=slider]").forEach(e => e.remove());
    const own = ["id", "for", "name", "tabindex", "data-lm-suppress-shortcuts"], sorted = list => [...list].sort().join(" ");
    const kept = e => [...e.attributes].filter(a => !own.includes(a.name) && !(a.name === "class" && !a.value));
    const drawn = e => e.tagName + " " + sorted(kept(e).map(a => a.name + "=" + sorted(a.value.split(" "))));
    return [[...copy.querySelectorAll("*")].map(drawn), copy.textContent, controls];
}"""
TEXTS = """ex => [...ex.querySelectorAll("td, p, text, output, input")].map(e => e.value ?? e.textContent).join("\\n")"""
# What is wider than the room that it has.
TOO_WIDE = """ex => {
    const room = ex.closest(".jp-OutputArea-output"), { right } = ex.getBoundingClientRect();
    const parts = [...ex.querySelectorAll("*")].filter(e => !e.closest(".ex-heard, svg *"));
    const out = parts.filter(e => e.getBoundingClientRect().right > right);
    return [ex, room].filter(e => e.scrollWidth > e.clientWidth).concat(out).map(e => e.outerHTML.slice(0, 120));
}"""
# Which elements change their look when the style sheet of one explorable comes after all others.
RESTYLED = """() => {
    const names = ["display", "padding", "margin", "gap", "width", "height", "background", "color", "borderRadius"];
    const all = [...document.querySelectorAll(".ex, .ex *")], sheets = [...document.querySelectorAll("style")];
    const looks = () => all.map(e => names.map(name => getComputedStyle(e)[name]).join()), before = looks();
    const ours = sheets.filter(sheet => sheet.textContent.includes(".ex-"));
    return [ours.length, ours.flatMap(sheet => {
        document.head.append(sheet);
        const after = looks();
        return all.filter((e, i) => before[i] !== after[i]).map(e => e.outerHTML.slice(0, 120));
    })];
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Start JupyterLab in a folder with one notebook, stored as the chapters are; return it and its folder."""
    if not CHROMIUM:
        pytest.skip("no Chromium found, so this check of the explorables in JupyterLab was not run")
    folder = tmp_path_factory.mktemp("jupyterlab")
    config = folder / "home" / "jupyter_config_dir" / "labconfig"
    config.mkdir(parents=True)
    (config / "page_config.json").write_text(json.dumps(NO_NEWS), "utf8")
    cells = []
    for it in (explorables.load(module)() for module in ROWS):
        new = [nbformat.v4.new_code_cell(source.format(type(it).__name__)) for source in CELLS]
        data = {"text/plain": repr(it), "text/html": it.to_html()}
        new[SHOW].outputs = [nbformat.v4.new_output("execute_result", data=data, execution_count=1)]
        cells += new
    (folder / "try.ipynb").write_text(notebooks.text_of(notebooks.normalise(nbformat.v4.new_notebook(cells=cells))), "utf8")
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    env = os.environ | {place: str(folder / "home" / place.lower()) for place in places} | {"JUPYTER_PREFER_ENV_PATH": "1"}
    command = [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in OPTIONS.items())]
    with open(folder / "home" / "log.txt", "w") as log:
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
        try:
            yield process, folder / "home"
        finally:
            process.terminate()
            process.wait(20)


def address_of(process, home):
    """Wait until the server has written down where it is."""
    until = time.monotonic() + 40
    while time.monotonic() < until and process.poll() is None:
        for path in home.glob("jupyter_runtime_dir/jpserver-*.json"):
            try:
                return json.loads(path.read_text("utf8"))["url"]
            except ValueError:  # it is being written
                pass
        time.sleep(0.1)
    pytest.fail(f"JupyterLab does not start:\n{(home / 'log.txt').read_text('utf8')[-2000:]}", pytrace=False)


class Lab:
    """The notebook, open in JupyterLab: for each explorable a cell that shows it, one to ask, one that shows it again."""

    def __init__(self, page):
        self.page = page
        page.goto("lab/tree/try.ipynb")
        page.wait_for_function("() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'")

    def place(self, module, which):
        return [*ROWS].index(module) * len(CELLS) + which

    def cell(self, module, which):
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(self.place(module, which))

    def run(self, module, which, source=None):
        """Run a cell, with another source if one is given, and return what it printed."""
        self.page.evaluate(
            """async ([place, source]) => {
                const { content } = jupyterapp.shell.currentWidget;
                content.activeCellIndex = place;
                if (source !== null) content.activeCell.model.sharedModel.setSource(source);
                await jupyterapp.commands.execute("notebook:run-cell");
            }""",
            [self.place(module, which), source],
        )
        return self.cell(module, which).locator(".jp-OutputArea").text_content()

    def show(self, module):
        """Run the cells that show a new one, twice; return both as they stand in the page."""
        self.run(module, SHOW)
        self.run(module, AGAIN)
        both = [self.cell(module, which).locator(".ex") for which in (SHOW, AGAIN)]
        for ex in both:
            ex.wait_for()
        return both

    def python(self, module):
        """Return what Python has: the traits, and the numbers in its tables."""
        said = self.run(module, ASK, "print(it.to_html())")
        return json.loads(unescape(re.search('data-state="(.*?)"', said)[1])), re.findall("<td>(.*?)</td>", said)

    def until(self, test, *arguments):
        """Wait for what comes soon, and return it: to the kernel, or to the next picture."""
        until = time.monotonic() + 5
        while not (found := test(*arguments)) and time.monotonic() < until:
            self.page.wait_for_timeout(20)
        return found

    def notebook(self):
        """Return what shortcuts would have changed: the kinds of the cells, which is active, and the mode."""
        return self.page.evaluate("""() => { const it = jupyterapp.shell.currentWidget.content;
            return [it.widgets.map(cell => cell.model.type).join(), it.activeCellIndex, it.mode]; }""")


@pytest.fixture(scope="module")
def lab(server, browser):
    with tab(browser, address_of(*server), {"width": 1280, "height": 2000}) as page:
        page.set_default_timeout(40_000)
        lab = Lab(page)
        page.set_default_timeout(5000)
        yield lab
        assert [fault for fault in page.faults if not re.search(OF_LAB, fault)] == []


@pytest.fixture(params=ROWS)
def module(request):
    return request.param


def numbers(text):
    """Return the numbers in a text, and how many places each has: 1.5·10⁻³ is 0.0015, with 4."""
    found = re.findall(r"([−-]?\d[\d,]*(?:\.(\d+))?)(?:·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", text)
    powers = [int(power.translate(POWERS) or 0) for _, _, power in found]
    return [
        (float(digits.replace("−", "-").replace(",", "")) * 10**power, len(places) - power)
        for (digits, places, _), power in zip(found, powers, strict=True)
    ]


def stands_in(cells, ex):
    """Whether the numbers of Python's tables stand in the picture, where two may be rounded more or be a dot."""
    shown = [number for number, _ in numbers(ex.evaluate(TEXTS))]
    wanted = [number for cell in cells for number in numbers(cell)]
    found = [any(abs(each - number) < 1.01 * 10**-places for each in shown) for number, places in wanted]
    return len(found) - 2 <= sum(found) > 0


def press(keyboard, kind):
    if kind == "number":
        keyboard.press("ControlOrMeta+a")
        keyboard.type("-1.5")  # 1 would make the cell a heading
        keyboard.press("Enter")
    else:
        keyboard.press({"checkbox": "Space", "button": "Enter"}.get(kind, "ArrowRight"))
    keyboard.press("m")  # would make the cell a text


def drag(page, control):
    box = control.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 30, steps=3)
    page.mouse.up()


def test_before_it_runs_the_tables_stand_there(lab, module):
    stored = lab.cell(module, SHOW).locator(".jp-OutputArea")
    assert stored.locator("table").first.is_visible() and stored.locator("input, button").count() == 0


def test_python_reads_what_the_reader_did(lab, module):
    first, second = lab.show(module)
    assert lab.cell(module, SHOW).locator(".ex-still").count() == 0
    state, cells = lab.python(module)
    assert state == explorables.load(module)().state() and stands_in(cells, first)

    def moved():
        now, cells = lab.python(module)
        alike = first.evaluate(SEEN) == second.evaluate(SEEN)
        return alike and now != state and stands_in(cells, first) and now

    for kind, place in first.evaluate(KINDS).items():
        first.locator("*").nth(place).focus()
        before = lab.notebook()
        press(lab.page.keyboard, kind)
        assert first.evaluate("ex => ex.contains(document.activeElement)"), f"{kind} has lost the focus"
        assert lab.notebook() == before
        now = lab.until(moved)
        assert now, f"{kind}: Python still has {state}"
        state = now

    for control in first.locator("[role=slider], [type=range], td button").all()[:1]:
        drag(lab.page, control)
        assert lab.until(moved), f"dragged, and Python still has {state}"

    assert lab.page.evaluate("jupyterapp.shell.currentWidget.context.model.dirty")
    first.locator("*").nth(place).focus()
    lab.page.keyboard.press("Control+s")
    lab.page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")


def others(it, module, name):
    """Set a trait to other values, one after another, and return each: of its row, of its kind, or near."""
    trait, now = it.traits()[name], getattr(it, name)
    near = [not now] if isinstance(now, bool) else [now + 1, now - 1] if isinstance(now, (int, float)) else []
    for value in [*getattr(trait, "values", []), *near, *(state[name] for state in states_of(module))]:
        if value != getattr(it, name):
            try:
                setattr(it, name, value)
            except traitlets.TraitError:  # it would not fit the others
                continue
            yield value


def test_what_python_sets_moves_the_picture_wherever_it_is_shown(lab, module):
    first, second = lab.show(module)
    it = explorables.load(module)()

    def moves(name):
        was, value = first.evaluate(SEEN)[:2], next(others(it, module, name))
        lab.run(module, ASK, f"it.{name} = {value!r}")
        return lab.until(lambda: was != first.evaluate(SEEN)[:2] and first.evaluate(SEEN) == second.evaluate(SEEN))

    still = [name for name in it.inputs() if not moves(name)]
    assert [name for name in still if not moves(name)] == []  # one that shows with others alone, as a temperature may

    far = states_of(module)[-1]
    lab.run(module, ASK, f"it.set_state({far!r})")
    state, cells = lab.python(module)
    assert state == far and lab.until(stands_in, cells, first)

    gone = second.element_handle()
    lab.run(module, AGAIN)
    lab.until(lambda: first.evaluate(SEEN) == second.evaluate(SEEN))
    assert first.evaluate(SEEN) == second.evaluate(SEEN), "drawn anew it is another picture"
    last = gone.evaluate(SEEN)
    first.get_by_role("button", name="Reset").click()
    assert lab.until(lambda: lab.python(module)[0] == explorables.load(module)().state())
    assert gone.evaluate(SEEN) == last, "what is gone from the page still follows"


@pytest.fixture(scope="module")
def everything(lab):
    """Show each explorable once, all in sight: axe looks at nothing else, nor in a body of no height, as Lab's is."""
    lab.page.evaluate("jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    for module in ROWS:
        lab.run(module, SHOW)
    lab.page.set_viewport_size({"width": 1280, "height": 1500 * len(ROWS)})
    lab.page.evaluate("document.body.style.height = '100vh'")
    all_of_them = lab.page.locator(".ex")
    lab.until(lambda: all_of_them.count() == len(ROWS))
    lab.page.locator(".jp-WindowedPanel-outer").evaluate("e => e.scrollTo(0, 0)")
    return all_of_them


@pytest.mark.parametrize("theme, rules", [("JupyterLab Light", {}), ("JupyterLab Dark", ONLY_COLOURS)])
def test_axe_finds_no_barrier_in_them(lab, everything, theme, rules):
    lab.page.evaluate("theme => jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
    lab.page.wait_for_function("light => document.body.dataset.jpThemeLight === light", arg=str("Light" in theme).lower())
    lab.page.wait_for_timeout(100)
    assert barriers(lab.page, rules, ".ex") == []


def test_axe_finds_a_faint_text(lab, everything):
    faint = "e => e.querySelectorAll('.ex-head button').forEach(button => { button.style.color = '#777c'; })"
    lab.page.locator("body").evaluate(faint)
    (found,) = barriers(lab.page, ONLY_COLOURS, ".ex-head")
    assert found.startswith(f"color-contrast x{len(ROWS)}: ")


def test_the_style_of_one_leaves_the_others_alone(lab, everything):
    sheets, restyled = lab.page.evaluate(RESTYLED)
    assert sheets >= len(ROWS) and restyled == []


@pytest.mark.parametrize("width", [1280, 600])
def test_there_is_room_for_them(lab, everything, width):
    lab.page.set_viewport_size({"width": width, "height": 2000})
    for ex in everything.all():
        lab.until(lambda ex=ex: ex.evaluate(TOO_WIDE) == [])
        assert ex.evaluate(TOO_WIDE) == []
        if width > 1000:  # in Lab's font, which is wider than ours
            assert ex.evaluate("ex => [...ex.querySelectorAll('.ex-slider label')].filter(e => e.offsetHeight > 30)") == []
