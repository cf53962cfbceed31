"""What the page tests do with a browser, and the built book as they see it."""

import shutil
from contextlib import contextmanager
from importlib.resources import files

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
AXE = (files("axe_playwright_python") / "axe.min.js").read_text("utf8")

DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


class Site:
    """The built book: its folder, its pages' names, and the address it is served at."""

    def __init__(self, folder, address):
        self.folder, self.address = folder, address
        names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
        self.made = ["404.html", "search.html"]  # made by Sphinx; the others are the book's
        self.pages = [name for name in names if not name.startswith("_static/") and name not in self.made]
        self.chapters = [name for name in self.pages if name.startswith("chapters/")]

    def html(self, name):
        return (self.folder / name).read_text("utf8")


@contextmanager
def tab(browser, address, viewport=DESKTOP, theme="light", **options):
    """Open an empty page; `page.faults` collects what a reader's console and network would show."""
    context = browser.new_context(
        base_url=address, viewport=viewport, color_scheme=theme, reduced_motion="reduce", **options
    )
    page = context.new_page()
    page.faults = faults = []
    page.on("console", lambda it: it.type in ("error", "warning") and faults.append(f"console: {it.text}"))
    page.on("pageerror", lambda error: faults.append(f"script: {error}"))
    page.on("request", lambda it: foreign(it.url, address) and faults.append(f"asked another host for {it.url}"))
    page.on("response", lambda it: it.status >= 400 and faults.append(f"{it.status} for {it.url}"))
    yield page
    context.close()


def foreign(url, address):
    return not url.startswith((address, "data:", "blob:", "about:"))


def settle(page):
    """Wait until fonts are there and the page has been laid out and looked at by its own observers."""
    page.evaluate("document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 50))))")


def unfold(page):
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    settle(page)


def barriers(page, only=None):
    """Return what axe finds on the page: rule, how often, and the first element."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    options = {"resultTypes": ["violations"]} | ({"runOnly": only} if only else {})
    found = page.evaluate("options => axe.run(document, options)", options)["violations"]
    return [f"{v['id']} x{len(v['nodes'])}: {v['nodes'][0]['html'][:120]}" for v in found]


def wider_than_the_screen(page):
    """Return what sticks out to the right, where it makes the whole page scroll sideways."""
    return page.evaluate("""() => {
        if (document.documentElement.scrollWidth <= innerWidth) return [];
        const out = [...document.querySelectorAll("body *")].filter(e =>
            e.getBoundingClientRect().right > innerWidth && !e.closest(".scrolls, pre, .katex-mathml"));
        return ["scrolls sideways", ...out.slice(0, 3).map(e => "sticks out: " + e.outerHTML.slice(0, 120))];
    }""")


def drawn_with(page, selector):
    """Return which of the reader's own fonts draw some of the text there."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("DOM.enable")
    devtools.send("CSS.enable")
    root = devtools.send("DOM.getDocument")["root"]["nodeId"]
    fonts = set()
    for node in devtools.send("DOM.querySelectorAll", {"nodeId": root, "selector": selector})["nodeIds"]:
        used = devtools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        fonts |= {font["familyName"] for font in used if not font["isCustomFont"]}
    devtools.detach()
    return sorted(fonts)
