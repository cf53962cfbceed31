"""The rule for numbers reads every way of writing one, passes over what it should, and refuses what nothing proves."""

from fractions import Fraction

import nbformat
import numbers_guard
import pytest


def read(text):
    return [values[0] for _, values in numbers_guard.numbers(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.50", "0.5"),
        ("scores 2.", "2"),
        ("−0.533", "-0.533"),
        ("[-2, x]", "-2"),
        ("1,234.5", "1234.5"),
        (r"1{,}000", "1000"),
        ("1\u202f000", "1000"),
        ("1e-16", "1e-16"),
        ("1.5e+06", "1500000"),
        ("10^{-16}", "1e-16"),
        ("10⁻¹⁶", "1e-16"),
        ("3 × 10⁻⁴", "0.0003"),
        (r"2 \times 10^{5}", "200000"),
        ("10**-4", "0.0001"),
        ("1/2", "0.5"),
        ("weights 5/8.", "0.625"),
        (r"\tfrac12", "0.5"),
        (r"\frac{1}{3}", "1/3"),
        ("½", "0.5"),
        ("90%", "0.9"),
        (r"5\,\%".replace(r"\,", " "), "0.05"),
        ("2¹⁰", "1024"),
        ("n = 3", "3"),
        ("√64", "64"),
        ("`0.25`", "0.25"),
        ("±0.1", "0.1"),
    ],
)
def test_one_number(text, value):
    assert read(text) == [Fraction(value)]


@pytest.mark.parametrize("text", ["v1", "float64", "x_2", "GPT-2", "T5", "x₁", "n²", "e⁸", "no number"])
def test_names_and_indices_are_no_numbers(text):
    assert read(text) == []


def test_a_minus_between_numbers_subtracts():
    assert read("5-3, M-1, (a)-2 and -1") == [5, 3, 2, -1]


@pytest.mark.parametrize(
    "text",
    [
        "```{exercise-start}\n:label: ex-2\n```",
        ":label: ex-weights-2",
        "*Difficulty 2 of 3, 10 minutes.*",
        "**Reading time:** 25 minutes.",
        "{doc}`/chapters/02-scores` and {cite:t}`vaswani2017attention`",
        "{doc}`scores </chapters/02-scores>`",
        "[a change](https://example.org/pull/133882) and <https://example.org/2>",
        "See chapter 02, section 3.2.1, sections 2.1 and 2.5, equation 1, and Table 1.",
        "In 1964, and since 2017.",
        "A paper (2017) of 12 words"[:14],
        "$x_1 + x_{12} + y^2 + z^{10}$",
        "1. First\n2. Second",
        "$$\nx\n$$ (eq-2)",
        "(section-2)=",
        "% a comment with 3",
    ],
)
def test_what_the_rule_passes_over(text):
    assert read(numbers_guard.prose(text)) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("A 2000-token text", [2000]),
        ("of 2048 tokens", [2048]),
        ("```{admonition} The 3 ways\n:class: note\n\nOf 5.\n```", [3, 5]),
        ("`[2, 0]`", [2, 0]),
        ("```python\nx = 7\n```", [7]),
        ("[4 words](https://example.org/5)", [4]),
        ("$e^{0.5}$", ["0.5"]),
        ("$2^{10}$", [1024]),
        ("| 1 | 0.5 |", [1, "0.5"]),
        ("# The 3 scores", [3]),
        (":alt: 6 dots", [6]),
    ],
)
def test_what_the_rule_looks_at(text, values):
    assert read(numbers_guard.prose(text)) == [Fraction(value) for value in values]


def test_blanking_keeps_every_place():
    text = "Chapter 02: $x_1$, {cite:t}`a2020`, [b](c1) and 0.25.\n1. `a[0]`"
    cleaned = numbers_guard.prose(text, "a[0]")
    assert len(cleaned) == len(text)
    assert cleaned.index("0.25") == text.index("0.25")


def test_code_may_be_quoted():
    code = "scores.sum(axis=-1, keepdims=True)"
    assert read(numbers_guard.prose("Add up with `axis = -1`.", code)) == []
    assert read(numbers_guard.prose("Add up with `axis=-2`.", code)) == [-2]
    assert read(numbers_guard.prose("It is `1`.", code)) == [1]  # a number alone quotes nothing


# ---------------------------------------------------------------------------------------------------------------


def proof(source, output=""):
    cell = nbformat.v4.new_code_cell(source)
    cell.outputs = [nbformat.v4.new_output("stream", text=output)] if output else []
    return numbers_guard.proof(cell)


def test_what_is_printed_proves():
    assert proof("f(3)", "[0.25 -1.  ]\nfloat64: 709.78").values == {Fraction("0.25"), -1, Fraction("709.78")}


def test_what_is_asserted_proves():
    assert proof("assert f(x) == 7 and g(1 / 8) < 1e-12").values == {7, Fraction("1/8"), Fraction("1e-12")}
    assert proof("assert np.allclose(x, [-2, 3])").values == {-2, 2, 3}


def test_what_is_written_or_an_index_or_an_axis_does_not():
    assert proof("x = 5\nf(6)\nassert x[3].sum(axis=2) > y, 'more than 4'").values == set()


def chapter(prose, *cells, after="", alt=None, svg=None, description=""):
    """Return a chapter of one section with these cells of (source, output)."""
    made = [nbformat.v4.new_markdown_cell(f"## A section\n\n{prose}")]
    for source, output in cells or [("print(1)", "1")]:
        cell = nbformat.v4.new_code_cell(source)
        cell.outputs = [nbformat.v4.new_output("stream", text=output)] if output else []
        made.append(cell)
    if alt:
        cell = nbformat.v4.new_code_cell("plt.show()", metadata={"mystnb": {"image": {"alt": alt}}})
        cell.outputs = [nbformat.v4.new_output("display_data", data={"image/svg+xml": svg})]
        made.append(cell)
    made.append(nbformat.v4.new_markdown_cell(after))
    return nbformat.v4.new_notebook(cells=made, metadata={"myst": {"html_meta": {"description": description}}})


def problems(*arguments, **options):
    return numbers_guard.unproved_numbers(chapter(*arguments, **options))


def test_a_proved_number_passes():
    assert problems("The share is 0.25.", ("print(x)", "0.25")) == []
    assert problems("The share is 25 %.", ("print(x)", "0.25")) == []
    assert problems("The share is 1/4.", ("assert x == 1 / 4", "")) == []
    assert problems("A third is 1/3.", ("print(x)", "0.3333")) == []


@pytest.mark.parametrize(
    ("prose", "output"),
    [
        ("0.26", "0.25"),
        ("0.67", "0.6667"),  # not to the digits stated
        ("−0.25", "0.25"),
        ("0.25", "-0.25"),
        ("1/3", "0.334"),
        ("1/3", "1 3"),
        ("25 %", "0.26"),
        ("1,001", "1,000"),
        ("10⁻¹⁵", "1e-16"),
        ("$\\tfrac12$", "1 2"),
        ("`0.26`", "0.25"),
        ("| 0.26 |", "0.25"),
    ],
)
def test_an_unproved_number_is_refused(prose, output):
    (problem,) = problems(f"It is\n{prose}\nhere.", ("print(x)", output))
    assert problem.startswith("cell 0, line 4: ")
    assert "is neither printed nor asserted" in problem
    assert prose.strip("`|$ ") in problem


def test_alt_text_caption_and_description_count():
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><text>0.75</text></svg>'
    assert problems("", alt="A bar at 0.75.", svg=svg) == []
    (problem,) = problems("", alt="A bar at 0.76.", svg=svg)
    assert problem.startswith("cell 2, alt text: 0.76 is neither")
    (problem,) = problems("", description="The 37 words.")
    assert problem.startswith("the description: 37 is neither")


def test_a_later_section_proves_nothing():
    notebook = chapter("It is 0.25.", after="## Later")
    late = nbformat.v4.new_code_cell("print(x)")
    late.outputs = [nbformat.v4.new_output("stream", text="0.25")]
    notebook.cells.append(late)
    (problem,) = numbers_guard.unproved_numbers(notebook)
    assert "0.25 is neither printed nor asserted so far (cell 3 has it)" in problem


def test_a_common_number_needs_a_cell_nearby():
    far = [("print(7)", "7"), ("print(1)", "1")]
    assert problems("There are 7.", *far) == []
    (problem,) = problems("", *far, after="There are 7.")
    assert "7 is neither printed nor asserted by a cell nearby (cell 1 has it)" in problem
    assert problems("There are 71.", ("print(71)", "71"), *far[1:], after="There are 71.") == []
    assert problems("", ("print(7)", "7"), ("x = 1", ""), after="There are 7.") == []  # a cell without numbers between


def test_a_line_of_the_summary_is_proved_by_one_section():
    two = chapter("", ("print(x)", "0.25 0.5"), after="## Another")
    late = nbformat.v4.new_code_cell("print(x)")
    late.outputs = [nbformat.v4.new_output("stream", text="0.75")]
    two.cells += [late, nbformat.v4.new_markdown_cell("## What was verified\n\n- First 0.25 and 0.5.\n- Then 0.75.")]
    assert numbers_guard.unproved_numbers(two) == []
    two.cells[-1].source = "## What was verified\n\n- First 0.25 and 0.5, then 0.75."
    (problem,) = numbers_guard.unproved_numbers(two)
    assert "0.75 is neither printed nor asserted in the section that proves the rest of this line" in problem


@pytest.mark.parametrize(
    "prose",
    [
        "(5, 3, 8)",
        "`[5, 3]`",
        "5, 3 and 8",
        "8, 3 and 5",
        "columns 5, 2, 1",
        r"$\begin{pmatrix} 5 & 3 \\ 2 & 4 \end{pmatrix}$",
        "5 × 3",
        "5 by 3",
    ],
)
def test_a_list_in_order_passes(prose):
    assert problems(prose, ("print(x)", "[[5 3 8]\n [2 4 9]\n [1 6 7]]\n[[5 3]\n [2 4]]")) == []


@pytest.mark.parametrize(
    "prose",
    [
        "(3, 5, 8)",
        "`[5, 8]`",
        "5, 8 and 3",
        "3, 8, 5",
        r"$\begin{pmatrix} 5 & 3 \\ 4 & 2 \end{pmatrix}$",
        "8 × 3",
        "8 by 3",
    ],
)
def test_a_list_in_another_order_is_refused(prose):
    found = problems(prose, ("print(x)", "[[5 3 8]\n [2 4 9]]"))
    assert any("in this order" in problem for problem in found)


def test_a_list_may_quote_the_code():
    code = ("X = [[5, 3], [2, 4]]\nassert X == [[5, 3], [2, 4]]", "")
    assert problems("The rows `[5, 3]` and (2, 4).", code) == []
    assert any("in this order" in problem for problem in problems("The row `[3, 2]`.", code))


@pytest.mark.parametrize(
    "equation",
    [
        "2·2 + 0·0 + 2·1 = 6",
        "4·6·5 = 120",
        "√64 = 8",
        "1/8 = 0.125",
        "2 − 5 = -3",
        "0.1554·2 = 0.31",
        "2.72 + 7.39 + 7.39 = 17.49",
        "-3 = -2 − 1",
        "1 = 2/2 = √1",
    ],
)
def test_an_equation_that_holds(equation):
    assert list(numbers_guard.equations(equation)) == []


@pytest.mark.parametrize(
    "equation", ["2·2 + 0·0 + 2·1 = 7", "4·6·5 = 121", "√64 = 9", "1/8 = 0.135", "0.1554·2 = 0.32"]
)
def test_an_equation_that_does_not_hold(equation):
    assert len(list(numbers_guard.equations(equation))) == 1


@pytest.mark.parametrize(
    "text", ["x + 2 = 4", "2 = n", "d = 4 above, M = 3 below", "k² = 4", "3·x = 6", "axis=-1, 2 = 2d"]
)
def test_an_equation_with_letters_is_left_alone(text):
    assert list(numbers_guard.equations(text)) == []


def test_phrases_are_passed_over_where_they_stand():
    notebook = chapter("There are 37 ways, and 38 more.")
    (problem,) = numbers_guard.unproved_numbers(notebook, ["37 ways"])
    assert "38 is neither" in problem


def test_a_phrase_that_is_not_said_is_refused():
    (problem,) = numbers_guard.unproved_numbers(chapter("No number."), ["37 ways"])
    assert "'37 ways', which is not said" in problem


def test_a_page_is_proved_by_one_chapter():
    one, two = chapter("", ("print(x)", "0.25")), chapter("", ("print(x)", "0.75"))
    assert numbers_guard.unproved_on_page("First 0.25.\nThen 0.75.", [one, two]) == []
    (problem,) = numbers_guard.unproved_on_page("First.\nBoth 0.25 and 0.75.", [one, two])
    assert problem.startswith("line 2: ")
    assert "in the chapter that proves the rest of the line" in problem
