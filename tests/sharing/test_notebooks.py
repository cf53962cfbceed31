"""The copies that Colab opens and readers download: the stored chapter, and one cell that installs the library."""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from ready import ready
from repository import Repository

ROOT = Path(__file__).resolve().parent.parent.parent
CHAPTERS = sorted(ROOT.glob("chapters/*.ipynb"))
FORK = Repository("https://github.com/reader/book", "main")


def setup_cell(repository=FORK):
    notebook = json.loads(ready(CHAPTERS[0].read_text("utf8"), repository))
    return next("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")


def run(cell, script_before=""):
    """Run a cell as IPython would, with pip replaced by a note of what it was asked for; return what was noted."""
    code = TransformerManager().transform_cell(cell)
    program = "class shell:\n    def run_line_magic(self, name, line): print(name, line)\nget_ipython = shell\n"
    command = [sys.executable, "-I", "-c", f"{script_before}\n{program}\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_copy_is_the_chapter_and_one_cell_before_its_first_code(path):
    text = path.read_text("utf8")
    copy = json.loads(ready(text, FORK))
    code = [cell["cell_type"] for cell in copy["cells"]].index("code")
    assert "attention_lib" in "".join(copy["cells"].pop(code)["source"])
    assert copy == json.loads(text)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_copy_is_a_valid_notebook(path):
    nbformat.validate(nbformat.reads(ready(path.read_text("utf8"), FORK), as_version=4))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_stored_chapter_names_no_repository(path):
    """It would be one owner's, and wrong in every fork."""
    assert not re.search(r"pip install|git\+https|/archive/|google\.colab", path.read_text("utf8"))


def test_where_no_repository_is_known_the_copy_is_the_chapter():
    text = CHAPTERS[0].read_text("utf8")
    assert ready(text, None) == text


def test_the_cell_installs_from_the_repository_that_published_it():
    missing = "import sys; sys.modules['attention_lib'] = None"  # as Python says of a module that is not there
    noted = run(setup_cell(), missing)
    assert noted == 'pip install --quiet "attention-lib[plot,explore] @ https://github.com/reader/book/archive/main.zip"\n'
    gitlab = Repository("https://gitlab.com/a/b", "main", folder="book/")
    noted = run(setup_cell(gitlab), missing)
    assert noted == 'pip install --quiet "attention-lib[plot,explore] @ git+https://gitlab.com/a/b@main#subdirectory=book"\n'


def test_the_cell_does_nothing_where_the_library_is_installed():
    assert run(setup_cell()) == ""


def test_pip_reads_what_the_cell_asks_for():
    from packaging.requirements import Requirement

    requirement = Requirement(FORK.requirement())
    assert requirement.name == "attention-lib" and requirement.extras == {"plot", "explore"}
    project = (ROOT / "pyproject.toml").read_text("utf8")
    assert f'name = "{requirement.name}"' in project and all(f"\n{extra} = [" in project for extra in requirement.extras)


def test_the_copies_that_the_workflow_pushes_are_the_ones_beside_the_pages(clone, tmp_path):
    """tools/colab.py runs in a job that installs nothing, so that no package can see a token that may write."""
    names = ["_ext/ready.py", "_ext/repository.py", "tools/colab.py", f"chapters/{CHAPTERS[0].name}", "_config.yml"]
    book = clone("git@github.com:reader/book.git", files={name: (ROOT / name).read_text("utf8") for name in names})
    command = [sys._base_executable, "-I", "-S", book / "tools" / "colab.py", tmp_path / "copies"]
    subprocess.run(command, check=True, capture_output=True)
    pushed = (tmp_path / "copies" / "chapters" / CHAPTERS[0].name).read_text("utf8")
    assert pushed == ready(CHAPTERS[0].read_text("utf8"), Repository("https://github.com/reader/book", "HEAD"))
