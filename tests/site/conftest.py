"""The built book served on this machine, and a browser that can reach no other host.

The browser is the Chromium or Chrome that is installed. Where there is none, its tests are skipped, and pytest's
summary says so.
"""

import pytest
from browsing import CHROMIUM, Site
from playwright.sync_api import sync_playwright
from web_server import serving


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
