"""What the page tests do with a browser, and the built book as they see it."""

import base64
import io
import re
import shutil
from contextlib import contextmanager
from importlib.resources import files

from fontTools.ttLib import TTFont

# The first is Chromium without its window: the same pages, for less work.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
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


# No colour depends on the width (test_every_page.py), and what a page is made of is the same in both themes.
# So each theme's colours are looked at in one width, and the rest in one theme: each is most of axe's time.
COLOURS = ["color-contrast", "link-in-text-block"]
ONLY_COLOURS = {"runOnly": {"type": "rule", "values": COLOURS}}
ALL_BUT_COLOURS = {"rules": {rule: {"enabled": False} for rule in COLOURS}}


def barriers(page, rules={}, within="html"):
    """Return what axe finds on the page, or in a part of it: rule, how often, and the first element."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    options = {"resultTypes": ["violations"], **rules}
    found = page.evaluate("([within, options]) => axe.run(within, options)", [within, options])["violations"]
    return [f"{v['id']} x{len(v['nodes'])}: {v['nodes'][0]['html'][:120]}" for v in found]


def wider_than_the_screen(page):
    """Return what sticks out to the right, where it makes the whole page scroll sideways."""
    return page.evaluate("""() => {
        if (document.documentElement.scrollWidth <= innerWidth) return [];
        const out = [...document.querySelectorAll("body *")].filter(e =>
            e.getBoundingClientRect().right > innerWidth && !e.closest(".scrolls, pre, .katex-mathml"));
        return ["scrolls sideways", ...out.slice(0, 3).map(e => "sticks out: " + e.outerHTML.slice(0, 120))];
    }""")


# every text on the page, by the font that it asks for first: {family, italic, characters}
ASKED = """selector => {
    const asked = {}, texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const parent = texts.currentNode.parentElement;
        if (!parent.closest(selector) || parent.closest("pre, code, kbd, script, style, .katex-mathml")) continue;
        const style = getComputedStyle(parent), family = style.fontFamily.split(",")[0].replaceAll('"', "");
        const key = [family, parseInt(style.fontWeight) >= 600, style.fontStyle !== "normal"].join("/");
        asked[key] = (asked[key] ?? "") + texts.currentNode.data;
    }
    return asked;
}"""


def not_in_fonts(page, selector, fonts):
    """Return which characters under `selector` are not in the font that they ask for."""
    missing = []
    for key, text in page.evaluate(ASKED, selector).items():
        family, bold, italic = key.split("/")
        has = fonts.get((family, bold == "true", italic == "true"), set())
        lacking = {character for character in text if character.isprintable()} - has
        if lacking:
            missing.append(f"{key}: {''.join(sorted(lacking))}")
    return missing


def fonts_of(folder):
    """Return {(family, bold, italic): characters} of all fonts in a built book's style sheets."""
    found = {}
    for sheet in ("book.css", "katex.css"):
        for face in re.findall(r"@font-face\s*\{[^}]*\}", (folder / "_static" / sheet).read_text("utf8")):
            family = re.search(r'font-family:\s*"?(\w+)', face)[1]
            source = re.search(r"url\(([^)]+)\)", face)[1]
            data = base64.b64decode(source.partition(",")[2]) if source.startswith("data:") else None
            characters = set(map(chr, TTFont(io.BytesIO(data) if data else folder / "_static" / source).getBestCmap()))
            bold = bool(re.search(r"font-weight:\s*(700|bold)", face))
            found[family, bold, "italic" in face] = characters
    for family in ("Book", "BookSans"):  # what has no face of its own is emboldened or slanted by the browser
        others = ("BookSymbols", "BookChinese", "BookGlossary")
        plain = found[family, False, False].union(*(found[other, False, False] for other in others))
        found |= {(family, bold, italic): plain for bold in (False, True) for italic in (False, True)}
    return found


WAITED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 400))))"


def open_with_late_fonts(page, name):
    """Open a page whose fonts come when the browser has stopped waiting for them, however slow this machine is."""
    held = []
    page.route("**/*.woff2", lambda font: held.append(font))
    page.goto(name, wait_until="domcontentloaded")
    page.evaluate(WAITED)
    assert held, "no font was asked for"
    for font in held:
        font.continue_()
    page.unroute("**/*.woff2")
    page.wait_for_load_state()


SHIFTS = """() => new Promise(done => {
    const moved = [];
    new PerformanceObserver(list => moved.push(...list.getEntries())).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done({
        score: moved.reduce((sum, shift) => sum + shift.value, 0),
        lines: moved.flatMap(shift => shift.sources).map(source => source.currentRect.y - source.previousRect.y)
            .filter(down => Math.abs(down) >= 1),
    }), 300);
})"""


def shifts(page):
    """Return Chrome's score of what has moved in the window, and how far each line went down or up."""
    page.evaluate("document.fonts.ready")
    return page.evaluate(SHIFTS)


FOCUS = """() => {
    const at = document.activeElement, box = at.getBoundingClientRect();
    if (at === document.body) return null;
    const shown = at.type === "radio" && at.nextElementSibling || at;  // what is drawn in the place of a radio button
    const style = getComputedStyle(shown);
    const middle = document.elementFromPoint(Math.max(1, box.x + Math.min(box.width, innerWidth) / 2), box.y + box.height / 2);
    return {
        what: at.outerHTML.slice(0, 90),
        outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
        seen: !!middle && (at.contains(middle) || middle.contains(at)),
    };
}"""
# everything that can be reached: visible, not taken out of the order; of radio buttons with one name, the chosen one
CONTROLS = """() => [...document.querySelectorAll("a[href], button, input:not([type=radio]:not(:checked)), summary, [tabindex='0']")].filter(e =>
    e.checkVisibility({ visibilityProperty: true }) && e.tabIndex >= 0).length"""


def walk_by_keyboard(page):
    """Press Tab through the page; return each stop, and how many there should be."""
    count, stops = page.evaluate(CONTROLS), []
    for _ in range(count + 5):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUS)
        if stop is None:
            break
        stops.append(stop)
    return stops, count
