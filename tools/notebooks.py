"""Run the chapters and store their outputs, or put them in normal form: what ``make run`` calls.

A stored notebook depends on its sources alone: run twice, it is the same to the byte.
So ``git diff`` after a run shows exactly what changed, and a test can compare.
"""

import argparse
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = ROOT / "chapters"
TIMEOUT = 120  # seconds a cell may take; without one a dead kernel hangs for ever
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},  # no version: it changes from machine to machine
}


def find(chapter=None):
    """Return the chapters' paths, or those of the one whose file name starts with `chapter`."""
    paths = sorted(CHAPTERS.glob(f"{chapter or ''}*.ipynb"))
    if not paths:
        names = ", ".join(p.stem for p in sorted(CHAPTERS.glob("*.ipynb")))
        raise SystemExit(f"no chapter starts with {chapter!r}; there are: {names}")
    return paths


def run(notebook, folder):
    """Execute the notebook's cells in a fresh kernel, in place."""
    NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        store_widget_state=False,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    ).execute()


def normalise(notebook):
    """Take out, in place, everything that running or saving adds and reading does not need."""
    description = notebook.metadata.get("myst")
    notebook.metadata = nbformat.from_dict(METADATA | ({"myst": description} if description else {}))
    for cell in notebook.cells:
        for key in ("execution", "collapsed", "scrolled", "trusted", "editable", "slideshow"):
            cell.metadata.pop(key, None)
        cell.pop("attachments", None)
        cell.source = "\n".join(line.rstrip() for line in cell.source.strip("\n").split("\n"))
        if cell.cell_type == "code":
            cell.outputs = merge_streams(cell.outputs)
    return notebook


def merge_streams(outputs):
    """Join neighbouring pieces of printed text: where a kernel cuts them is chance."""
    merged = []
    for output in outputs:
        last = merged[-1] if merged else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def text_of(notebook):
    """Return the notebook as it is stored."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapter", nargs="?", help="the start of one chapter's file name, such as 02")
    parser.add_argument("--no-run", action="store_true", help="only put the notebooks in normal form")
    arguments = parser.parse_args()
    for path in tqdm(find(arguments.chapter), unit="chapter", disable=None):
        notebook = nbformat.read(path, as_version=4)
        if not arguments.no_run:
            try:
                run(notebook, path.parent)
            except CellExecutionError as error:  # the file stays as it was
                sys.exit(f"{path.relative_to(ROOT)}: a cell failed, and the file was left as it was.\n{error}")
        new = text_of(normalise(notebook))
        if new != path.read_text("utf8"):
            path.write_text(new, "utf8")
            tqdm.write(f"changed: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
