"""Figures that every chapter draws the same way: heatmaps with their numbers, and one style.

A stored figure is an SVG whose bytes depend on nothing but its data,
so the notebook check compares figures as strictly as text.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from attention_lib._arguments import count, floats

# 4.6 inches are 442 CSS pixels. On a phone the figure shrinks to about 350, and its 11-point text
# (14.7 pixels) to 11.6: still readable. So no figure is wider, and no text smaller.
WIDTH = 4.6
FONT_SIZE = 11

# Colours that stay apart under the common colour-vision deficiencies, from Okabe and Ito's palette,
# darkened or kept where they reach 3:1 on white and on the dark page alike.
COLORS = ("#0072b2", "#d55e00", "#008a64", "#a8558a", "#8a6d00")
MAP = "cividis"  # perceptually even, and the same to readers who see red and green alike

# Numbers inside coloured cells. The book's build swaps pure black for a light ink in the dark theme;
# the first two are not pure, so they stay with the cell they were chosen for.
# A cell of NaN or infinity has no colour: its ink is pure, and changes with the page.
ON_LIGHT, ON_DARK, ON_PAGE = "#010101", "#fefefe", "#000000"


def use_book_style():
    """Set the style of the chapters' figures, and SVG that is the same on every run.

    Examples
    --------
    >>> use_book_style()
    >>> plt.rcParams["svg.fonttype"]
    'none'
    """
    plt.rcParams.update(
        {
            "figure.figsize": (WIDTH, 3.0),
            "figure.constrained_layout.use": True,
            "font.size": FONT_SIZE,
            "font.sans-serif": ["DejaVu Sans"],  # comes with Matplotlib; a list of ten would stand in every text
            "axes.titlesize": FONT_SIZE,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": plt.cycler(color=COLORS),
            "legend.frameon": False,
            "image.cmap": MAP,
            "image.interpolation": "none",  # keeps cell edges sharp at any zoom
            "mathtext.fontset": "dejavusans",
            "svg.fonttype": "none",  # text stays text: searchable, comparable, small
            "svg.hashsalt": "attention",  # ids that do not change from run to run
        }
    )
    ipython = sys.modules.get("IPython")
    if ipython and ipython.get_ipython():  # in a notebook
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None})


def heatmap(
    matrix,
    *,
    ax=None,
    rows=None,
    columns=None,
    xlabel="key j",
    ylabel="query i",
    title=None,
    digits=2,
    vmin=None,
    vmax=None,
):
    """Draw a small matrix as coloured cells with their numbers printed in them.

    Parameters
    ----------
    matrix : array_like, shape (n, m)
        The entries. NaN and infinities are printed on a cell without colour.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure whose height fits the rows.
    rows, columns : sequence of str, optional
        A name for each row and column, by default 1, 2, 3, …
    xlabel, ylabel : str
        What the columns and the rows are.
    title : str, optional
        A title above the cells.
    digits : int, default 2
        Decimals of the printed numbers.
    vmin, vmax : float, optional
        Entries that get the darkest and the lightest colour; give both to compare two heatmaps.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    TypeError
        If `matrix` does not hold real numbers, or `digits` is not an integer.
    ValueError
        If `matrix` is not 2-D or has no entries, a list of names has the wrong length, `digits` is negative,
        or `vmin` is above `vmax`.

    Examples
    --------
    >>> ax = heatmap([[0.25, 0.75]], columns=["cat", "mat"])
    >>> [text.get_text() for text in ax.texts]
    ['0.25', '0.75']
    """
    _, (matrix,) = floats(matrix=matrix)
    digits = count("digits", digits)
    if matrix.ndim != 2:
        raise ValueError(f"matrix must have shape (n, m), got shape {matrix.shape}")
    if matrix.size == 0:
        raise ValueError(f"matrix must have entries to draw, got shape {matrix.shape}")
    if vmin is not None and vmax is not None and vmin > vmax:
        raise ValueError(f"vmin must not be above vmax, got {vmin} and {vmax}")
    n, m = matrix.shape
    rows, columns = _names("rows", rows, n), _names("columns", columns, m)
    if ax is None:
        _, ax = plt.subplots(figsize=(WIDTH, 1.0 + 0.4 * n))
    image = ax.imshow(matrix, cmap=MAP, aspect="auto", vmin=vmin, vmax=vmax)
    ax.set_xticks(range(m), columns)
    ax.set_yticks(range(n), rows)
    ax.set(xlabel=xlabel, ylabel=ylabel, title=title)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    for i, j in np.ndindex(n, m):
        # Rounded twice: a tie such as 1.495 must not fall on either side with a machine's last digit.
        # The z leaves out the sign of what rounds to zero.
        text = f"{round(float(matrix[i, j]), digits + 6):z.{digits}f}"
        text = text.replace("-", "−").replace("inf", "∞").replace("nan", "NaN")
        ax.text(j, i, text, ha="center", va="center", color=_ink(image, matrix[i, j]))
    return ax


def _names(argument, names, length):
    names = [str(i + 1) for i in range(length)] if names is None else list(names)
    if len(names) != length:
        raise ValueError(f"{argument} must have {length} names, got {len(names)}")
    return names


def _ink(image, value):
    """Return the colour that reads best on the colour of `value`."""
    if not np.isfinite(value):
        return ON_PAGE
    red, green, blue, _ = image.cmap(image.norm(value))
    luminance = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
    # 0.179 is where black and white have the same contrast (WCAG 2.2, relative luminance)
    return ON_LIGHT if luminance > 0.179 else ON_DARK
