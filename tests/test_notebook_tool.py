"""tools/notebooks.py: what it stores depends on the sources alone, and a failure leaves the file as it was."""

import json

import nbformat
import notebooks
import pytest

SOURCES = [
    "import sys\nprint('out')\nsys.stdout.flush()\nprint('again')",
    "import matplotlib.pyplot as plt\nfrom attention_lib import plotting\nplotting.use_book_style()",
    "plt.plot([1, 2])\nplt.show()",
    "{'b': 1, 'a': 2}",
]


def write(path, sources, **metadata):
    """Write a notebook as an editor might leave it."""
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{n}") for n, source in enumerate(sources)]
    cells.insert(0, nbformat.v4.new_markdown_cell("# Title  \n\nText.\n\n", id="title"))
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
    return path


@pytest.fixture
def chapters(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "CHAPTERS", tmp_path)
    return tmp_path


def test_a_second_run_changes_no_byte(chapters, capsys):
    path = write(chapters / "01-a.ipynb", SOURCES)
    notebooks.main([])
    first = path.read_bytes()
    assert "01-a.ipynb changed" in capsys.readouterr().out
    notebooks.main(["01"])
    assert path.read_bytes() == first
    assert "01-a.ipynb as it was" in capsys.readouterr().out


def test_a_run_stores_outputs_and_counts(chapters):
    path = write(chapters / "01-a.ipynb", SOURCES)
    assert notebooks.update(path)
    cells = nbformat.read(path, as_version=4).cells
    assert [cell.execution_count for cell in cells[1:]] == [1, 2, 3, 4]
    assert [output.text for output in cells[1].outputs] == ["out\nagain\n"]
    assert "image/svg+xml" in cells[3].outputs[0].data
    assert cells[0].source == "# Title\n\nText."


def test_of_a_control_only_what_needs_no_kernel_is_stored(chapters):
    sources = ["from attention_lib.explorables import AttentionPlane\nAttentionPlane()", "import ipywidgets\nipywidgets.IntSlider()"]
    path = write(chapters / "01-a.ipynb", sources)
    notebooks.update(path)
    first = path.read_bytes()
    _, explorable, bare = nbformat.read(path, as_version=4).cells
    assert set(explorable.outputs[0].data) == {"text/plain", "text/html"}
    assert set(bare.outputs[0].data) == {"text/plain", "application/vnd.jupyter.widget-view+json"}  # for the guards to refuse
    notebooks.update(path, execute=False)
    assert path.read_bytes() == first and b'"widgets"' not in first


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import os\nos._exit(1)", "Kernel died"),
        ("import time\ntime.sleep(60)", "2 seconds"),
    ],
)
def test_a_failing_cell_leaves_the_file_and_runs_the_others(chapters, capsys, monkeypatch, source, words):
    monkeypatch.setattr(notebooks, "TIMEOUT", 2)
    bad, fine = write(chapters / "01-a.ipynb", ["x = 1", source]), write(chapters / "02-b.ipynb", ["1"])
    before = bad.read_bytes()
    with pytest.raises(SystemExit) as stopped:
        notebooks.main([])
    assert "make run" in str(stopped.value)
    assert words in capsys.readouterr().out
    assert bad.read_bytes() == before
    assert nbformat.read(fine, as_version=4).cells[1].execution_count == 1
    assert {path.name for path in chapters.iterdir()} == {"01-a.ipynb", "02-b.ipynb"}


def test_what_an_editor_adds_goes(chapters):
    path = write(
        chapters / "01-a.ipynb", ["1"], widgets={"state": {}}, language_info={"name": "python", "version": "3.9"}
    )
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].metadata = {
        "execution": {"iopub.status.busy": "2026"},
        "collapsed": True,
        "tags": ["hide-input"],
        "vscode": {"x": 1},
    }
    notebook.metadata.myst = {"html_meta": {"description": "About."}}
    nbformat.write(notebook, path)
    assert notebooks.update(path, execute=False)
    stored = json.loads(path.read_text("utf8"))
    assert stored["cells"][1]["metadata"] == {"tags": ["hide-input"]}
    assert stored["metadata"] == notebooks.METADATA | {"myst": {"html_meta": {"description": "About."}}}
    assert not notebooks.update(path, execute=False)


def test_normal_form_keeps_what_readers_see():
    metadata = {"mystnb": {"image": {"alt": "A dot."}}, "jupyter": {"source_hidden": True}, "tags": ["solution"]}
    cell = nbformat.v4.new_code_cell(
        "1", metadata=metadata, outputs=[nbformat.v4.new_output("stream", text="1")], execution_count=1
    )
    notebook = notebooks.normalise(nbformat.v4.new_notebook(cells=[cell]))
    assert notebook.cells[0].metadata == metadata
    assert notebook.cells[0].outputs[0].text == "1"
    assert notebook.cells[0].execution_count == 1


def test_streams_are_joined_by_name_only():
    stream = nbformat.v4.new_output
    outputs = [
        stream("stream", text="a"),
        stream("stream", text="b"),
        stream("stream", name="stderr", text="c"),
        stream("stream", text="d"),
    ]
    assert [(output.name, output.text) for output in notebooks.merge_streams(outputs)] == [
        ("stdout", "ab"),
        ("stderr", "c"),
        ("stdout", "d"),
    ]


def test_a_write_that_stops_leaves_the_file(tmp_path, monkeypatch):
    path = tmp_path / "01-a.ipynb"
    path.write_text("old", "utf8")
    monkeypatch.setattr(notebooks.os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        notebooks.store(path, "new")
    assert path.read_text("utf8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_chapter_that_is_not_there(chapters):
    write(chapters / "01-a.ipynb", [])
    with pytest.raises(SystemExit, match="no chapter starts with '07'; there are: 01-a"):
        notebooks.find("07")
