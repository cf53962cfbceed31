"""The explorables in a real JupyterLab on this machine: what is dragged, Python reads; what Python sets, moves."""

import json
import os
import subprocess
import sys
import time

import nbformat
import notebooks
import pytest
from browsing import CHROMIUM, barriers, tab

from attention_lib.explorables import AttentionPlane

CELLS = [
    "from attention_lib.explorables import AttentionPlane\n\nplane = AttentionPlane()\nplane",
    "print(*plane.points[0], *plane.scores.round(2).ravel())",
    "plane.points = [[3, 0], [0, 2], [-1, -1]]\nplane.query = 3",
    "plane",
    "plane.shows, plane.temperature = 'outputs', 4",
]
OPTIONS = {
    "ServerApp.ip": "127.0.0.1",
    "ServerApp.port": "0",
    "ServerApp.open_browser": "False",
    "ServerApp.allow_root": "True",
    "IdentityProvider.token": "",
    "LabApp.expose_app_in_browser": "True",
    "LabApp.extension_manager": "readonly",
    "LabApp.news_url": "None",  # nothing is asked of another host
    "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
}


@pytest.fixture(scope="module")
def jupyterlab(tmp_path_factory):
    """Start JupyterLab in a folder with one notebook, stored as the chapters are; return its address."""
    if not CHROMIUM:
        pytest.skip("no Chromium found, so this check of the explorables in JupyterLab was not run")
    folder = tmp_path_factory.mktemp("jupyterlab")
    (folder / "home" / "settings").mkdir(parents=True)
    it = AttentionPlane()
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    data = {"text/plain": repr(it), "text/html": it.to_html()}
    cells[0].outputs = [nbformat.v4.new_output("execute_result", data=data, execution_count=1)]
    (folder / "try.ipynb").write_text(notebooks.text_of(notebooks.normalise(nbformat.v4.new_notebook(cells=cells))), "utf8")
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    env = os.environ | {place: str(folder / "home" / place.lower()) for place in places} | {"JUPYTER_PREFER_ENV_PATH": "1"}
    command = [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in OPTIONS.items())]
    with open(folder / "home" / "log.txt", "w") as log:
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
        try:
            yield address_of(server, folder / "home")
        finally:
            server.terminate()
            server.wait(20)


def address_of(server, home):
    """Wait until the server has written down where it is."""
    until = time.monotonic() + 40
    while time.monotonic() < until and server.poll() is None:
        for path in home.glob("jupyter_runtime_dir/jpserver-*.json"):
            try:
                return json.loads(path.read_text("utf8"))["url"]
            except ValueError:  # it is being written
                pass
        time.sleep(0.1)
    pytest.fail(f"JupyterLab does not start:\n{(home / 'log.txt').read_text('utf8')[-2000:]}", pytrace=False)


class Lab:
    """A notebook that is open in JupyterLab."""

    def __init__(self, page):
        self.page = page
        page.goto("lab/tree/try.ipynb")
        page.wait_for_function("() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'")

    def run(self, *numbers):
        """Run cells, wait for the last, and return what it printed."""
        for number in numbers:
            self.page.evaluate(
                """async number => {
                    const { content, sessionContext } = jupyterapp.shell.currentWidget;
                    content.activeCellIndex = number;
                    await jupyterapp.commands.execute("notebook:run-cell");
                }""",
                number,
            )
        return self.cell(numbers[-1]).locator(".jp-OutputArea").inner_text()

    def cell(self, number):
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(number)

    def kinds(self):
        """Return what shortcuts would have changed: how many cells, of which kind, which is active, in which mode."""
        return self.page.evaluate("""() => { const it = jupyterapp.shell.currentWidget.content;
            return [it.widgets.map(cell => cell.model.type).join(), it.activeCellIndex, it.mode]; }""")


@pytest.fixture(scope="module")
def lab(browser, jupyterlab):
    with tab(browser, jupyterlab, {"width": 1280, "height": 1600}) as page:
        page.set_default_timeout(40_000)
        yield Lab(page)
        ours = [fault for fault in page.faults if "asked another host" in fault or "xplorable" in fault or "anywidget" in fault]
        assert ours == []


def numbers_in(ex):
    """Return the first token and the scores, as they stand in the explorable."""
    point = [float(box.input_value()) for box in ex.locator(".ex-box").all()[:2]]
    return point + [float(cell.inner_text().replace("−", "-")) for cell in ex.locator("table").first.locator("tbody td").all()]


def test_before_it_runs_the_tables_stand_there(lab):
    stored = lab.cell(0).locator(".jp-OutputArea")
    assert stored.locator("table").first.is_visible() and "17.00" in stored.inner_text()
    assert stored.locator("input").count() == 0


def test_python_reads_what_the_reader_did(lab):
    lab.run(0)
    ex = lab.cell(0).locator(".ex")
    ex.wait_for()
    assert lab.cell(0).locator(".ex-still").count() == 0
    dot = ex.get_by_role("slider", name="Token x1")

    def agrees():
        lab.page.wait_for_timeout(150)  # to the kernel
        shown, printed = numbers_in(ex), [float(each) for each in lab.run(1).split()]
        assert printed == pytest.approx(shown, abs=0.005)
        return printed

    start = agrees()
    box = dot.bounding_box()
    lab.page.mouse.move(box["x"] + 14, box["y"] + 14)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] - 40, box["y"] + 60, steps=6)
    lab.page.mouse.up()
    dragged = agrees()
    assert dragged[0] < start[0] and dragged[1] < start[1]

    before = lab.kinds()
    for key in ("ArrowRight", "ArrowUp", "ArrowUp"):  # which Jupyter would take to go to another cell
        dot.press(key)
    kinds = lab.kinds()
    assert kinds[0] == before[0] and kinds[1] in (before[1], 0)
    assert agrees()[:2] == pytest.approx([dragged[0] + 0.1, dragged[1] + 0.2])

    assert lab.page.evaluate("jupyterapp.shell.currentWidget.context.model.dirty")
    dot.press("Control+s")
    lab.page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")

    typed = ex.get_by_role("spinbutton", name="x1, feature 1")
    typed.press("ControlOrMeta+a")
    typed.press_sequentially("-1.5")  # 1 would make the cell a heading
    typed.press("Enter")
    assert agrees()[0] == -1.5
    assert lab.kinds()[0] == before[0]


def test_what_python_sets_moves_the_picture_wherever_it_is_shown(lab):
    lab.run(3)
    first, second = (lab.cell(number).locator(".ex") for number in (0, 3))
    second.wait_for()
    assert numbers_in(first) == numbers_in(second)
    lab.run(2)
    lab.page.wait_for_function("() => [...document.querySelectorAll('.ex [role=slider]')].some(e => e.ariaValueText === 'x 3.00, y 0.00')")
    assert numbers_in(first) == numbers_in(second) == [3, 0, 9, 0, -3, 0, 4, -2, -3, -2, 2]
    assert first.locator("[type=radio]").nth(2).is_checked()
    lab.run(4)
    for ex in (first, second):
        ex.get_by_text("Outputs O").wait_for()
        assert ex.get_by_role("slider", name="Temperature").get_attribute("aria-valuetext") == "4.00"
    first.get_by_role("button", name="Reset").click()
    second.get_by_text("The keys of").wait_for()
    assert numbers_in(first) == numbers_in(second) != [3, 0, 9, 0, -3, 0, 4, -2, -3, -2, 2]


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_axe_finds_no_barrier_in_it(lab, theme):
    lab.page.evaluate("theme => jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
    lab.page.wait_for_function("light => document.body.dataset.jpThemeLight === light", arg=str("Light" in theme).lower())
    lab.page.wait_for_timeout(300)
    assert barriers(lab.page, within=".ex") == []
