"""A changed digit anywhere in the prose is another number than the one entered."""

import nbformat
import prose_numbers
import pytest


@pytest.fixture
def chapter(tmp_path, monkeypatch):
    """Return a function that writes a chapter with this prose and alt text, and gives its path."""
    monkeypatch.setattr(prose_numbers, "ENTRIES", tmp_path / "entries")

    def write(prose, alt="A bar at 0.75."):
        made = [
            nbformat.v4.new_markdown_cell(prose, id="words"),
            nbformat.v4.new_code_cell("plt.show()", id="figure", metadata={"mystnb": {"image": {"alt": alt}}}),
        ]
        nbformat.write(nbformat.v4.new_notebook(cells=made), tmp_path / "09-test.ipynb")
        return tmp_path / "09-test.ipynb"

    return write


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The 4 keys of 0.50, −1 and 1/8.", ["4", "0.50", "−1", "1/8"]),
        ("In 2017, section 3.2.1 said $x_2^{10}$ and x³.", ["2017", "3.2.1", "2", "10", "³"]),
        ("`axis=-2` of GPT-3", ["-2", "-3"]),
        ("**Reading time:** 25 minutes.", ["25"]),
        ("{doc}`/chapters/02-scores` and [2 words](https://example.org/5)", ["2"]),
        ("Two keys in one row, twice as long; twenty-five, a quarter", ["two", "twice", "twenty", "five", "quarter"]),
        (r"90% of it, 10 % and $5\%$, but 3", ["90%", "10%", "5%", "3"]),
        ("`two_keys`, often and attention", []),
        (":::{figure} a-3.svg\n:name: fig-4\n:::", []),
    ],
)
def test_what_a_reader_sees_is_read(text, found):
    assert prose_numbers.written(text) == found


def test_what_is_entered_passes(chapter):
    path = chapter("With 4 keys.\n\n- 5 queries")
    prose_numbers.enter(path)
    assert prose_numbers.differences(path) == []
    assert prose_numbers.differences(chapter("Other words: 4, then 5")) == []


@pytest.mark.parametrize(
    ("prose", "alt", "problem"),
    [
        ("With 3 keys and 5.", "A bar at 0.75.", "words: 3, entered as 4"),
        ("With 4 keys.", "A bar at 0.75.", "words: nothing, entered as 5"),
        ("With 4 keys and 5 of 6.", "A bar at 0.75.", "words: 6, entered as nothing"),
        ("With 4 keys and -5.", "A bar at 0.75.", "words: -5, entered as 5"),
        ("With 4 keys and 5, three times.", "A bar at 0.75.", "words: three, entered as nothing"),
        ("With four keys and 5.", "A bar at 0.75.", "words: four, entered as 4"),
        ("With 4 keys and 5.", "A bar at 0.74.", "figure alt text: 0.74, entered as 0.75"),
        ("With 4 keys and 5.", "A bar.", "figure alt text: nothing, entered as 0.75"),
        ("With 4 keys and 5.", None, "figure alt text: 0.75 entered, and no such prose"),
    ],
)
def test_a_changed_number_is_found(chapter, prose, alt, problem):
    prose_numbers.enter(chapter("With 4 keys and 5."))
    assert prose_numbers.differences(chapter(prose, alt)) == [problem]


def test_a_chapter_without_entries_is_found(chapter):
    assert prose_numbers.differences(chapter("With 4 keys.", None)) == ["words: 4, entered as nothing"]


def test_nothing_unproved_is_entered(chapter, monkeypatch):
    path = chapter("With 4 keys.")
    monkeypatch.setattr(prose_numbers, "CHAPTERS", [path])
    with pytest.raises(SystemExit, match="09-test: not entered, because of\ncell 0, line 1: 4 is neither"):
        prose_numbers.main("09")
    assert prose_numbers.entered(path) == {}


def test_a_page_is_read_by_its_headings(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# First: a page\n\nHas 2.\n\n## Next\n\nHas 3.\n", "utf8")
    assert [(key, prose_numbers.written(text)) for key, text in prose_numbers.pieces(page) if key] == [
        ("# First a page", ["2"]),
        ("## Next", ["3"]),
    ]
