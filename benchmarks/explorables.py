"""Measure how long an explorable takes to follow the reader: ``.venv/bin/python benchmarks/explorables.py``.

A report, not a test: it wants a quiet machine. At 60 pictures a second there are 16 ms for each.
Every control of every explorable in the built book (``make book``) is pressed; what is timed is everything between
the key and the next picture: the numbers, the drawing, and the browser's layout of it.
"""

import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]

from browsing import CHROMIUM, PHONE, tab  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402
from web_server import serving  # noqa: E402

PRESSES = 60
# Each frame's work, with the layout that it asks for, in milliseconds.
WATCH = """
const ask = requestAnimationFrame;
window.times = [];
window.requestAnimationFrame = f => ask(now => {
    const start = performance.now();
    f(now);
    document.body.getBoundingClientRect();
    times.push(performance.now() - start);
});"""


def measure(page, explorable):
    """Return the milliseconds of each update, over all controls."""
    page.evaluate("times.length = 0")
    for control in explorable.locator("[role=slider], input[type=range], [type=radio]").all():
        control.focus()
        for press in range(PRESSES):
            control.press("ArrowLeft" if press % 2 else "ArrowRight")
    return page.evaluate("times")


def main():
    pages = ROOT / "_build" / "html"
    if not CHROMIUM or not (pages / "index.html").is_file():
        sys.exit("It needs a Chromium and the built book: make book")
    with serving(pages) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for slower in (1, 4):  # as on a desk, and as on a phone, whose processor takes four times as long
            print(f"\nProcessor {slower} times slower")
            print(f"{'page':34}{'explorable':14}{'updates':>8}{'median':>9}{'99 %':>9}{'most':>9} ms")
            with tab(browser, address, PHONE) as page:
                page.add_init_script(WATCH)
                page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
                for name in sorted(path.relative_to(pages).as_posix() for path in pages.glob("chapters/*.html")):
                    page.goto(name)
                    for explorable in page.locator(".explorable.ex-alive").all():
                        times = sorted(measure(page, explorable))
                        high = times[int(0.99 * (len(times) - 1))]
                        values = "".join(f"{v:9.2f}" for v in (statistics.median(times), high, times[-1]))
                        print(f"{name:34}{explorable.get_attribute('data-module'):14}{len(times):8}{values}")


if __name__ == "__main__":
    main()
