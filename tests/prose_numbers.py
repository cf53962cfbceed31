"""A second entry for every number in the prose, so that no digit of it changes by a slip.

numbers_guard looks for each number among what the cells print and assert, and a small one stands in many places:
a wrong 4 finds a 4 to prove it. So the numbers are written down a second time, in ``tests/prose_numbers/``,
one file for each chapter and page and one line for each piece of its prose.
An entry says that its author read these numbers against the cells. After a change, read them and enter them again:

    make numbers CHAPTER=03

It shows what differs, and enters nothing while a number is unproved.
"""

import re
import sys
import tomllib
from difflib import SequenceMatcher
from pathlib import Path

import nbformat
from numbers_guard import MARKUP, passed_over, texts, unproved_numbers, unproved_on_page

ROOT = Path(__file__).resolve().parent.parent
ENTRIES = ROOT / "tests" / "prose_numbers"
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
PAGES = [ROOT / "index.md", *sorted((ROOT / "back").glob("*.md"))]
DIGIT = "[0-9⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉½⅓⅔¼¾⅛⅜⅝]"
# "one" is mostly no number, and to change it to another enters that one.
WORD = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    "|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion"
    "|twice|thrice|half|halves|thirds?|quarters?"
)
WRITTEN = re.compile(rf"[-−⁻]?{DIGIT}+(?:[.,/]{DIGIT}+)*(?:\s?\\?%)?|\b(?:{WORD})\b", re.I)


def pieces(path):
    """Yield each piece of prose of a chapter or page as (key, text); a piece keeps its key when others move."""
    if path.suffix == ".ipynb":
        notebook = nbformat.read(path, as_version=4)
        for text in texts(notebook):
            _, _, kind = text.place.partition(", ")
            cell = notebook.cells[text.cell]
            yield "description" if text.place == "the description" else f"{cell.id} {kind}".strip(), text.source
    else:
        for section in re.split(r"^(?=#)", path.read_text("utf8"), flags=re.M):
            title, _, _ = section.partition("\n")
            yield title.replace(":", "").strip(), section


def written(text):
    """Return the numbers that a reader sees in Markdown, letter for letter: years, exponents, code spans, number words."""
    return [re.sub(r"[\s\\]", "", each).lower() for each in WRITTEN.findall(passed_over(MARKUP, text))]


def entered(path):
    """Return what is entered for a chapter or page: the numbers of each piece of its prose."""
    entry = entry_of(path)
    lines = entry.read_text("utf8").splitlines() if entry.exists() else []
    return {key: found.split() for key, _, found in (line.partition(": ") for line in lines)}


def entry_of(path):
    return ENTRIES / f"{path.stem}.txt"


def differences(path):
    """Return a problem for each number that is not the one entered."""
    before, problems = entered(path), []
    for key, text in pieces(path):
        old, new = before.pop(key, []), written(text)
        for change, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if change != "equal":
                now, then = (" ".join(part) or "nothing" for part in (new[c:d], old[a:b]))
                problems.append(f"{key}: {now}, entered as {then}")
    return problems + [f"{key}: {' '.join(old)} entered, and no such prose" for key, old in before.items()]


def enter(path):
    """Write the numbers of a chapter or page down."""
    found = [(key, written(text)) for key, text in pieces(path)]
    ENTRIES.mkdir(exist_ok=True)
    entry_of(path).write_text("".join(f"{key}: {' '.join(each)}\n" for key, each in found if each), "utf8")


def unproved(path):
    """Return what numbers_guard has to say about a chapter or page."""
    plain = tomllib.loads((ROOT / "tests" / "plain_counts.toml").read_text("utf8"))
    allowed = plain.get(path.stem, {}).get("allow", [])
    if path in PAGES:
        return unproved_on_page(path.read_text("utf8"), [nbformat.read(each, 4) for each in CHAPTERS], allowed)
    return unproved_numbers(nbformat.read(path, as_version=4), allowed)


def main(start=""):
    for path in (path for path in [*CHAPTERS, *PAGES] if path.stem.startswith(start)):
        if problems := unproved(path):
            sys.exit("\n".join([f"{path.stem}: not entered, because of", *problems]))
        for difference in differences(path):
            print(f"{path.stem}, {difference}")
        enter(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
