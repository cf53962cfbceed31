"""The environment that Binder makes: built here from nothing, it runs every chapter, and holds nothing else."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Binder runs Linux")
ROOT = Path(__file__).resolve().parent.parent.parent
NOT_FOR_READERS = {"jupyter-book", "sphinx", "pytest", "nbval", "hypothesis", "onnx"}
OFFLINE = re.compile("NewConnectionError|Name or service not known|name resolution|Network is unreachable|nodename nor")


def pins(path):
    """Return the exact versions that a requirement file names."""
    lines = [re.sub(r"\s*#.*", "", line) for line in (ROOT / path).read_text("utf8").splitlines()]
    return dict(re.fullmatch(r"([\w.-]+)==([\w.]+)", line).groups() for line in lines if line and line[0] != "-")


@pytest.fixture(scope="module")
def binder(tmp_path_factory):
    """Return the folder of a fresh copy of the book, and a function that runs a command in Binder's environment."""
    folder = tmp_path_factory.mktemp("binder")
    copy = folder / "book"
    for name in (".binder", "attention_lib", "chapters"):  # what reading and running needs
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copyfile(ROOT / name, copy / name)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "JUPYTER", "IPYTHON"))}
    env |= {"PATH": f"{folder / 'venv' / 'bin'}:/usr/bin:/bin", "JUPYTER_DATA_DIR": str(folder / "data")}

    def run(*command):
        done = subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    install = ["python", "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
    try:
        run(*install, "-r", ".binder/requirements.txt")
    except AssertionError as error:
        if OFFLINE.search(str(error)):
            pytest.skip("Binder's environment was not built: there is no network")
        raise
    return copy, run


def test_every_chapter_runs(binder):
    copy, run = binder
    shutil.copytree(copy / "chapters", copy / "ran")
    chapters = sorted((copy / "ran").glob("*.ipynb"))
    assert chapters
    run("jupyter", "execute", "--inplace", "--timeout=120", *chapters)
    for chapter in chapters:
        cells = json.loads(chapter.read_text("utf8"))["cells"]
        counts = [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"]
        assert counts == list(range(1, len(counts) + 1)), chapter


def test_jupyterlab_shows_the_chapters_as_the_book_does(binder):
    """An extension that does not fit this JupyterLab is installed and silently left out."""
    _, run = binder
    said = re.sub(r"\x1b\[\d+m", "", run("jupyter", "labextension", "list"))
    assert re.search(r"jupyterlab-myst v\S+ +enabled +OK", said), said


def test_figures_are_shown_before_they_are_run(binder):
    copy, run = binder
    run(".binder/postBuild")
    check = "import nbformat, sys; from nbformat.sign import NotebookNotary as N;"
    check += "assert all(N().check_signature(nbformat.read(p, as_version=4)) for p in sys.argv[1:])"
    run("python", "-c", check, *copy.glob("chapters/*.ipynb"))


def test_nothing_is_installed_that_running_does_not_need(binder):
    _, run = binder
    listed = json.loads(run("python", "-m", "pip", "list", "--format=json"))
    installed = {canonicalize_name(item["name"]): item["version"] for item in listed}
    assert installed.keys() & NOT_FOR_READERS == set()
    known = {canonicalize_name(name): version for name, version in pins(".binder/constraints.txt").items()}
    assert {name for name in installed if installed[name] != known.get(name)} <= {"pip", "setuptools", "attention-lib"}


def test_the_versions_are_the_ones_that_the_book_was_checked_with():
    book, binder = pins("requirements.txt"), pins(".binder/requirements.txt")
    for name in ("numpy", "matplotlib", "matplotlib-inline", "ipykernel"):
        assert binder[name] == book[name]


def test_the_python_is_one_that_the_library_supports():
    oldest = re.search(r'requires-python = ">=(3\.\d+)"', (ROOT / "pyproject.toml").read_text("utf8"))[1]
    version = re.fullmatch(r"python-(3\.\d+)\n", (ROOT / ".binder" / "runtime.txt").read_text("utf8"))[1]
    assert tuple(map(int, version.split("."))) >= tuple(map(int, oldest.split(".")))
