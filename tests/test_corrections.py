"""What this book corrects: 24 rows, each of which leads to the cell that shows it."""

import itertools
import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "back" / "corrections.md").read_text("utf8")
ROWS = re.findall(r"^(Row .*)\n((?:: .*\n?)+)", PAGE, flags=re.M)
CHAPTERS = {path.stem[:2]: nbformat.read(path, as_version=4) for path in sorted((ROOT / "chapters").glob("*.ipynb"))}
CODE = "<a code cell>"


def leads_to_a_cell(label):
    """Say whether a code cell follows the label's place before the next section begins."""
    lines = []
    for cell in CHAPTERS[label.split("-")[1]].cells:
        lines += [CODE] if cell.cell_type == "code" else cell.source.split("\n") + [""]
    after = [line for line in lines[lines.index(f"({label})=") + 1 :] if line]
    section = itertools.takewhile(lambda line: not line.startswith("## "), after[1:])  # its own heading may be one
    return after[0] == CODE or CODE in section


def test_rows_are_numbered_from_1_to_24():
    assert [int(re.match(r"Row (\d+): ", title)[1]) for title, _ in ROWS] == list(range(1, 25))


@pytest.mark.parametrize(("title", "body"), ROWS, ids=[title.partition(":")[0] for title, _ in ROWS])
def test_row_says_what_the_article_says_what_holds_and_leads_to_cells(title, body):
    says, holds, shown = body.splitlines()
    assert says.startswith(": **The article** ")
    assert holds.startswith(": **What holds:** ")
    assert shown.startswith(": **Shown in** ")
    labels = re.findall(r"\{ref\}`[^`<]* <([\w-]+)>`", shown)
    assert labels
    for label in labels:
        assert leads_to_a_cell(label), label


@pytest.mark.parametrize("number", sorted(CHAPTERS))
def test_chapter_says_where_it_corrects_the_article(number):
    prose = "\n".join(cell.source for cell in CHAPTERS[number].cells if cell.cell_type == "markdown")
    said = re.findall(r"^\*(?:Correction|Beyond the article):\*.*(?:\n.+)*", prose, re.M)
    assert said
    assert all("{doc}`/back/corrections`" in each for each in said)
