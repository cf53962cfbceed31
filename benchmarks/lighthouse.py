"""Measure the built pages with Lighthouse, as a phone and as a desktop computer see them: ``make lighthouse``.

It needs Node 18 or newer (npx fetches Lighthouse once) and Chromium. Times depend on what else the machine does, so
each page is measured three times, the median counts, and the load is told beside it. A report, not a test.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests"))

from browsing import CHROMIUM, Site  # noqa: E402
from web_server import serving  # noqa: E402

LIGHTHOUSE = "lighthouse@12.2.3"  # 13 wants Node 22
FORMS = {"phone": [], "desktop": ["--preset=desktop"]}
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
METRICS = {
    "first paint s": ("first-contentful-paint", 1000, 2),
    "largest paint s": ("largest-contentful-paint", 1000, 2),
    "blocked ms": ("total-blocking-time", 1, 0),
    "moved": ("cumulative-layout-shift", 1, 4),
    "kB": ("total-byte-weight", 1000, 0),
}
FLAGS = "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"


def measure(address, options):
    """Return Lighthouse's report on one visit."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npx", "--yes", LIGHTHOUSE, address, "--quiet", "--output=json", f"--chrome-flags={FLAGS}"]
        report = Path(folder, "report.json")
        environment = {**os.environ, "CHROME_PATH": CHROMIUM}
        subprocess.run([*command, f"--output-path={report}", *options], check=True, env=environment, capture_output=True)
        return json.loads(report.read_text("utf8"))


def summary(reports):
    """Return the median scores and measures of several visits, and what failed in any of them."""
    line = {name: statistics.median(round(100 * r["categories"][name]["score"]) for r in reports) for name in CATEGORIES}
    for name, (audit, unit, digits) in METRICS.items():
        line[name] = round(statistics.median(r["audits"][audit]["numericValue"] for r in reports) / unit, digits)
    failed = {
        ref["id"]
        for report in reports
        for name in CATEGORIES[1:]
        for ref in report["categories"][name]["auditRefs"]
        if report["audits"][ref["id"]]["score"] not in (None, 1)
    }
    return line, sorted(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="which pages; else all")
    parser.add_argument("--built", type=Path, default=ROOT / "_build" / "html", help="the folder of built pages")
    parser.add_argument("--visits", type=int, default=3)
    arguments = parser.parse_args()
    if not CHROMIUM or not shutil.which("npx"):
        sys.exit("This needs Chromium and Node (npx). Install both and run again.")
    with serving(arguments.built) as address:
        site = Site(arguments.built, address)
        print("page", "form", *CATEGORIES, *METRICS, "load", sep="\t")
        for name in arguments.pages or site.pages:
            for form, options in FORMS.items():
                line, failed = summary([measure(address + name, options) for _ in range(arguments.visits)])
                print(name, form, *line.values(), round(os.getloadavg()[0], 1), *failed, sep="\t", flush=True)


if __name__ == "__main__":
    main()
