"""Figures, by what they show: their texts, labels and colours, never their pixels."""

import io
import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from attention_lib import plotting

PAGES = "#ffffff", "#14181e"  # the theme's backgrounds, light and dark


@pytest.fixture(autouse=True)
def clean_state():
    """Draw without a screen, and leave neither figures nor settings behind."""
    plt.switch_backend("agg")
    with mpl.rc_context():
        yield
    plt.close("all")


def texts(ax):
    return [text.get_text() for text in ax.texts]


def contrast(one, other):
    """Return the contrast ratio of WCAG 2.2, from 1 to 21."""

    def luminance(color):
        channels = np.array(to_rgb(color))
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return linear @ (0.2126, 0.7152, 0.0722)

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_every_entry_is_printed_in_its_cell():
    matrix = np.array([[0.1, 0.25, 0.65], [1, 0, 0]])
    ax = plotting.heatmap(matrix)
    assert texts(ax) == ["0.10", "0.25", "0.65", "1.00", "0.00", "0.00"]
    assert [text.get_position() for text in ax.texts] == [(j, i) for i in range(2) for j in range(3)]
    assert (ax.images[0].get_array() == matrix).all()
    assert ax.images[0].get_cmap().name == plotting.MAP


@pytest.mark.parametrize(
    "value, digits, text",
    [
        (-1.5, 1, "−1.5"),  # a true minus sign
        (-0.001, 2, "0.00"),  # nothing negative is left to see
        (0.125, 0, "0"),
        (1234.5, 1, "1234.5"),
        (np.inf, 2, "∞"),
        (-np.inf, 2, "−∞"),
        (np.nan, 2, "NaN"),
        (True, 0, "1"),
        (1.495 - 2e-16, 2, "1.50"),  # ties fall alike, whatever a machine's last digit
        (1.495 + 3e-16, 2, "1.50"),
    ],
)
def test_numbers_are_printed_as_a_reader_expects(value, digits, text):
    assert texts(plotting.heatmap([[value, 1]], digits=digits))[0] == text


def test_names_and_labels():
    ax = plotting.heatmap(np.eye(2), rows=["the", "cat"], columns=("sat", "down"), title="Weights")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["the", "cat"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["sat", "down"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("key j", "query i", "Weights")
    ax = plotting.heatmap(np.ones((1, 3)), xlabel="feature", ylabel="token")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "3"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("feature", "token", "")


def test_two_heatmaps_share_a_scale():
    first, second = plotting.heatmap([[0, 1]], vmin=-2, vmax=2), plotting.heatmap([[2]], vmin=-2, vmax=2)
    assert first.images[0].get_clim() == second.images[0].get_clim() == (-2, 2)
    assert plotting.heatmap([[3, 5]]).images[0].get_clim() == (3, 5)


def test_it_draws_where_it_is_told_or_in_a_figure_of_its_own():
    _, (left, right) = plt.subplots(1, 2)
    assert plotting.heatmap([[1]], ax=right) is right
    assert not left.images
    one, five = (plotting.heatmap(np.ones((n, 2))).figure.get_size_inches() for n in (1, 5))
    assert one[0] == five[0] == plotting.WIDTH
    assert one[1] < five[1]


@pytest.mark.parametrize("n, m", [(1, 2), (3, 3), (8, 6)])
def test_everything_fits(n, m):
    plotting.use_book_style()
    ax = plotting.heatmap(np.full((n, m), -0.25), rows=["a long name"] * n, title="Weights", vmin=-1)
    ax.figure.draw_without_rendering()
    cell_height, cell_width = ax.bbox.height / n, ax.bbox.width / m
    for text in ax.texts:
        box = text.get_window_extent()
        assert box.height < 0.9 * cell_height
        assert box.width < cell_width
    everything, page = ax.get_tightbbox(), ax.figure.bbox
    assert everything.x0 >= page.x0
    assert everything.x1 <= page.x1
    assert everything.y0 >= page.y0
    assert everything.y1 <= page.y1


def test_text_is_legible_on_a_phone():
    phone = 350  # CSS pixels that a figure gets on a screen of 390; 96 pixels an inch, 72 points an inch
    assert plotting.FONT_SIZE / 72 * 96 * min(1, phone / (plotting.WIDTH * 96)) >= 11


def test_numbers_are_legible_on_every_colour():
    ax = plotting.heatmap(np.linspace(0, 1, 256)[None])
    cells = ax.images[0].cmap(ax.images[0].norm(np.linspace(0, 1, 256)))
    assert min(contrast(text.get_color(), cell[:3]) for text, cell in zip(ax.texts, cells, strict=True)) > 4.5


def test_numbers_without_a_colour_take_the_page_s_ink():
    ax = plotting.heatmap([[np.nan, -np.inf, 0, 1]])
    assert [text.get_color() for text in ax.texts[:2]] == [plotting.ON_PAGE] * 2
    assert ax.images[0].get_clim() == (0, 1)


@pytest.mark.parametrize(
    "args, error, message",
    [
        ({"matrix": [1, 2]}, ValueError, "matrix must have shape (n, m), got shape (2,)"),
        ({"matrix": np.ones((2, 2, 2))}, ValueError, "matrix must have shape (n, m), got shape (2, 2, 2)"),
        ({"matrix": np.ones((0, 3))}, ValueError, "matrix must have entries to draw, got shape (0, 3)"),
        ({"matrix": np.eye(2), "rows": ["a"]}, ValueError, "rows must have 2 names, got 1"),
        ({"matrix": np.eye(2), "columns": "abc"}, ValueError, "columns must have 2 names, got 3"),
        ({"matrix": [[1j]]}, TypeError, "matrix must hold real numbers, got dtype complex128"),
        ({"matrix": [["1"]]}, TypeError, "matrix must hold real numbers, got dtype <U1"),
        ({"matrix": np.eye(2), "digits": 2.0}, TypeError, "digits must be an integer, got 2.0"),
        ({"matrix": np.eye(2), "digits": -1}, ValueError, "digits must be 0 or more, got -1"),
        ({"matrix": np.eye(2), "vmin": 1, "vmax": 0}, ValueError, "vmin must not be above vmax, got 1 and 0"),
    ],
)
def test_messages(args, error, message):
    with pytest.raises(error) as caught:
        plotting.heatmap(**args)
    assert str(caught.value) == message
    assert not plt.get_fignums()  # nothing is drawn that would show up later


def test_colours_stand_out_on_both_pages():
    assert len(set(plotting.COLORS)) == 5
    for color in plotting.COLORS:
        assert min(contrast(color, page) for page in PAGES) > 3
    assert contrast(plotting.ON_PAGE, PAGES[0]) > 7


def test_book_style():
    plotting.use_book_style()
    assert plt.rcParams["axes.prop_cycle"].by_key()["color"] == list(plotting.COLORS)
    assert plt.rcParams["font.size"] == plotting.FONT_SIZE
    _, ax = plt.subplots()
    legend = ax.legend(ax.plot([1]), ["a"])
    drawn = [ax.xaxis.label, ax.title, *ax.get_xticklabels(), *ax.get_yticklabels(), *legend.texts]
    assert min(text.get_fontsize() for text in drawn) >= plotting.FONT_SIZE
    assert ax.figure.get_figwidth() <= plotting.WIDTH


def test_a_figure_is_the_same_to_the_byte_and_its_text_is_text():
    def draw():
        plotting.use_book_style()
        svg = io.StringIO()
        plotting.heatmap([[0.25, -0.75]], title="Weights").figure.savefig(svg, format="svg", metadata={"Date": None})
        return svg.getvalue()

    svg = draw()
    assert svg == draw()
    for text in ("0.25", "−0.75", "Weights", "query i"):
        assert f">{text}</text>" in svg


IN_A_NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(history_length=0)
import matplotlib
matplotlib.use("agg")
from attention_lib import plotting
plotting.use_book_style()
data, _ = shell.display_formatter.format(plotting.heatmap([[1]]).figure)
print(*sorted(data), "date" in data["image/svg+xml"])
"""
IN_A_SCRIPT = """
import IPython
import matplotlib
matplotlib.use("agg")
from attention_lib import plotting
plotting.use_book_style()
print(IPython.get_ipython())
"""
ELSEWHERE = """
import sys
sys.modules["IPython"] = sys.modules["matplotlib_inline"] = None  # not installed
import matplotlib
matplotlib.use("agg")
from attention_lib import plotting
plotting.use_book_style()
print(plotting.heatmap([[1]]).texts[0].get_text())
"""


@pytest.mark.parametrize(
    "code, expected",
    [(IN_A_NOTEBOOK, "image/svg+xml text/plain False\n"), (IN_A_SCRIPT, "None\n"), (ELSEWHERE, "1.00\n")],
    ids=["notebook", "script", "elsewhere"],
)
def test_style_in_a_notebook_and_without_one(code, expected, tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == expected
