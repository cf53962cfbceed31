"""Rules for chapters and pages that nbval and the build do not hold; numbers have their own file, numbers_guard.py.

Each guard takes a notebook, or what its name says, and returns a list of problems in plain words, each with its place.
"""

import ast
import re
import statistics
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import notebooks  # tools/notebooks.py

from attention_lib import explorables

# What a cell's tag may be. A misspelt tag does nothing, so others are refused.
TAGS = {
    "hide-input",  # a long plotting cell, folded
    "exercise",  # where the reader writes
    "solution",  # runs between solution-start and solution-end
    "remove-cell",  # only for other places than the book, such as Colab's set-up
}
# What an output may hold: text and figures that stay sharp, and the HTML of an explorable. Any other control needs a
# kernel, and a page has none; nbval does not compare PNG.
MIMES = {"text/plain", "image/svg+xml"}
EXPLORABLE = re.compile(rf'<div class="explorable" data-module="(?:{"|".join(explorables.modules())})" data-state="')
LINES, MEDIAN, COLUMNS = 25, 7, 90  # of a code cell
SVG_BYTES = 40_000
PHONE = 390 - 2 * 16  # CSS pixels that a figure has on a phone
SMALLEST_TEXT = 11  # CSS pixels
FORMULAS = 45  # on a page: some 40, and a few
OPENING = ["**The question.**", "**You will be able to**", "**You need**", "**Reading time:**"]
ENDING = ["What was verified", "Exercises", "What to read next", "References"]
BANNED = r"\b(?:simply|just|obviously|trivial(ly)?|of course|needless to say|crucial(ly)?|delve|leverage|seamless(ly)?)\b"


def code_cells(notebook):
    """Return (place, cell) for each code cell."""
    return [(place, cell) for place, cell in enumerate(notebook.cells) if cell.cell_type == "code"]


def markdown_cells(notebook):
    return [(place, cell) for place, cell in enumerate(notebook.cells) if cell.cell_type == "markdown"]


def printed(cell):
    """Return the text that a cell's outputs show."""
    return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)


def tags(cell):
    return cell.metadata.get("tags", [])


# ---------------------------------------------------------------------------------------------------------------
# Code and outputs: the blind spots of nbval


def ran_from_top_to_bottom(notebook):
    """nbval compares nothing in a cell that was never run."""
    return [
        f"cell {place} has execution count {cell.execution_count}, expected {n}: store the outputs with make run"
        for n, (place, cell) in enumerate(code_cells(notebook), 1)
        if cell.execution_count != n
    ]


QUIET = {
    "use_book_style",
    "set_printoptions",
    "fill_diagonal",
    "append",
    "extend",
    "update",
    "simplefilter",
}  # return None


def shows_what_it_should(notebook):
    """A cell that ends in an expression, prints or shows has an output."""
    problems = []
    for place, cell in code_cells(notebook):
        body = ast.parse(cell.source).body
        last = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
        if isinstance(last, ast.Call) and name_of(last) in QUIET:
            last = None
        calls = {
            name_of(node) for statement in body for node in outside_functions(statement) if isinstance(node, ast.Call)
        }
        if not cell.outputs and (last is not None or calls & {"print", "show"}):
            problems.append(f"cell {place} has no output, and it ends in an expression, prints or shows")
    return problems


def name_of(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)


def outside_functions(node):
    """Yield a node and those below it, but not what a function would do if called."""
    if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from outside_functions(child)


def has_no_error(notebook):
    """No traceback and no warning is stored: nbval does not tell stderr from stdout."""
    return [
        f"cell {place} stores {'an error' if output.output_type == 'error' else 'text on stderr'}"
        for place, cell in code_cells(notebook)
        for output in cell.outputs
        if output.output_type == "error" or output.get("name") == "stderr"
    ]


def outputs_are_text_or_svg(notebook):
    return [
        f"cell {place} stores {mime}, which is not among {', '.join(sorted(MIMES))}"
        for place, cell in code_cells(notebook)
        for output in cell.outputs
        for mime, data in output.get("data", {}).items()
        if mime not in MIMES and not (mime == "text/html" and EXPLORABLE.match(data))
    ]


def explorables_are_introduced(notebook):
    """Before an explorable stands what to try and what to notice, and it is its cell's only output."""
    problems = []
    for place, cell in code_cells(notebook):
        if not any("text/html" in output.get("data", {}) for output in cell.outputs):
            continue
        before = notebook.cells[place - 1].source if place else ""
        if not re.search(r"^\*\*Try it\.\*\*.*^Notice ", before, re.M | re.S):
            problems.append(f"cell {place} has an explorable, and before it no **Try it.** with a line that begins Notice")
        if len(cell.outputs) != 1:
            problems.append(f"cell {place} has {len(cell.outputs)} outputs; an explorable stands alone")
    return problems


MACHINE = {
    r"\b0x[0-9a-f]{5,}\b": "a memory address",
    r"(?<![\w.])/(?:home|Users|root|tmp|var|usr|opt|mnt|private)/|\b[A-Z]:\\|ipykernel_|site-packages": "a path",
    r"\bnp\.(?:float|int|uint|bool|str)[0-9_]*\(": "NumPy's name for a number: print it, or format it",
    r"(?<![\w.])[-−]0(?:\.0*)?(?![\w.])|(?<![\w.])[-−]0\.(?=[\s,\])]|$)": "a minus zero: round and add 0",
    r"[0-9] ?(?:ns|µs|us|ms)\b|\bWall time|\bCPU times|\bit/s\b|±.* per loop": "a time that the machine took",
    r"\bWarning\b": "a warning",
}


def outputs_are_the_same_everywhere(notebook):
    """Nothing is printed that differs between machines, or that only a programmer reads."""
    return [
        f"cell {place} prints {what}: {match[0].strip()!r}"
        for place, cell in code_cells(notebook)
        for pattern, what in MACHINE.items()
        for match in re.finditer(pattern, printed(cell), re.M)
    ]


def tags_are_known(notebook):
    return [
        f"cell {place} has the tag {tag!r}, which is not among {', '.join(sorted(TAGS))}"
        for place, cell in enumerate(notebook.cells)
        for tag in tags(cell)
        if tag not in TAGS
    ]


def code_is_plain(notebook):
    """No line ends in ; (nbval cannot compare), and nothing tells nbval or IPython to behave otherwise."""
    problems = []
    for place, cell in code_cells(notebook):
        for n, line in enumerate(cell.source.split("\n"), 1):
            if line.rstrip().endswith(";"):
                problems.append(f"cell {place}, line {n} ends in a semicolon: end a plot with plt.show()")
            if "NBVAL" in line.upper() or re.match(r"\s*[%!?]", line):
                problems.append(f"cell {place}, line {n} is not plain Python: {line.strip()}")
    return problems


def cells_are_short(notebook):
    """A reader takes in a few lines at a time, and a phone shows few columns."""
    problems, lengths = [], []
    for place, cell in code_cells(notebook):
        lines = cell.source.split("\n")
        if "hide-input" not in tags(cell):
            lengths.append(sum(1 for line in lines if line.strip()))
        if len(lines) > LINES:
            problems.append(f"cell {place} has {len(lines)} lines, more than {LINES}")
        problems += [
            f"cell {place}, line {n} has {len(line)} columns, more than {COLUMNS}"
            for n, line in enumerate(lines, 1)
            if len(line) > COLUMNS
        ]
    if lengths and statistics.median(lengths) > MEDIAN:
        problems.append(
            f"half of the code cells have {statistics.median(lengths):g} lines or more; {MEDIAN} is the most"
        )
    return problems


def is_normal(path):
    """The file is as tools/notebooks.py stores it."""
    notebook = nbformat.read(path, as_version=4)
    if path.read_text("utf8") != notebooks.text_of(notebooks.normalise(notebook)):
        return [f"{path.name} is not in normal form: python tools/notebooks.py --no-run {path.stem[:2]}"]
    return []


# ---------------------------------------------------------------------------------------------------------------
# Figures


def figures(notebook):
    """Yield (place, cell, svg or None) for each output that is an image."""
    for place, cell in code_cells(notebook):
        for output in cell.outputs:
            if any(mime.startswith("image/") for mime in output.get("data", {})):
                yield place, cell, output.data.get("image/svg+xml")


def figures_have_words(notebook):
    """Each figure has alt text for who cannot see it, a caption for who can, and a name for links."""
    problems = []
    for place, cell, _ in figures(notebook):
        mystnb = cell.metadata.get("mystnb", {})
        alt = mystnb.get("image", {}).get("alt", "").strip()
        caption, name = (mystnb.get("figure", {}).get(key, "").strip() for key in ("caption", "name"))
        if len(alt) < 40 or len(alt.split()) < 8:
            problems.append(f"cell {place}: the figure's alt text says too little: {alt!r}")
        if re.match(r"(?:an? |the )?(?:image|picture|figure|plot|graphic|photo) (?:of|show)", alt, re.I) or re.search(
            r"\.(?:svg|png)\b|\.\./", alt
        ):
            problems.append(f"cell {place}: alt text says what the figure shows, not that it is one: {alt[:40]!r}")
        if len(caption) < 30 or len(caption.split()) < 6:
            problems.append(f"cell {place}: the figure's caption says too little: {caption!r}")
        if alt and alt == caption:
            problems.append(f"cell {place}: the alt text repeats the caption")
        if not re.fullmatch(r"fig-[a-z0-9-]+", name):
            problems.append(f"cell {place}: the figure's name is {name!r}, expected fig- and words")
        if len(cell.outputs) != 1:
            problems.append(f"cell {place} has {len(cell.outputs)} outputs; a figure stands alone")
        if not re.search(r"^plt\.show\(\)$", cell.source, re.M):
            problems.append(f"cell {place} draws without plt.show()")
    for place, cell in code_cells(notebook):
        if "mystnb" in cell.metadata and not any(place == where for where, *_ in figures(notebook)):
            problems.append(f"cell {place} describes a figure and has none")
    return problems


def figures_fit_a_phone(notebook):
    """Each figure is small, and its smallest text is 11 pixels high on a screen 390 wide."""
    problems = []
    for place, _, svg in figures(notebook):
        if svg is None:
            problems.append(f"cell {place} stores a figure that is not SVG")
            continue
        if len(svg.encode()) > SVG_BYTES:
            problems.append(f"cell {place}: the figure has {len(svg.encode()):,} bytes, more than {SVG_BYTES:,}")
        size = smallest_text(svg)
        if size is None:
            problems.append(f"cell {place}: the figure has no text: no labels, or text drawn as curves")
        elif size < SMALLEST_TEXT:
            problems.append(
                f"cell {place}: text in the figure is {size:.1f} pixels high on a phone, less than {SMALLEST_TEXT}"
            )
    return problems


def smallest_text(svg):
    """Return the height in CSS pixels of a figure's smallest text on a phone."""
    root = ElementTree.fromstring(svg)
    width = float(root.get("viewBox").split()[2])  # in the figure's own unit, which is a point
    scale = min(96 / 72, PHONE / width)
    sizes = []
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        for element in text.iter():
            style = f"{element.get('style', '')}; font-size: {element.get('font-size', '')}"
            sizes += [float(size) for size in re.findall(r"font(?:-size)?:[^;]*?([0-9.]+)px", style)]
    return min(sizes) * scale if sizes else None


# ---------------------------------------------------------------------------------------------------------------
# The form of a chapter


def has_the_parts_of_a_chapter(notebook):
    """Title, opening, imports, sections with predictions, and the four last sections, in this order."""
    problems = []
    text = "\n\n".join(cell.source for _, cell in markdown_cells(notebook))
    headings = re.findall(r"^(#+) (.*)$", without_code(text), re.M)
    if not notebook.cells or not re.match(r"# \S", notebook.cells[0].source):
        problems.append("cell 0 does not begin with the title, # and words")
    if sum(level == "#" for level, _ in headings) != 1:
        problems.append("there is more than one title: sections begin with ##")
    first_code = next((place for place, _ in code_cells(notebook)), len(notebook.cells))
    opening = "\n".join(cell.source for cell in notebook.cells[:first_code])
    places = [opening.find(lead) for lead in OPENING]
    problems += [f"the opening has no {lead}" for lead, place in zip(OPENING, places, strict=True) if place < 0]
    if places != sorted(places):
        problems.append(f"the opening's parts are not in the order {', '.join(OPENING)}")
    if not re.search(r"\*\*Reading time:\*\* [0-9]+ minutes\.", opening):
        problems.append("the opening does not say: **Reading time:** 25 minutes.")
    imports = notebook.cells[first_code].source if first_code < len(notebook.cells) else ""
    for needed in ("import numpy as np", "np.set_printoptions(", "plotting.use_book_style()"):
        if needed not in imports:
            problems.append(f"cell {first_code}, the first code cell, does not have {needed}")
    sections = [title for level, title in headings if level == "##"]
    if sections[-4:] != ENDING:
        problems.append(f"the last sections are {', '.join(sections[-4:])}; expected {', '.join(ENDING)}")
    for (above, _), (level, title) in zip([("#", "")] + headings, headings, strict=False):
        if len(level) > len(above) + 1:
            problems.append(f"the heading {title!r} skips a level")
    predictions = [place for place, cell in markdown_cells(notebook) if "\n**Predict first.**" in "\n" + cell.source]
    answered = [
        place
        for place in predictions
        if place + 1 < len(notebook.cells) and notebook.cells[place + 1].cell_type == "code"
    ]
    if len(answered) < 2:
        problems.append(
            f"{len(answered)} cells with **Predict first.** stand before a code cell; two or more are needed"
        )
    references = text.rpartition("## References")[2]
    items = re.findall(r"^- .*(?:\n  .*)*", references, re.M)
    problems += [f"a reference without a {{cite}}: {item[:60]}" for item in items if "{cite" not in item]
    if not items:
        problems.append("## References has no list")
    description = notebook.metadata.get("myst", {}).get("html_meta", {}).get("description", "")
    if not 80 <= len(description) <= 155:
        problems.append(f"the description for search engines has {len(description)} characters, expected 80 to 155")
    return problems


def without_code(text):
    """Blank what stands in fenced code, which may hold # and $; directives keep their words."""
    lines, open_fences = [], []  # (fence, whether it is code)
    for line in text.split("\n"):
        fence = re.match(r"\s*(`{3,}|:{3,}|~{3,})(.*)$", line)
        if fence and open_fences and not fence[2].strip() and fence[1].startswith(open_fences[-1][0]):
            open_fences.pop()
            line = ""
        elif fence and not any(code for _, code in open_fences):
            open_fences.append((fence[1], not fence[2].lstrip().startswith("{")))
        lines.append("" if any(code for _, code in open_fences) else line)
    return "\n".join(lines)


def exercises_are_whole(notebook):
    """Each exercise has a hint, a cell for the reader, and a folded solution that passes the same check."""
    problems, starts = [], []
    cells = notebook.cells
    for place, cell in markdown_cells(notebook):
        for match in re.finditer(r"^```\{exercise\}(.*)\n((?:.*\n)*?)```$", cell.source, re.M):
            starts.append((place, match))
    if len(starts) < 4:
        problems.append(f"there are {len(starts)} exercises; four or more are needed")
    for n, (place, match) in enumerate(starts):
        end = starts[n + 1][0] if n + 1 < len(starts) else len(cells)
        title, body = match[1].strip(), match[2]
        label = re.search(r"^:label: (ex-[a-z0-9-]+)$", body, re.M)
        name = f"cell {place}, exercise {title!r}"
        if not title:
            problems.append(f"cell {place}: an exercise has no title")
        if not label:
            problems.append(f"{name} has no :label: ex-…")
            continue
        if not re.search(r"^\*Difficulty [123] of 3, [0-9]+ minutes\.\*$", body, re.M):
            problems.append(f"{name} does not say: *Difficulty 1 of 3, 5 minutes.*")
        if not re.search(r"^```\{hint\}\n:class: dropdown$", cells[place].source[match.end() :], re.M):
            problems.append(f"{name} has no folded hint")
        part = list(enumerate(cells))[place + 1 : end]
        stubs = [(i, cell) for i, cell in part if "exercise" in tags(cell)]
        solutions = [(i, cell) for i, cell in part if "solution" in tags(cell)]
        gates = {
            gate: [i for i, cell in part if re.match(rf"```\{{solution-{gate}\}}", cell.source)]
            for gate in ("start", "end")
        }
        if len(stubs) != 1 or "not written yet" not in printed(stubs[0][1]):
            problems.append(f"{name} has no cell tagged exercise that stores 'not written yet'")
        if not all(len(found) == 1 for found in gates.values()):
            problems.append(f"{name} has no solution between solution-start and solution-end")
            continue
        start, stop = gates["start"][0], gates["end"][0]
        if cells[start].source != f"```{{solution-start}} {label[1]}\n:class: dropdown\n```":
            problems.append(f"{name}: its solution-start, cell {start}, is not folded or names another exercise")
        inside = [(i, cell) for i, cell in part if start < i < stop]
        if [i for i, cell in inside if cell.cell_type == "code"] != [i for i, _ in solutions] or not solutions:
            problems.append(f"{name}: code is tagged solution exactly where it stands in the solution")
        if not any(cell.cell_type == "markdown" for _, cell in inside):
            problems.append(f"{name}: the solution has no explanation in words")
        problems += [
            f"cell {i}: a solution's code is not folded"
            for i, cell in solutions
            if not cell.metadata.get("jupyter", {}).get("source_hidden")
        ]
        asked, answered = checks([cell for _, cell in stubs]), checks([cell for _, cell in solutions])
        if len(asked) != 1 or asked != answered:
            problems.append(
                f"{name}: the reader's cell calls {asked or 'no check'}, the solution {answered or 'no check'}"
            )
        if not any("all correct" in printed(cell) for _, cell in solutions):
            problems.append(f"{name}: the solution does not store 'all correct'")
        if solutions and "_solution" not in "".join(cell.source for _, cell in solutions):
            problems.append(f"{name}: no name in the solution ends in _solution")
    inside_exercises = {i for n, (place, _) in enumerate(starts) for i in range(place, len(cells))}
    problems += [
        f"cell {i} is tagged {tag} before the first exercise"
        for i, cell in code_cells(notebook)
        for tag in tags(cell)
        if tag in ("exercise", "solution") and i not in inside_exercises
    ]
    return problems


def checks(cells):
    """Return the names of the checks that cells call."""
    return sorted(set(re.findall(r"\bcheck\.(\w+)\(", "\n".join(cell.source for cell in cells))))


# ---------------------------------------------------------------------------------------------------------------
# Prose: these take the text of a page, or of one Markdown cell


def sentences_stand_alone(text):
    """One sentence a line, so that a change shows as the sentence that changed."""
    problems, written = [], text.split("\n")
    for n, line in enumerate(words_only(text).split("\n"), 1):
        line = re.sub(r"^\s*(?:[-*] |[0-9]+\. )?(?:\*\*[^*]+\*\*|\*[^*]+:\*)?", "", line)
        if line.lstrip().startswith(("|", ":", "#", ">")):
            continue
        if re.search(
            r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bal)(?<!\bcf)(?<!\s[A-Z])[.?!][)\"”*_]* +[\"“(*_]?[A-Z]", line
        ):
            problems.append(f"line {n} has two sentences: {written[n - 1].strip()[:70]}")
    return problems


def words_are_plain(text):
    """No filler, and nothing that tells a reader that it is easy."""
    return [
        f"line {n} says {match[0]!r}"
        for n, line in enumerate(words_only(text).split("\n"), 1)
        for match in re.finditer(BANNED, line, re.I)
    ] + [
        f"line {n} has a dash of this kind: —" for n, line in enumerate(words_only(text).split("\n"), 1) if "—" in line
    ]


def words_only(text):
    """Blank code, formulas and link targets; lines keep their numbers."""

    def spaces(match):
        return re.sub(r"[^\n]", " ", match[0])

    text = without_code(text)
    text = re.sub(r"\A---\n.*?^---$", spaces, text, flags=re.M | re.S)
    text = re.sub(r"\$\$.*?\$\$(?: *\([\w-]+\))?", spaces, text, flags=re.S)
    text = re.sub(r"\$[^$\n]+\$", lambda match: "x" * len(match[0]), text)
    text = re.sub(r"(`+)[^`\n]+\1", lambda match: "x" * len(match[0]), text)
    return re.sub(r"\]\([^)\n]*\)", lambda match: "]" + "x" * (len(match[0]) - 1), text)


def few_formulas(text):
    """A formula costs a phone time."""
    text = without_code(text)
    count = len(re.findall(r"\$\$.+?\$\$", text, re.S)) + len(re.findall(r"(?<![$\\])\$(?!\$)[^$\n]+\$(?!\$)", text))
    return (
        [f"there are {count} formulas, more than {FORMULAS}: write the short ones as *d* or √d"]
        if count > FORMULAS
        else []
    )


def citations_exist(text, keys):
    """Each key that is cited stands in references.bib."""
    return [
        f"line {text.count(chr(10), 0, match.start()) + 1} cites {key.strip()!r}, which is not in references.bib"
        for match in re.finditer(r"\{cite[:\w]*\}`([^`]+)`", text)
        for key in match[1].split(",")
        if key.strip() not in keys
    ]


# ---------------------------------------------------------------------------------------------------------------
# The book as a whole


def bibliography_can_be_followed(text):
    """Each entry of references.bib has a DOI or an address, and its key only once."""
    problems, entries = [], re.findall(r"^@\w+\{([^,]+),(.*?)^\}", text, re.M | re.S)
    for key, body in entries:
        if not re.search(r"^\s*(?:doi|url)\s*=", body, re.M | re.I):
            problems.append(f"{key} has neither doi nor url")
    problems += [f"{key} stands twice" for key, n in Counter(key for key, _ in entries).items() if n > 1]
    if len(entries) != len(re.findall(r"^\s*@\w+\{", text, re.M)):
        problems.append("an entry is not closed by a } at the beginning of a line")
    return problems


def labels_are_unique(texts):
    """No label, of a section, formula, exercise or figure, is given twice; `texts` maps places to sources."""
    seen = {}
    for place, text in texts.items():
        for label in re.findall(r"^\(([\w-]+)\)=$|^:(?:label|name): *(\S+)$|\$\$ *\(([\w-]+)\)$", text, re.M):
            seen.setdefault("".join(label), []).append(place)
    return [f"the label {label} is in {' and '.join(places)}" for label, places in seen.items() if len(places) > 1]


def contents_are_complete(listed, root):
    """Each page in _toc.yml is a file, and each file in chapters/ and back/ is such a page."""
    problems = []
    for entry in listed:
        if not any((Path(root) / f"{entry}{suffix}").is_file() for suffix in (".md", ".ipynb")):
            problems.append(f"_toc.yml lists {entry}, and there is no such file")
    problems += [f"_toc.yml lists {entry} twice" for entry, n in Counter(listed).items() if n > 1]
    for folder, suffix in (("chapters", ".ipynb"), ("back", ".md")):
        for path in sorted((Path(root) / folder).iterdir()):
            if path.name.startswith(".") or path.suffix == ".new":
                continue
            if path.suffix != suffix or path.is_dir():
                problems.append(f"{folder}/{path.name} does not belong there: {folder}/ holds {suffix} files")
            elif f"{folder}/{path.stem}" not in listed:
                problems.append(f"{folder}/{path.name} is not in _toc.yml")
    return problems


# Each takes a notebook. The chapters must pass all of them, and the tests of the guards must break each.
FOR_CHAPTERS = [
    ran_from_top_to_bottom,
    shows_what_it_should,
    has_no_error,
    outputs_are_text_or_svg,
    explorables_are_introduced,
    outputs_are_the_same_everywhere,
    tags_are_known,
    code_is_plain,
    cells_are_short,
    figures_have_words,
    figures_fit_a_phone,
    has_the_parts_of_a_chapter,
    exercises_are_whole,
]
