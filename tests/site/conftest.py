"""The built book served on this machine, and a browser that can reach no other host.

The browser is the Chromium or Chrome that is installed. Where there is none, its tests are skipped, and pytest's
summary says so.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from browsing import CHROMIUM, Site
from playwright.sync_api import sync_playwright
from web_server import serving

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def site(book):
    with serving(book) as address:
        yield Site(book, address)


@pytest.fixture(scope="module")
def browser():
    """Start the browser for one file of tests: an open one is in the way of tests that run notebooks."""
    if not CHROMIUM:
        pytest.skip("no Chromium found, so this check of the pages in a browser was not run")
    with sync_playwright() as playwright:
        alone = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", alone])


@pytest.fixture(scope="module")
def small_book(tmp_path_factory):
    """Return a function that builds a book of these files with the real settings, and returns (status, said, pages).

    What runs notebooks here is off, as in the book; `execute` says otherwise.
    """

    def build(execute="off", **files):
        folder = tmp_path_factory.mktemp("small")
        settings = yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))
        settings["execute"]["execute_notebooks"] = execute
        settings["html"]["favicon"] = str(ROOT / settings["html"]["favicon"])
        settings["sphinx"]["local_extensions"] = {"sharing": str(ROOT / "_ext")}
        toc = {"format": "jb-book", "root": "index", "chapters": [{"file": name} for name in files if name != "index"]}
        (folder / "_config.yml").write_text(yaml.safe_dump(settings), "utf8")
        (folder / "_toc.yml").write_text(yaml.safe_dump(toc), "utf8")
        (folder / "references.bib").touch()
        for name, text in files.items():
            (folder / name).with_suffix(".md" if isinstance(text, str) else ".ipynb").write_text(
                text if isinstance(text, str) else json.dumps(text), "utf8"
            )
        command = [Path(sys.executable).with_name("jupyter-book"), "build", folder, "-W", "-n", "--keep-going"]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
        return done.returncode, done.stdout + done.stderr, folder / "_build" / "html"

    return build
