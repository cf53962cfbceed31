"""Run the chapters and store their outputs, or put them in normal form: what ``make run`` calls.

A stored notebook depends on its sources alone: run twice, it is the same to the byte.
So ``git diff`` after a run shows exactly what changed, and a test can compare.
"""

import argparse
import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = ROOT / "chapters"
TIMEOUT = 120  # seconds a cell may take; without one a dead kernel hangs for ever
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},  # no version: it changes from machine to machine
}
CELL_METADATA = ("tags", "mystnb", "jupyter")  # what readers and the build use; an editor's notes go


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
        extra_arguments=["--IPKernelApp.log_level=ERROR"],  # it warns of what it always does
        resources={"metadata": {"path": str(folder)}},
    ).execute()


def normalise(notebook):
    """Take out, in place, everything that running or saving adds and reading does not need."""
    description = notebook.metadata.get("myst")
    notebook.metadata = nbformat.from_dict(METADATA | ({"myst": description} if description else {}))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({key: cell.metadata[key] for key in CELL_METADATA if cell.metadata.get(key)})
        cell.pop("attachments", None)
        cell.source = "\n".join(line.rstrip() for line in cell.source.strip("\n").split("\n"))
        if cell.cell_type == "code":
            cell.outputs = drop_views(merge_streams(cell.outputs))
    return notebook


def drop_views(outputs):
    """Take out the half of an explorable that needs the kernel it was made in; its HTML stays."""
    for output in outputs:
        if "text/html" in output.get("data", {}):
            output.data.pop("application/vnd.jupyter.widget-view+json", None)
    return outputs


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


def store(path, text):
    """Write the whole file or nothing: a run that is cut short must not leave half a chapter."""
    beside = path.with_suffix(".new")
    try:
        beside.write_text(text, "utf8", newline="\n")
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def update(path, execute=True):
    """Run one chapter and store it in normal form; return whether the file changed."""
    notebook = nbformat.read(path, as_version=4)
    if execute:
        run(notebook, path.parent)
    text = text_of(normalise(notebook))
    changed = text.encode() != path.read_bytes()
    if changed:
        store(path, text)
    return changed


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapter", nargs="?", help="the start of one chapter's file name, such as 02")
    parser.add_argument("--no-run", action="store_true", help="only put the notebooks in normal form")
    arguments = parser.parse_args(arguments)
    failed = 0
    for path in find(arguments.chapter):
        print(f"{path.name} ", end="", flush=True)
        try:
            print("changed" if update(path, execute=not arguments.no_run) else "as it was", flush=True)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            failed += 1
            print(f"failed in a cell; the file is as it was.\n{error}", flush=True)
    if failed:
        sys.exit(f"\nChapters that failed: {failed}. Mend the cell shown above, then run again: make run CHAPTER=02")


if __name__ == "__main__":
    main()
