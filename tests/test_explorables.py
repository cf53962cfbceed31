"""The explorables without a browser: their JavaScript computes what the library does, and they are whole."""

import gzip
import json
import re
import subprocess
import sys

import numpy as np
import pytest
import quickjs
import traitlets
from explorable_rows import ROWS, differences, states_of

from attention_lib import explorables
from attention_lib.explorables._base import Numbers
from attention_lib.explorables._web import WEB, bundle, files, source, style

BUDGET = 12_000  # bytes, gzipped: all that a page loads for one explorable
NOT_FINITE = '(name, v) => (typeof v === "number" && !Number.isFinite(v) ? String(v) : v)'  # JSON has no NaN


@pytest.fixture(params=explorables.modules())
def module(request):
    return request.param


@pytest.fixture
def explorable(module):
    return explorables.load(module)


def computed(module, form, states):
    """Return what `compute` makes of each state, in QuickJS: from the files of a page, or the one text for Jupyter."""
    context = quickjs.Context()
    if form == "page":
        # QuickJS calls a module that it is given "<input>", and loads none from a disk.
        context.module(source("core.js"))
        text = source(f"{module}.js").replace('from "./core.js"', 'from "<input>"')
    else:
        text = bundle(module)
    context.module(f"{text}\nglobalThis.compute = compute;")
    return json.loads(context.eval(f"[JSON.stringify({json.dumps(states)}.map(compute), {NOT_FINITE})].join('')"))


def test_every_explorable_has_a_row():
    assert sorted(ROWS) == explorables.modules()


@pytest.mark.parametrize("form", ["page", "Jupyter"])
def test_javascript_computes_what_the_library_does(module, form, record_property):
    states = states_of(module)
    assert len(states) >= 200
    worst = differences(module, states, computed(module, form, states))
    assert max(worst.values()) <= 1e-12, worst
    record_property("found", ("states in which JavaScript and the library agree to 1e-12", 2 * len(states)))


def test_what_a_reader_changes_is_what_the_javascript_reads(module, explorable):
    listed = re.search(r"^  inputs: \[(.*)\],$", (WEB / f"{module}.js").read_text("utf8"), re.M)[1]
    assert json.loads(f"[{listed}]") == explorable.inputs()


def test_the_stored_form_says_the_same_without_a_script(module, explorable):
    for arguments in ROWS[module].shown:
        it = explorable(**arguments)
        data, _ = it._repr_mimebundle_()
        assert data["text/plain"] == repr(it) and "0x" not in repr(it) and "np." not in repr(it)
        page = data["text/html"]
        assert page == it.to_html() and page.startswith(f'<div class="explorable" data-module="{module}" ')
        assert re.search(r"<p>[A-Z][^<]{30,}\.</p>", page) and "<td>" in page and "<caption>" in page
        assert "-" not in "".join(re.findall(r"<td>(.*?)</td>", page))  # a real minus
        assert "−0.00<" not in page
        assert all(height > 100 for height in it.height)


def test_a_page_loads_at_most_12_kB_for_an_explorable(module, record_property):
    sent = files()
    names = ["explorables.css", f"{module}.css", "core.js", f"{module}.js", "host.js"]
    weight = sum(len(gzip.compress(sent[name].encode(), 6)) for name in names if name in sent)
    record_property("found", (f"bytes sent for the explorable {module}", weight))
    assert weight <= BUDGET


def test_only_the_core_is_imported_and_nothing_from_elsewhere(module):
    assert re.findall(r'\bfrom "(.*?)"', source(f"{module}.js")) == ["./core.js"]
    for file in WEB.iterdir():
        if file.name.endswith((".js", ".css")):
            text = file.read_text("utf8").replace("http://www.w3.org/2000/svg", "")
            assert not re.search(r"https?:|//\w+\.\w+|\bfetch\b|XMLHttp|WebSocket|url\(|@import", text), file.name


def test_what_is_sent_has_no_comments_and_the_same_code():
    for file in WEB.iterdir():
        if file.name.endswith((".js", ".css")):
            whole = file.read_text("utf8")
            parts = [style(), *map(style, explorables.modules())] if file.name == "explorables.css" else [source(file.name)]
            sent = "".join(parts)
            assert "\n//" not in sent and "\n/*" not in sent and "`\n" not in whole  # no text over several lines
            assert sent.count("{") >= 0.9 * whole.count("{") and len(sent) < len(whole)


def test_a_module_has_its_styles_from_the_shared_part_or_its_own(module):
    sheet = (WEB / "explorables.css").read_text("utf8")
    used = set(re.findall(r"\bex-[\w-]+", source(f"{module}.js"))) & set(re.findall(r"\.(ex-[\w-]+)", sheet))
    assert used - set(re.findall(r"\.(ex-[\w-]+)", style() + style(module))) == set()


def test_the_bundle_imports_nothing_and_exports_the_module_alone(module):
    text = bundle(module)
    assert "import" not in re.findall(r"^\w+", text, re.M)
    assert re.findall(r"^export (default|function \w+)", text, re.M) == ["function compute", "default"]


def test_importing_the_package_is_cheap():
    code = "import sys, attention_lib.explorables; print({'anywidget', 'ipywidgets', 'traitlets'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


def test_an_explorable_is_found_by_its_name(explorable):
    assert getattr(explorables, explorable.__name__) is explorable
    with pytest.raises(AttributeError, match="NoSuchThing"):
        explorables.NoSuchThing  # noqa: B018


@pytest.mark.parametrize("wrong", [[[1, 2]], [[1, 2], [3, 4], [5, "six"]], [[1, 2], [3, 4], [5, np.inf]], 7, None])
def test_a_trait_of_numbers_says_what_it_expected(wrong):
    class Held(traitlets.HasTraits):
        rows = Numbers([[1, 2], [3, 4], [5, 6]], shape=(3, 2))

    with pytest.raises(traitlets.TraitError, match=r"rows is .*, expected finite numbers of shape \(3, 2\)"):
        Held(rows=wrong)
    assert Held(rows=np.eye(3)[:, :2]).rows == [[1, 0], [0, 1], [0, 0]]
    with pytest.raises(traitlets.TraitError, match="points is .*, expected -4 to 4"):
        explorables.AttentionPlane(points=[[4, -4], [0, 4.01], [0, 0]])


def test_no_trait_takes_what_is_no_number(explorable):
    for name in explorable.inputs():
        with pytest.raises(traitlets.TraitError, match=name):
            explorable(**{name: np.nan})


def test_a_wrong_result_is_seen():
    states = states_of("plane")[:3]
    results = computed("plane", "page", states)
    results[1]["weights"][2][0] += 1e-9
    worst = differences("plane", states, results)
    assert 0.9e-9 < worst["weights"] < 1.1e-9 and worst["outputs"] < 1e-12
    for wrong in ("NaN", None):
        results[1]["weights"][2][0] = wrong
        with pytest.raises((AssertionError, TypeError)):
            differences("plane", states, results)
