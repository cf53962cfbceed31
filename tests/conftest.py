"""What all tests share: the built book, and a list at the end of what was checked."""

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Tests look at a fork's pages: with all buttons and addresses, whatever repository the tests run in.
FORK = {"BOOK_REPOSITORY": "https://github.com/reader/attention", "BOOK_BRANCH": "main"}
FORK |= {"BOOK_URL": "https://reader.github.io/attention/"}


@pytest.fixture(scope="session")
def book(tmp_path_factory):
    """Build the book afresh, warnings as errors, once for all workers; return its folder of pages."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "book"
    log = shared / "log.txt"
    try:
        shared.mkdir()
    except FileExistsError:  # another worker was first
        while not log.exists():
            time.sleep(0.2)
    else:
        command = [sys.executable, ROOT / "tools" / "book.py", "--fresh", "--output", shared]
        env = {**os.environ, **FORK}
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
        (shared / "log.new").write_text(f"{done.returncode}\n{done.stdout}", "utf8")
        os.replace(shared / "log.new", log)  # complete at once, for those who wait
    status, _, output = log.read_text("utf8").partition("\n")
    if status != "0":
        problems = [line for line in output.splitlines() if "WARNING" in line or "ERROR" in line]
        pytest.fail("the book does not build:\n" + "\n".join(problems or output.splitlines()[-20:]), pytrace=False)
    return shared / "_build" / "html"


# What a test's path says about what it checks; the first that fits.
KINDS = {
    "chapters/": "cells of the chapters, run again and every output compared",
    "attention_lib/": "examples in docstrings",
    "tests/check/": "self-checks, on right, wrong and missing answers",
    "tests/site/": "pages, in a browser",
    "tests/sharing/": "what is published: buttons, copies, licences, workflows",
    "tests/test_published": "published numbers",
    "tests/test_properties": "properties of the library, on random inputs",
    "tests/test_chapters": "rules for the chapters and pages",
    "tests/test_guards": "broken notebooks that the rules must refuse",
    "tests/test_book": "the book, built with warnings as errors",
    "tests/": "the library and the tools",
}


def pytest_terminal_summary(terminalreporter):
    counts, found, reasons = {kind: Counter() for kind in KINDS.values()}, Counter(), Counter()
    for outcome in ("passed", "failed", "error", "skipped", "xfailed"):
        for report in terminalreporter.stats.get(outcome, []):
            kind = next((kind for start, kind in KINDS.items() if report.nodeid.startswith(start)), None)
            if kind:
                counts[kind]["failed" if outcome == "error" else outcome] += 1
            found.update(dict(value for name, value in getattr(report, "user_properties", []) if name == "found"))
            if outcome == "skipped":
                reasons[report.longrepr[2]] += 1
    terminalreporter.section("what was checked")
    for kind, outcomes in counts.items():
        if outcomes:
            others = "".join(f", {n} {outcome}" for outcome, n in outcomes.items() if outcome != "passed")
            terminalreporter.line(f"{outcomes['passed']:6} {kind}{others}")
    for what, n in found.items():
        terminalreporter.line(f"{n:6} {what}")
    for reason, n in reasons.items():
        terminalreporter.line(f"{n:6} skipped: {reason.removeprefix('Skipped: ')}")
