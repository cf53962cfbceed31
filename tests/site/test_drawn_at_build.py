"""Formulas, figures, folds and tables as the build draws them; and what it cannot draw fails it, with its place."""

import io
import re
import xml.etree.ElementTree as ET

import matplotlib
import matplotlib.pyplot as plt
import pytest
from attention_lib import plotting
from bs4 import BeautifulSoup
from inline_figures import inline
from static_math import render


def cell(source, output=None, **metadata):
    outputs = [{"output_type": "display_data", "data": {"image/svg+xml": output}, "metadata": {}}] if output else []
    return {"cell_type": "code", "execution_count": 1, "source": source, "outputs": outputs, "metadata": metadata}


def notebook(*cells):
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": each} if isinstance(each, str) else each for each in cells
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 4}


def described(alt):
    return {"mystnb": {"image": {"alt": alt}, "figure": {"caption": "What it is.", "name": f"fig-{alt}"}}}


@pytest.fixture(scope="module")
def svg():
    """A figure with all that the pages treat in a special way."""
    with matplotlib.rc_context():
        plotting.use_book_style()
        figure, (left, right) = plt.subplots(2)
        plotting.heatmap([[0.1, 0.9]], ax=left)
        right.plot([1, 2], [3, 4], marker="o", label="first $x_1$")
        right.legend()
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
        plt.close(figure)
    return file.getvalue()


PROSE = """# One

Here is $x < y$ and

$$
a = b
$$ (eq-one)

and {eq}`eq-one`.

```{hint}
:class: dropdown

Look *left*.
```

```{admonition} With a title & more
:class: dropdown note

Inside.
```

```{note}
Not folded.
```

| a | b |
|---|---|
| 1 | 分数 of $x$ |
"""


@pytest.fixture(scope="module")
def page(small_book, svg):
    chapter = notebook(
        PROSE,
        cell("draw()", svg, **described("first")),
        cell("draw()", svg, tags=["hide-input"], **described("second")),
        cell("def f(n):\n    return f'{n}' + 'é'  # why\n"),
    )
    status, said, pages = small_book(index="# Home\n\nWords.\n", one=chapter)
    assert status == 0, said
    return BeautifulSoup((pages / "one.html").read_text("utf8"), "html.parser")


def test_a_formula_is_html_for_the_eye_and_mathml_for_the_ear(page):
    formula = page.select_one("p .katex")
    assert formula.select_one(".katex-html")["aria-hidden"] == "true"
    assert formula.select_one("math").get_text() == "x<y"
    assert not page.select("annotation, script[src*=mathjax]")


def test_an_equation_has_its_number_and_is_linked(page):
    equation = page.select_one(".equation")
    number = equation.select_one("a.eqno")
    assert number["href"] == "#" + equation["id"]
    reference = page.select_one(f"p a.reference.internal[href='#{equation['id']}']")
    assert reference.get_text() == number.get_text() == "(1)"


def test_a_dropdown_is_a_native_fold_and_keeps_its_title_and_kind(page):
    hint, other, code = page.select("details")
    assert hint.summary.get_text() == "Hint" and "hint" in hint["class"] and hint.em.get_text() == "left"
    assert other.summary.get_text() == "With a title & more" and "note" in other["class"]
    assert code.summary.get_text() == "Code" and code.select_one(".cell_input")
    assert not page.select(".dropdown, [open]")
    assert page.select_one("div.admonition.note").get_text(" ", strip=True) == "Note Not folded."


def test_a_table_stands_in_a_box_that_scrolls(page):
    assert page.select_one("div.scrolls.table > table td .katex")


def test_chinese_is_marked_as_chinese(page):
    assert [span.get_text() for span in page.select("[lang=zh]")] == ["分数"]


def test_code_keeps_every_character_and_only_colours_that_the_style_sheet_knows(page):
    code = page.select(".cell_input pre")[-1]
    assert code.get_text() == "def f(n):\n    return f'{n}' + 'é'  # why\n"
    assert {name for span in code.select("span[class]") for name in span["class"]} <= {
        "k", "nf", "sa", "s1", "si", "c1",
    }  # fmt: skip


def test_two_equal_figures_share_no_id(page):
    first, second = page.select("svg.plot")
    ids = [element["id"] for element in page.select("[id]")]
    assert len(ids) == len(set(ids))
    assert first["aria-label"] == "first" and second["aria-label"] == "second" and first["role"] == "img"
    for plot in (first, second):
        own = {element["id"] for element in plot.select("[id]")}
        linked = set(re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)", str(plot)))
        assert linked and {a or b for a, b in linked} <= own


def test_a_figure_takes_the_colours_of_the_page_and_keeps_those_of_its_cells(svg):
    drawn = inline(svg, "a", "plot1-")
    assert "#000000" not in drawn and "#ffffff" not in drawn and plotting.COLORS[0] not in drawn
    assert "currentColor" in drawn and "var(--paper)" in drawn and "var(--plot-1)" in drawn
    assert {plotting.ON_LIGHT, plotting.ON_DARK} <= set(re.findall(r"#[0-9a-f]{6}", drawn))


def test_a_figure_keeps_its_size_its_text_and_its_pictures(svg):
    drawn, stored = ET.fromstring(inline(svg, 'say "a" & <b>', "p")), ET.fromstring(svg)
    assert drawn.get("aria-label") == 'say "a" & <b>'
    width, height = map(float, stored.get("viewBox").split()[2:])
    assert int(drawn.get("width")) == pytest.approx(width * 96 / 72, abs=0.5)
    assert int(drawn.get("height")) == pytest.approx(height * 96 / 72, abs=0.5)
    before, after = ([written(text) for text in root.iter() if text.tag.endswith("text")] for root in (stored, drawn))
    assert after == before and "0.90" in after
    assert [image.get("href") for image in drawn.iter("image")] == [
        "".join(image.get("{http://www.w3.org/1999/xlink}href").split())
        for image in stored.iter("{http://www.w3.org/2000/svg}image")
    ]


def written(text):
    return "".join(part.text for part in text.iter() if part.text and not len(part))


def test_rounding_moves_nothing_by_a_tenth_of_a_pixel(svg):
    numbers = [
        [float(n) for path in ET.fromstring(text).iter() if path.tag.endswith("path") for n in re.findall(r"-?\d+\.?\d*", path.get("d"))]
        for text in (svg, inline(svg, "a", "p"))
    ]
    assert len(numbers[0]) > 50
    assert numbers[1] == pytest.approx(numbers[0], abs=0.01)


@pytest.mark.parametrize("tex", [r"\foo", r"\frac{1}", r"\begin{pmatrix} 1", "x_1_2", r"\label{a}", "分数"])
def test_katex_refuses_what_it_cannot_read(tex):
    with pytest.raises(ValueError):
        render(tex, False)


def test_a_fault_fails_the_build_and_says_where(small_book, svg):
    status, said, _ = small_book(
        index="# Home\n\nGood $x$.\n\nBad $\\foo{x}$ here.\n",
        two="# Two\n\n$$\n\\frac{1}\n$$ (eq-bad)\n",
        three=notebook("# Three", cell("draw()", svg)),
    )
    assert status == 1
    faults = [line for line in said.splitlines() if "WARNING" in line]
    assert len(faults) == 3, faults
    assert "index.md:5: WARNING: maths:" in faults[0] + faults[1] + faults[2] and r"\foo" in said
    assert any(re.search(r"two.md:3: WARNING: maths:", fault) for fault in faults)
    assert any("three.ipynb" in fault and "figure without alt text" in fault for fault in faults)
