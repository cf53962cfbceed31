"""Each guard passes a good notebook and refuses a broken one: a guard that cannot fail guards nothing."""

import copy
import re

import guards
import nbformat
import notebooks
import numbers_guard
import pytest

SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}pt" height="200pt" viewBox="0 0 {width} 200">
<text style="font: {size}px 'DejaVu Sans'">0.25</text><text style="font: {size}px 'DejaVu Sans'">0.75</text></svg>"""

OPENING = """\
# Weights

**The question.** What is a weight?

**You will be able to**

- compute one.

**You need** nothing.

**Reading time:** 20 minutes."""

IMPORTS = """\
import numpy as np
from attention_lib import check, plotting
np.set_printoptions(precision=4)
plotting.use_book_style()"""

EXERCISE = """\
```{{exercise}} Write one
:label: ex-write-{n}

*Difficulty 1 of 3, 5 minutes.*
Write it.
```

```{{hint}}
:class: dropdown

Think.
```"""

FIGURE = {
    "image": {"alt": "A row of two weights in boxes, 0.25 on the left and 0.75 on the right."},
    "figure": {"caption": "Each box is a weight, and the two sum to 1.", "name": "fig-weights"},
}


def markdown(source):
    return nbformat.v4.new_markdown_cell(source)


def code(source, text=None, tags=(), svg=None, **metadata):
    cell = nbformat.v4.new_code_cell(source, metadata=metadata | ({"tags": list(tags)} if tags else {}))
    if text:
        cell.outputs = [nbformat.v4.new_output("stream", text=text)]
    if svg:
        data = {"image/svg+xml": svg, "text/plain": "<Figure size 442x200 with 1 Axes>"}
        cell.outputs = [nbformat.v4.new_output("display_data", data=data)]
    return cell


def exercise(n):
    stub = code(
        f"my_answer_{n} = None\n\ncheck.answer_{n}(my_answer_{n})", f"○ answer_{n}: not written yet\n", ["exercise"]
    )
    answer = code(
        f"answer_{n}_solution = 1\n\ncheck.answer_{n}(answer_{n}_solution)",
        f"✓ answer_{n}: all correct\n",
        ["solution"],
        jupyter={"source_hidden": True},
    )
    start = f"```{{solution-start}} ex-write-{n}\n:class: dropdown\n```"
    return [
        markdown(EXERCISE.format(n=n)),
        stub,
        markdown(start),
        markdown("It is the answer."),
        answer,
        markdown("```{solution-end}\n```"),
    ]


def good():
    """Return a small chapter that keeps every rule."""
    cells = [
        markdown(OPENING),
        code(IMPORTS),
        markdown("## Two weights\n\n**Predict first.**\nWhat do 0.25 and 0.75 sum to?\n"),
        code("print(0.25 + 0.75)", "1.0\n"),
        markdown("They sum to 1.\n\n**Predict first.**\nWhat is their ratio?\n"),
        code("print(0.25, 0.75, 0.75 / 0.25)\nassert 0.75 / 0.25 == 3", "0.25 0.75 3.0\n"),
        markdown("The larger is 3 times the smaller."),
        code("fig, ax = plt.subplots()\nplt.show()", svg=SVG.format(width=340, size=11), mystnb=copy.deepcopy(FIGURE)),
        markdown("## What was verified\n\n- The weights 0.25 and 0.75 sum to 1, and the ratio is 3."),
        markdown("## Exercises"),
        *(cell for n in range(1, 5) for cell in exercise(n)),
        markdown(
            "## What to read next\n\nThe next chapter.\n\n"
            "## References\n\n- {cite:t}`vaswani2017attention`, section 3.2.1."
        ),
    ]
    metadata = {
        "myst": {
            "html_meta": {
                "description": "What a weight is, how two weights are computed by hand, and why the two sum to 1."
            }
        }
    }
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=metadata)
    for n, cell in enumerate((cell for cell in cells if cell.cell_type == "code"), 1):
        cell.execution_count = n
    return notebook


NOTEBOOK_GUARDS = [*guards.FOR_CHAPTERS, numbers_guard.unproved_numbers]


@pytest.mark.parametrize("guard", NOTEBOOK_GUARDS, ids=lambda guard: guard.__name__)
def test_a_good_chapter_passes(guard):
    assert guard(good()) == []


def swap(place, old, new):
    """Return a change of one cell's source."""

    def change(notebook):
        assert old in notebook.cells[place].source
        notebook.cells[place].source = notebook.cells[place].source.replace(old, new)

    return change


def output(place, **changes):
    """Return a change of one cell's first output."""
    return lambda notebook: notebook.cells[place].outputs[0].update(changes)


def figure(alt=None, caption=None, name=None, svg=None):
    """Return a change of the figure in cell 7 or its words."""

    def change(notebook):
        cell = notebook.cells[7]
        cell.metadata.mystnb.image.alt = FIGURE["image"]["alt"] if alt is None else alt
        cell.metadata.mystnb.figure.caption = FIGURE["figure"]["caption"] if caption is None else caption
        cell.metadata.mystnb.figure.name = FIGURE["figure"]["name"] if name is None else name
        if svg:
            cell.outputs[0].data["image/svg+xml"] = svg

    return change


def drop(place):
    return lambda notebook: notebook.cells.pop(place)


def empty(place):
    return lambda notebook: notebook.cells[place].update(outputs=[])


def tag(place, *tags):
    return lambda notebook: notebook.cells[place].metadata.update(tags=list(tags))


def stored(place, mime, data):
    new = nbformat.v4.new_output("display_data", data={mime: data})
    return lambda notebook: notebook.cells[place].update(outputs=[new])


ALIVE = """<div class="explorable" data-module="plane" data-state="{}">
<table><tr><td>0.35</td></tr></table></div>"""
TRY = "**Try it.**\nDrag a token.\nNotice that 0.35 changes."


def explored(notebook):
    """Put an explorable, and words before it, where the figure is."""
    notebook.cells[6] = markdown(f"The larger is 3 times the smaller.\n\n{TRY}")
    notebook.cells[7].update(source="AttentionPlane()", metadata={})
    stored(7, "text/html", ALIVE)(notebook)


def test_a_chapter_with_an_explorable_passes():
    notebook = good()
    explored(notebook)
    assert [problem for guard in NOTEBOOK_GUARDS for problem in guard(notebook)] == []
    notebook.cells[6].source = notebook.cells[6].source.replace("0.35", "0.53")
    assert "0.53 is neither printed nor asserted" in numbers_guard.unproved_numbers(notebook)[0]


RAISED = nbformat.v4.new_output("error", ename="ValueError", evalue="no", traceback=[])
# Cells of the good chapter: 1 imports, 3 and 5 print, 7 draws, 8 sums up, 10 to 15 are the first exercise.
BROKEN = {
    guards.ran_from_top_to_bottom: {
        "not run": (
            lambda notebook: notebook.cells[3].update(execution_count=None),
            "cell 3 has execution count None, expected 2",
        ),
        "run twice": (lambda notebook: notebook.cells[3].update(execution_count=7), "cell 3 has execution count 7"),
    },
    guards.shows_what_it_should: {
        "print": (empty(3), "cell 3 has no output"),
        "show": (empty(7), "cell 7 has no output"),
        "expression": (lambda notebook: notebook.cells[1].update(source="x = 1\nx"), "cell 1 has no output"),
        "check": (empty(14), "cell 14 has no output"),
    },
    guards.has_no_error: {
        "traceback": (lambda notebook: notebook.cells[3].outputs.append(RAISED), "cell 3 stores an error"),
        "stderr": (output(3, name="stderr"), "cell 3 stores text on stderr"),
    },
    guards.outputs_are_text_or_svg: {
        "png": (stored(7, "image/png", "iVBO"), "cell 7 stores image/png"),
        "widget": (
            stored(3, "application/vnd.jupyter.widget-view+json", {}),
            "cell 3 stores application/vnd.jupyter.widget",
        ),
        "other HTML": (stored(3, "text/html", "<table></table>"), "cell 3 stores text/html"),
        "unknown explorable": (stored(3, "text/html", ALIVE.replace("plane", "plain")), "cell 3 stores text/html"),
    },
    guards.explorables_are_introduced: {
        "nothing to try": (stored(3, "text/html", ALIVE), "cell 3 has an explorable, and before it no **Try it.**"),
        "nothing to notice": (
            lambda notebook: [explored(notebook), swap(6, "Notice", "See")(notebook)],
            "cell 7 has an explorable, and before it no **Try it.** with a line that begins Notice",
        ),
        "two outputs": (
            lambda notebook: [explored(notebook), notebook.cells[7].outputs.append(notebook.cells[3].outputs[0])],
            "cell 7 has 2 outputs; an explorable stands alone",
        ),
    },
    guards.outputs_are_the_same_everywhere: {
        "address": (output(3, text="<f at 0x7f3a2b1c>"), "a memory address"),
        "path": (output(3, text="/home/me/book"), "a path"),
        "NumPy": (output(3, text="np.float64(0.5)"), "NumPy's name"),
        "minus zero": (output(3, text="[-0.  0.5]"), "a minus zero"),
        "minus zero to 2 decimals": (output(3, text="-0.00"), "a minus zero"),
        "time": (output(3, text="took 3.1 ms"), "a time"),
    },
    guards.tags_are_known: {"misspelt": (tag(7, "hide_input"), "cell 7 has the tag 'hide_input'")},
    guards.code_is_plain: {
        "semicolon": (swap(7, "plt.show()", "plt.show();"), "cell 7, line 2 ends in a semicolon"),
        "nbval": (swap(3, "print", "# NBVAL_SKIP\nprint"), "cell 3, line 1 is not plain Python"),
        "magic": (swap(3, "print", "%time print"), "cell 3, line 1 is not plain Python"),
    },
    guards.cells_are_short: {
        "long": (swap(3, "print", "x = 1\n" * 25 + "print"), "cell 3 has 26 lines"),
        "wide": (swap(3, "print(", "print(" + " " * 90), "cell 3, line 1 has 108 columns"),
        "all": (
            lambda notebook: [cell.update(source="x = 1\n" * 9) for cell in notebook.cells if cell.cell_type == "code"],
            "half of the code cells have 9 lines",
        ),
    },
    guards.figures_have_words: {
        "no alt": (figure(alt=""), "cell 7: the figure's alt text says too little"),
        "short alt": (figure(alt="two weights"), "alt text says too little"),
        "path": (
            figure(alt="The figure at ../_images/d72b.svg, with 0.25 and 0.75 in it, as built"),
            "what the figure shows",
        ),
        "image of": (
            figure(alt="Image of a row of two weights, 0.25 on the left and 0.75 on the right."),
            "what the figure shows",
        ),
        "no caption": (figure(caption=""), "caption says too little"),
        "same": (figure(caption=FIGURE["image"]["alt"]), "repeats the caption"),
        "no name": (figure(name=""), "the figure's name"),
        "two outputs": (
            lambda notebook: notebook.cells[7].outputs.append(nbformat.v4.new_output("stream", text="1")),
            "a figure stands alone",
        ),
        "no show": (swap(7, "plt.show()", "fig"), "without plt.show()"),
        "no figure": (empty(7), "describes a figure and has none"),
    },
    guards.figures_fit_a_phone: {
        "png": (stored(7, "image/png", "iVBO"), "not SVG"),
        "heavy": (figure(svg=SVG.format(width=340, size=11) + " " * 40_000), "more than 40,000"),
        "small text": (figure(svg=SVG.format(width=340, size=8)), "text in the figure is 8.4 pixels"),
        "wide": (figure(svg=SVG.format(width=480, size=11)), "text in the figure is 8.2 pixels"),
        "curves": (figure(svg=re.sub("<text.*</text>", "", SVG.format(width=340, size=11))), "no text"),
    },
    guards.has_the_parts_of_a_chapter: {
        "title": (swap(0, "# Weights", "Weights"), "cell 0 does not begin with the title"),
        "two titles": (swap(6, "The larger", "# More\n\nThe larger"), "more than one title"),
        "question": (swap(0, "**The question.**", "Question:"), "the opening has no **The question.**"),
        "order": (
            swap(
                0,
                "**You need** nothing.\n\n**Reading time:** 20 minutes.",
                "**Reading time:** 20 minutes.\n\n**You need** nothing.",
            ),
            "not in the order",
        ),
        "time": (swap(0, "20 minutes", "a while"), "the opening does not say"),
        "style": (swap(1, "plotting.use_book_style()", ""), "does not have plotting.use_book_style()"),
        "summary": (swap(8, "What was verified", "Summary"), "expected What was verified"),
        "level": (swap(8, "## What", "#### So\n\n## What"), "skips a level"),
        "predictions": (swap(2, "**Predict first.**", "Guess."), "1 cells with **Predict first.**"),
        "references": (swap(-1, "{cite:t}`vaswani2017attention`", "A paper"), "a reference without a {cite}"),
        "description": (lambda notebook: notebook.metadata.pop("myst"), "has 0 characters"),
    },
    guards.exercises_are_whole: {
        "three": (lambda notebook: notebook.cells.__delitem__(slice(-7, -1)), "there are 3 exercises"),
        "label": (swap(10, ":label: ex-write-1\n", ""), "has no :label:"),
        "difficulty": (swap(10, "*Difficulty 1 of 3, 5 minutes.*", "Easy."), "does not say: *Difficulty"),
        "hint": (swap(10, "{hint}", "{note}"), "no folded hint"),
        "open hint": (swap(10, ":class: dropdown", ""), "no folded hint"),
        "stub": (drop(11), "no cell tagged exercise"),
        "stub solved": (output(11, text="✓ answer_1: all correct"), "stores 'not written yet'"),
        "gate": (drop(12), "solution-start and solution-end"),
        "open gate": (swap(12, ":class: dropdown", ""), "is not folded"),
        "other exercise": (swap(12, "ex-write-1", "ex-write-2"), "names another exercise"),
        "words": (drop(13), "no explanation in words"),
        "untagged": (tag(14), "code is tagged solution exactly"),
        "unfolded": (lambda notebook: notebook.cells[14].metadata.pop("jupyter"), "a solution's code is not folded"),
        "other check": (
            swap(14, "check.answer_1", "check.answer_2"),
            "the reader's cell calls ['answer_1'], the solution ['answer_2']",
        ),
        "wrong": (output(14, text="✗ answer_1: it is 2"), "does not store 'all correct'"),
        "names": (swap(14, "_solution", ""), "ends in _solution"),
        "astray": (tag(5, "solution"), "cell 5 is tagged solution before the first exercise"),
    },
}


@pytest.mark.parametrize(
    ("guard", "change", "words"),
    [
        pytest.param(guard, *broken, id=f"{guard.__name__}: {name}")
        for guard, cases in BROKEN.items()
        for name, broken in cases.items()
    ],
)
def test_a_broken_chapter_is_refused(guard, change, words):
    notebook = good()
    change(notebook)
    assert any(words in problem for problem in guard(notebook)), guard(notebook)


def test_every_guard_is_seen_to_fail():
    assert {*BROKEN, numbers_guard.unproved_numbers} == {*NOTEBOOK_GUARDS}


@pytest.mark.parametrize("text", ["-0.5", "[-0.05  0.0625]", "1e-06", "x-0", "640x480", "0.25 of it"])
def test_ordinary_output_passes(text):
    notebook = good()
    output(3, text=text)(notebook)
    assert guards.outputs_are_the_same_everywhere(notebook) == []


def test_a_quiet_call_needs_no_output():
    assert (
        guards.shows_what_it_should(
            nbformat.v4.new_notebook(cells=[code("def f():\n    print(1)\n\nnp.fill_diagonal(x, 0)")])
        )
        == []
    )


def test_normal_form(tmp_path):
    path = tmp_path / "01-weights.ipynb"
    path.write_text(notebooks.text_of(notebooks.normalise(good())), "utf8")
    assert guards.is_normal(path) == []
    path.write_text(path.read_text("utf8").replace('"cell_type": "code",', '"cell_type": "code", ', 1), "utf8")
    assert "not in normal form" in guards.is_normal(path)[0]


# ---------------------------------------------------------------------------------------------------------------
# Prose and the book as a whole


@pytest.mark.parametrize(
    "text",
    [
        "One sentence.\nAnother one.",
        "**Rows.** They are tokens.",
        "- **Rows.** They are tokens.",
        "Softmax, e.g. Over rows, and see Fig. 2 or vs. Others.",
        "| One. Two. | Three. Four. |",
        "```python\nprint('One. Two.')\n```",
        "Write `a. B` or $a. B$ there.",
    ],
)
def test_sentences_that_stand_alone(text):
    assert guards.sentences_stand_alone(text) == []


@pytest.mark.parametrize(
    "text", ["One. Two.", "- One. Two.", "So (*one*). *Two* follows.", "Is it? It is.", "At 0.5. Then 1."]
)
def test_two_sentences_on_a_line(text):
    assert "line 2 has two sentences" in guards.sentences_stand_alone(f"First.\n{text}")[0]


@pytest.mark.parametrize("word", ["simply", "Just", "obviously", "of course", "crucial", "—"])
def test_filler_is_refused(word):
    assert "line 2" in guards.words_are_plain(f"First.\nThis is {word} so.")[0]


def test_code_and_plain_words_are_no_filler():
    assert guards.words_are_plain("```\njust = 1\n```\nAdjust it with `just`, an unjust name.") == []


def test_too_many_formulas():
    assert guards.few_formulas("$x$\n" * 46)
    assert guards.few_formulas("$x$\n" * 40 + "```\n" + "$x$\n" * 9 + "```") == []


def test_a_citation_of_nothing():
    text = "As {cite:t}`known2020` says.\nAnd {cite:p}`known2020, unknown2021`."
    assert guards.citations_exist(text, {"known2020"}) == ["line 2 cites 'unknown2021', which is not in references.bib"]


def test_a_source_that_cannot_be_followed():
    entry = "@article{%s,\n  title = {A},\n  %s = {x}\n}\n"
    assert guards.bibliography_can_be_followed(entry % ("a", "doi") + entry % ("b", "url")) == []
    assert guards.bibliography_can_be_followed(entry % ("a", "note")) == ["a has neither doi nor url"]
    assert guards.bibliography_can_be_followed(entry % ("a", "doi") * 2) == ["a stands twice"]
    assert guards.bibliography_can_be_followed("@book{a,\n  url = {x}}\n")


def test_a_label_given_twice():
    texts = {"one": "$$\nx\n$$ (eq-x)\n\n(place)=\n", "two": ":label: ex-y\n:label: eq-x"}
    assert guards.labels_are_unique(texts) == ["the label eq-x is in one and two"]


def test_contents_that_are_not_complete(tmp_path):
    for name in ("index.md", "chapters/01-a.ipynb", "back/notes.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert guards.contents_are_complete(["chapters/01-a", "back/notes"], tmp_path) == []
    assert guards.contents_are_complete(["chapters/01-a"], tmp_path) == ["back/notes.md is not in _toc.yml"]
    assert "no such file" in guards.contents_are_complete(["chapters/01-a", "back/notes", "back/x"], tmp_path)[0]
    assert "twice" in guards.contents_are_complete(["chapters/01-a", "back/notes", "back/notes"], tmp_path)[0]
    (tmp_path / "chapters/draft.py").touch()
    assert "does not belong there" in guards.contents_are_complete(["chapters/01-a", "back/notes"], tmp_path)[0]
