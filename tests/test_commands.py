"""What the Makefile calls: set-up that is done once and done whole, and a build that does not forget a warning."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import book
import environment
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with requirement files and a pretended pip; its `calls` are the commands that ran."""
    for name in environment.SETS["requirements-test.txt"]:
        (tmp_path / name).write_text("a==1\n", "utf8")
    venv = tmp_path / ".venv"
    here = SimpleNamespace(root=tmp_path, venv=venv, calls=[], fails=())

    def run(command, **_):
        words = " ".join(map(str, command))
        if "import pip, sys" in words:
            return SimpleNamespace(stdout=environment.VERSION if (venv / "pyvenv.cfg").exists() else "")
        kind = next(kind for kind in ("-m venv", "pip install", "font_manager") if kind in words)
        here.calls.append(kind)
        if kind == "-m venv" and kind not in here.fails:
            venv.mkdir()
            (venv / "pyvenv.cfg").write_text(f"command = {words}", "utf8")
        return SimpleNamespace(returncode=int(kind in here.fails))

    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "VENV", venv)
    monkeypatch.setattr(environment.subprocess, "run", run)
    return here


WHOLE = ["-m venv", "pip install", "font_manager"]


def calls(place, *arguments):
    place.calls.clear()
    environment.main(*arguments)
    return place.calls


def test_set_up_is_done_once(place):
    assert calls(place) == WHOLE
    assert calls(place) == []


def test_the_tests_set_holds_the_book_set(place):
    assert calls(place, "requirements-test.txt") == WHOLE
    assert calls(place, "requirements.txt") == []


def test_the_book_set_does_not_hold_the_tests_set(place):
    calls(place)
    assert calls(place, "requirements-test.txt") == WHOLE[1:]


@pytest.mark.parametrize("name", environment.SETS["requirements.txt"])
def test_a_changed_file_is_noticed(place, name):
    calls(place)
    (place.root / name).write_text("a==2\n", "utf8")
    assert calls(place) == WHOLE[1:]
    assert calls(place) == []


def test_a_set_up_cut_short_starts_afresh(place):
    place.fails = ("pip install",)
    with pytest.raises(SystemExit, match="run the same command again"):
        calls(place)
    place.fails = ()
    assert calls(place) == WHOLE


def test_another_python_starts_afresh(place, monkeypatch):
    calls(place)
    monkeypatch.setattr(environment, "works", lambda: False)
    assert calls(place) == WHOLE


def test_an_environment_from_another_folder_is_made_again(place):
    calls(place)
    (place.venv / "pyvenv.cfg").write_text("command = python -m venv /elsewhere/.venv", "utf8")
    assert calls(place) == WHOLE


def test_no_venv_module(place):
    place.fails = ("-m venv",)
    with pytest.raises(SystemExit, match=r"apt-get install python3\.\d+-venv"):
        calls(place)


def test_too_old_a_python(monkeypatch):
    monkeypatch.setattr(environment, "OLDEST", (99, 0))
    with pytest.raises(SystemExit, match="needs 3.11 or newer.*\n.*PYTHON="):
        environment.main()


# ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def builds(tmp_path, monkeypatch):
    """Pretend to build: return a function that says whether a build began from nothing."""
    (tmp_path / "_config.yml").write_text("title: A\n", "utf8")
    monkeypatch.setattr(book, "ROOT", tmp_path)

    def run_build(status=0, **options):
        fresh = []

        def run(command, **_):
            made = tmp_path / "_build" / "html"
            fresh.append(not made.exists())
            made.mkdir(parents=True, exist_ok=True)
            assert {"-W", "-n", "--keep-going"} <= set(command)
            return SimpleNamespace(returncode=status)

        monkeypatch.setattr(book.subprocess, "run", run)
        assert book.build(tmp_path, **options) == status
        return fresh[0]

    return run_build


def test_a_second_build_goes_on_from_the_first(builds):
    assert builds()
    assert not builds()
    assert builds(fresh=True)


def test_a_build_after_a_warning_starts_afresh(builds):
    builds(status=1)
    assert builds()


@pytest.mark.parametrize(
    "name", ["_config.yml", "_ext/a.py", "_theme/static/a.css", "_theme/a.html", "_toc.yml", "references.bib"]
)
def test_what_touches_every_page_starts_afresh(builds, tmp_path, name):
    builds()
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("changed", "utf8")
    assert builds()
    assert not builds()


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed: its help is not compared with its targets")
def test_help_lists_every_command():
    helped = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf8"), re.M)[1].split()
    assert set(re.findall(r"^make ([\w-]+)", helped, re.M)) == set(targets) - {"help", "test-library"}


def test_a_taken_port_is_said_plainly(tmp_path):
    with book.ThreadingHTTPServer(("127.0.0.1", 0), book.SimpleHTTPRequestHandler) as taken:
        port = taken.server_address[1]
        with pytest.raises(SystemExit, match=f"make serve PORT={port + 1}"):
            book.serve(tmp_path, port)


def test_the_tool_runs_on_its_own():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "book.py", "--help"], capture_output=True, text=True, check=True
    )
    assert "--serve" in done.stdout
