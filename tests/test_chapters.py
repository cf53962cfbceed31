"""Every rule of guards.py, numbers_guard.py and prose_numbers.py, applied to every chapter and page of the book."""

import re
import tomllib
from pathlib import Path

import guards
import nbformat
import numbers_guard
import prose_numbers
import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
PAGES = [ROOT / "index.md", *sorted((ROOT / "back").glob("*.md"))]
BIBLIOGRAPHY = (ROOT / "references.bib").read_text("utf8")
PLAIN = tomllib.loads((ROOT / "tests" / "plain_counts.toml").read_text("utf8"))
MOST_PLAIN = 15  # phrases that the rule for numbers passes over, for one chapter or page


def name(path):
    return path.relative_to(ROOT).with_suffix("").as_posix()


def read(path):
    return nbformat.read(path, as_version=4)


def none(problems):
    """Fail with the problems and nothing else: they say where they are."""
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def plain(path):
    return PLAIN.get(path.stem, {}).get("allow", [])


@pytest.fixture(params=CHAPTERS, ids=name)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return read(path)


@pytest.mark.parametrize("guard", guards.FOR_CHAPTERS, ids=lambda guard: guard.__name__)
def test_chapter(notebook, guard):
    none(guard(notebook))


def test_chapter_is_in_normal_form(path):
    nbformat.validate(read(path))
    none(guards.is_normal(path))


def test_every_number_in_a_chapter_is_proved(path, notebook, record_property):
    none(numbers_guard.unproved_numbers(notebook, plain(path)))
    record_property("found", ("numbers in the prose of chapters, each proved by a cell", numbers_guard.count(notebook)))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_number_on_a_page_is_proved(page):
    none(numbers_guard.unproved_on_page(page.read_text("utf8"), map(read, CHAPTERS), plain(page)))


@pytest.mark.parametrize("source", [*CHAPTERS, *PAGES], ids=name)
def test_every_number_is_the_one_entered(source):
    differences = prose_numbers.differences(source)
    none(differences and [*differences, f"Read them against the cells, then: make numbers CHAPTER={source.stem}"])


def test_entries_belong_to_a_chapter_or_page():
    assert {path.stem for path in prose_numbers.ENTRIES.iterdir()} == {path.stem for path in (*CHAPTERS, *PAGES)}


def test_few_numbers_are_passed_over():
    assert set(PLAIN) <= {path.stem for path in (*CHAPTERS, *PAGES)}
    for listed in PLAIN:
        phrases = plain(Path(listed))
        assert len(phrases) == len(set(phrases)) <= MOST_PLAIN
        assert all(re.search(r"[0-9]", phrase) and re.search(r"[a-z]{2}", phrase) for phrase in phrases)


@pytest.mark.parametrize("source", [*CHAPTERS, *PAGES], ids=name)
@pytest.mark.parametrize(
    "guard", [guards.sentences_stand_alone, guards.words_are_plain], ids=lambda guard: guard.__name__
)
def test_prose(source, guard):
    if source in CHAPTERS:
        texts = {f"cell {place}, ": cell.source for place, cell in guards.markdown_cells(read(source))}
    else:
        texts = {"": source.read_text("utf8")}
    none([f"{place}{problem}" for place, text in texts.items() for problem in guard(text)])


@pytest.mark.parametrize("source", [*CHAPTERS, *PAGES], ids=name)
def test_citations_and_formulas(source):
    text = markdown(source)
    keys = set(re.findall(r"^@\w+\{([^,]+),", BIBLIOGRAPHY, re.M))
    none(guards.citations_exist(text, keys))
    none(guards.few_formulas(text))


def markdown(source):
    if source.suffix == ".md":
        return source.read_text("utf8")
    return "\n".join(cell.source for _, cell in guards.markdown_cells(read(source)))


def test_every_source_can_be_followed():
    none(guards.bibliography_can_be_followed(BIBLIOGRAPHY))


def test_labels_are_unique():
    texts = {name(source): markdown(source) for source in (*CHAPTERS, *PAGES)}
    for path in CHAPTERS:
        names = [cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "") for cell in read(path).cells]
        texts[name(path)] += "\n" + "\n".join(f"({each})=" for each in names if each)
    none(guards.labels_are_unique(texts))


def test_the_contents_are_complete():
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    listed = [chapter["file"] for part in contents["parts"] for chapter in part["chapters"]]
    assert contents["root"] == "index"
    assert {name(path) for path in CHAPTERS} <= set(listed)
    none(guards.contents_are_complete(listed, ROOT))
