"""Make .venv hold what a command needs: ``python tools/environment.py requirements.txt``.

Takes no time when nothing changed. It notices other requirement files, another Python, a moved folder,
and a set-up that was cut short. Runs on any Python 3, so that a wrong one is told what to do.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
OLDEST = (3, 11)
VERSION = "{}.{}".format(*sys.version_info)
# What each set of packages is made from; the tests need the book's set too.
BOOK = ["requirements.txt", "constraints.txt", "pyproject.toml"]
SETS = {"requirements.txt": BOOK, "requirements-test.txt": [*BOOK, "requirements-test.txt"]}


def main(requirements="requirements.txt"):
    if sys.version_info < OLDEST:
        sys.exit(
            f"This is Python {VERSION}, and the book needs 3.11 or newer.\n"
            "Install one from https://www.python.org/downloads/ and name it: make book PYTHON=python3.13"
        )
    ready, unfinished, state = VENV / f"ready-{requirements}", VENV / "unfinished", digest(requirements)
    if not unfinished.exists() and read(ready) == state and works():
        return
    if unfinished.exists() or not works():
        print(f"Making .venv with Python {VERSION} ...", flush=True)
        shutil.rmtree(VENV, ignore_errors=True)
        run(
            [sys.executable, "-m", "venv", VENV],
            "This Python cannot make a virtual environment.\n"
            f"On Debian or Ubuntu: sudo apt-get install python{VERSION}-venv, then run the same command again.\n"
            "Or name another Python: make book PYTHON=python3.13",
        )
    print(f"Installing {requirements} into .venv; the first time this takes a minute or two ...", flush=True)
    unfinished.touch()
    for old in VENV.glob("ready-*"):
        old.unlink()
    quiet = [] if sys.stdout.isatty() else ["--quiet"]  # who watches sees pip's own progress
    run(
        [PYTHON, "-m", "pip", "install", *quiet, "--disable-pip-version-check", "-r", requirements],
        "The packages could not be installed; the lines above say which and why.\n"
        "Without a network connection: connect, then run the same command again. Behind a proxy: set HTTPS_PROXY.\n"
        "If a package has no version for this Python, use Python 3.11, 3.12 or 3.13: make book PYTHON=python3.13",
    )
    # Matplotlib lists the fonts once, and says so on stderr when that is slow: here, not inside a chapter.
    run([PYTHON, "-c", "import matplotlib.font_manager"], "Matplotlib does not start; the lines above say why.")
    for name in SETS:
        if set(SETS[name]) <= set(SETS[requirements]):
            (VENV / f"ready-{name}").write_text(digest(name), "utf8")
    unfinished.unlink()


def digest(requirements):
    """Return a text that changes when the packages have to be looked at again."""
    hashed = hashlib.sha256()
    for part in [str(ROOT), VERSION, *(read(ROOT / name) for name in SETS[requirements])]:
        hashed.update(part.encode() + b"\0")
    return hashed.hexdigest() + "\n"


def works():
    """Say whether .venv was made here, and runs, with this version of Python and with pip."""
    ask = [PYTHON, "-c", "import pip, sys; print('{}.{}'.format(*sys.version_info))"]
    try:
        version = subprocess.run(ask, capture_output=True, text=True).stdout.strip()
    except OSError:
        return False
    return version == VERSION and str(VENV) in read(VENV / "pyvenv.cfg")


def read(path):
    return path.read_text("utf8") if path.is_file() else ""


def run(command, advice):
    """Run a command; if it fails, say what to do and stop."""
    if subprocess.run(command, cwd=ROOT).returncode:
        sys.exit("\n" + advice)


if __name__ == "__main__":
    main(*sys.argv[1:])
