"""The rule that every number in the prose is proved by a cell: how numbers are read, and where they must be found.

Numbers are compared as exact values: 0.50 is 0.5 and 1,000 is 1000, but 0.67 is not 0.6667.
What the rule passes over (years, section numbers, indices, link targets) is blanked first, letter for letter,
so that every number that is left keeps its place in the source.
"""

import ast
import math
import re
from dataclasses import dataclass, field
from fractions import Fraction
from xml.etree import ElementTree

# ---------------------------------------------------------------------------------------------------------------
# Numbers in any text

SUPERSCRIPTS = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
RAISED = str.maketrans(SUPERSCRIPTS, "-0123456789")
ASCII = str.maketrans("−–×·⋅", "--***")
VULGAR = {"½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8)}
GROUP = r"(?:,|\{,\}|\\,|[\u2009\u202f])"  # between thousands
NUMBER = re.compile(
    rf"""
    (?P<sign> (?<![\w)\]}}]) [-−] )?                       # after a number or a bracket, a minus subtracts
    (?: \\[td]?frac (?: \{{(?P<top>[0-9]+)\}} \{{(?P<low>[0-9]+)\}} | (?P<top1>[0-9])(?P<low1>[0-9]) )
      | (?P<vulgar> [{"".join(VULGAR)}] )
      | (?<! [\w.] ) (?<! [A-Za-z]- ) (?<! [A-Za-z]‑ )      # v1, float64, x_2 and GPT-2 are names
        (?P<digits> [0-9]{{1,3}} (?:{GROUP}[0-9]{{3}})+ (?![0-9]) (?:\.[0-9]+)? | [0-9]+ (?:\.[0-9]*)? | \.[0-9]+ )
        (?: [eE] (?P<exponent> [-+]?[0-9]+ ) )?
        (?: \s? (?:[*×·⋅]|\\cdot|\\times) \s? 10 (?: \^ \{{? (?P<ten> -?[0-9]+ ) \}}? | (?P<up> [{SUPERSCRIPTS}]+ ) ) )?
        (?: (?: \^ \{{? (?P<power> -?[0-9]+ ) \}}? | \*\* (?P<power1> -?[0-9]+) | (?P<power2> [{SUPERSCRIPTS}]+ ) ) )?
        (?: / (?P<over> [0-9]+ (?! \w | \.[0-9] ) ) )?
        (?P<percent> \s? \\? % )?
    )
    """,
    re.VERBOSE,
)


def numbers(text):
    """Yield each number in a text as (match, values); any of the values would prove it."""
    for match in NUMBER.finditer(text):
        yield match, values(match)


def values(match):
    """Return what a match of NUMBER means, most exact reading first."""
    part = match.groupdict()
    sign = -1 if part["sign"] else 1
    if part["vulgar"]:
        return (sign * Fraction(*VULGAR[part["vulgar"]]),)
    if part["top"] or part["top1"]:
        return ratio(sign * int(part["top"] or part["top1"]), int(part["low"] or part["low1"]))
    value = sign * Fraction(re.sub(GROUP, "", part["digits"]).rstrip("."))
    value *= Fraction(10) ** int(part["exponent"] or part["ten"] or (part["up"] or "0").translate(RAISED))
    power = part["power"] or part["power1"] or (part["power2"] or "").translate(RAISED)
    if power and value and abs(int(power)) < 400:
        raised = value ** int(power)
        return (raised,) if value == 10 else (raised, value)
    if part["over"]:
        return ratio(value, int(part["over"]))
    return (value / 100, value) if part["percent"] else (value,)


def ratio(top, low):
    return (Fraction(top) / low,) if low else ()


# ---------------------------------------------------------------------------------------------------------------
# Prose: Markdown without what is not a claim

TITLED = "admonition|exercise|prf:"  # directives whose first line ends in words for the reader
FENCE = r"^\s*[`:~]{3,}"
PLACES = "[Cc]hapters?|[Ss]ections?|[Ee]quations?|[Pp]arts?|[Ff]igures?|[Tt]ables?|[Pp]ages?|§§?"
NUMBERED = r"[0-9]+(?:\.[0-9]+)*"  # 3 or 3.2.1
YEAR = r"(?:19[0-9]{2}|20(?:0[1-9]|[1-3][0-9]))"  # not 2000, which is as often a count
BEFORE_YEAR = r"(?:\b(?i:in|since|from|of|until|by|before|after|around) |\(|, |\. )"
AFTER_YEAR = r"(?=[.,;:)\]]|$| (?:[A-Z]|(?:a|and|by|in|it|the|they|to|was|were)\b))"

# Each match, or the group of it that has the number, is passed over.
MARKUP = [  # numbers that no reader sees
    (rf"{FENCE}\{{(?!{TITLED})[^}}]*\}}.*$", 0),  # the first line of a directive
    (rf"{FENCE}\{{[^}}]*\}}|{FENCE}\w+$", 0),
    (r"^\s*:(?!alt|caption)[\w-]+:.*$", 0),  # its options
    (r"^%.*$|<!--.*?-->", 0),  # comments
    (r"^\([\w-]+\)=$|\$\$ *\([\w-]+\)$|\[\^\w+\]", 0),  # labels
    (r"\{(?:doc|ref|numref|any|download)\}`[^`<]*(<[^`>]*>)`", 1),  # links
    (r"\{(?:cite[:\w]*|doc|ref|numref|eq|any|download)\}`[^`<]*`", 0),
    (r"\](\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\))", 1),
    (r"<?\bhttps?://[^\s>)]*>?|</?[a-z][^<>\n]*>", 0),
    (r"\\\\\[[^\]]*\]", 0),  # room between lines of a formula
]
NO_RESULTS = [  # numbers that no cell could print
    (r"^\s*\*Difficulty [123] of 3, [0-9]+ minutes\.\*$|^\*\*Reading time:\*\*.*$", 0),
    (r"^\s*[0-9]+[.)] ", 0),  # numbers of a list
    (rf"\b(?:{PLACES}) {NUMBERED}(?:(?:, | and | or | to |[-–]){NUMBERED})*", 0),
    (rf"{BEFORE_YEAR}({YEAR}){AFTER_YEAR}", 1),
    (rf"\b{YEAR}-[0-9]{{2}}-[0-9]{{2}}\b", 0),
    (r"(?<=_)(?:[0-9]|\{[^{}.]*\})", 0),  # indices
    (r"(?<![0-9e.]\^)(?<=\^)(?:[0-9]|\{-?[0-9]+\})|(?<=\w\*\*)(?<![0-9]\*\*)[0-9]+", 0),  # exponents
]


def passed_over(patterns, source):
    """Return a text with every match of the patterns blanked."""
    for pattern, group in patterns:
        source = re.sub(pattern, lambda match, group=group: blank(match, group), source, flags=re.MULTILINE)
    return source


def prose(source, code=""):
    """Return Markdown with all that the rule passes over blanked; `code` is what code spans may quote."""
    source = passed_over([*MARKUP, *NO_RESULTS], source)
    quotable = squeeze(code)

    def quote(match):
        quoted = squeeze(match[2])
        return blank(match) if re.search("[A-Za-z]", quoted) and quoted in quotable else match[0]

    return re.sub(r"(?<!`)(`+)(?!`)([^`\n]+)\1(?!`)", quote, source)


def blank(match, group=0):
    """Return a match with spaces in the place of a group of it."""
    start, end = (place - match.start() for place in match.span(group))
    return match[0][:start] + re.sub(r"[^\n]", " ", match[0][start:end]) + match[0][end:]


def squeeze(code):
    return re.sub(r"\s+", "", code)


# ---------------------------------------------------------------------------------------------------------------
# Proof: what cells print and assert

NOT_RESULTS = {"axis", "axis1", "axis2", "seed", "figsize", "digits", "decimals"}  # arguments that state nothing


@dataclass
class Proof:
    """The numbers of one code cell: printed, asserted, and (for lists that the prose quotes) its lists of numbers."""

    printed: list = field(default_factory=list)
    asserted: list = field(default_factory=list)
    literals: list = field(default_factory=list)
    place: int = 0
    section: int = 0

    @property
    def values(self):
        return {*self.printed, *self.asserted}


def proof(cell, place=0, section=0):
    found = Proof(place=place, section=section)
    for output in cell.outputs:
        data = output.get("data", {})
        text = output.get("text") or data.get("text/plain", "")
        if "text/html" in data:  # an explorable: what it starts from, and its tables
            text += " ".join(re.findall(r">([^<]*)<", data["text/html"]))
        if "image/svg+xml" not in data:
            for _, each in numbers(text):
                found.printed.extend(each)
    tree = ast.parse(re.sub(r"^\s*[%!].*$", "pass", cell.source, flags=re.M))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            found.asserted.extend(stated(node.test))
        if isinstance(node, ast.List | ast.Tuple):
            found.literals.append(flat(node))
    return found


def flat(node):
    """Return the numbers of a list as it is written, inner lists one after the other; [] if it holds anything else."""
    values = [flat(each) if isinstance(each, ast.List | ast.Tuple) else [constant(each)] for each in node.elts]
    return [] if any(None in each for each in values) else sum(values, [])


def stated(node):
    """Yield the numbers that an asserted expression states: constants and sums of them, not axes or indices."""
    value = constant(node)
    if value is not None:
        yield value
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Pow)):
            return  # 1 / 8 states an eighth, not 1 and not 8
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        for _, each in numbers(node.value):
            yield from each
    for name, child in ast.iter_fields(node):
        if isinstance(node, ast.Subscript) and name == "slice":
            continue
        for each in child if isinstance(child, list) else [child]:
            if isinstance(each, ast.AST) and not (isinstance(each, ast.keyword) and each.arg in NOT_RESULTS):
                yield from stated(each)


def constant(node):
    """Return the exact value of a number or of arithmetic on numbers, else None."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Fraction(repr(node.value)) if math.isfinite(node.value) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = constant(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.BinOp):
        left, right = constant(node.left), constant(node.right)
        if left is not None and right is not None:
            return calculate(node.op, left, right)
    return None


def calculate(operation, left, right):
    match operation:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div() if right:
            return left / right
        case ast.Pow() if right.denominator == 1 and abs(right) < 400 and left:
            return left ** int(right)
    return None


def in_figure(cell):
    """Return the numbers in the texts of a cell's figures."""
    found = []
    for output in cell.outputs:
        svg = output.get("data", {}).get("image/svg+xml")
        if svg:
            for element in ElementTree.fromstring(svg).iter():
                if element.tag.endswith("}text"):
                    for _, each in numbers("".join(element.itertext())):
                        found.extend(each)
    return found


def proved(candidates, values):
    """Say whether one of the candidates is among the values; a fraction may be printed to three digits or more."""
    for value in candidates:
        if value in values:
            return True
        if value.denominator not in (1, 2, 4, 5, 8, 10) and any(
            digits >= 3 and round(value, digits) == each for each in values if (digits := decimals(each))
        ):
            return True
    return False


def decimals(value):
    """Return how many decimals a value has, or None if it has no end."""
    low, digits = value.denominator, 0
    while low % 10 == 0 or low % 5 == 0 or low % 2 == 0:
        low //= 10 if low % 10 == 0 else 5 if low % 5 == 0 else 2
        digits += 1
    return digits if low == 1 else None


# ---------------------------------------------------------------------------------------------------------------
# Equations and lists in the prose

DECIMAL = r"[0-9]+(?:\.[0-9]+)?"
TERM = rf"√?{DECIMAL}(?:/{DECIMAL})?"
SIDE = rf"-?{TERM}(?: ?[-+*] ?{TERM})*"
EQUATION = re.compile(rf"(?<![\w.^)}}\]*+/(√-])(?<![*+/-] ){SIDE}(?: ?= ?{SIDE})+(?!\.[0-9]| ?[-+*/^²³(√]|\w)")
ITEM = r"-?(?:[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?|\.[0-9]+)(?:/[0-9]+)?"
# (5, 3) and [1, 0]; three or more in a row: 2, 4 and 2; a matrix in LaTeX
LIST = re.compile(
    rf"[\[(] ?{ITEM}(?:,? {ITEM})+,? ?[\])]"  # (5, 3) and [1 0]
    rf"|(?<![\w.-]){ITEM}(?:(?:, and |, | and |, or | or ){ITEM}){{2,}}(?![\w%°/])"  # 2, 4 and 2
    rf"|(?<![\w.*-]){ITEM}, {ITEM}(?=[;.)\n]|$)"  # 1, 0;
    rf"|(?<![\w.*-])(?<! [*=] ){ITEM}(?: by | \* ){ITEM}(?! ?[*=+])"  # 5 by 3, 5 × 3
)
MATRIX = re.compile(r"\\begin\{[a-z]*matrix\}([-0-9.\s&\\/]+?)\\end")


def equations(text):
    """Yield each equation in numbers that does not hold, allowing for decimals that are rounded."""
    text = text.translate(ASCII)
    for match in EQUATION.finditer(text):
        first, *others = match[0].split("=")
        if any(abs(result(side) - result(first)) > 1.001 * (slack(side) + slack(first)) + 1e-9 for side in others):
            yield match


def result(side):
    """Return the value of a sum of products; √ stands before its number."""
    total = 0.0
    for sign, product in re.findall(r"(^|[-+]) ?([^-+]+)", side.strip()):
        factors = re.findall(rf"(√?)({DECIMAL})(?:/({DECIMAL}))?", product)
        value = math.prod(float(top) ** (0.5 if root else 1) / float(low or 1) for root, top, low in factors)
        total += -value if sign == "-" else value
    return total


def slack(side):
    """Return how far the rounding of its decimals can move a side."""
    total = 0.0
    for each in re.finditer(r"[0-9]+\.([0-9]+)", side):
        moved = float(each[0]) + 0.5 * 10.0 ** -len(each[1])
        total += abs(result(f"{side[: each.start()]}{moved:.12f}{side[each.end() :]}") - result(side))
    return total


def lists(text):
    """Yield each list of numbers as (match, ways to read it)."""
    text = text.translate(ASCII)
    for match in LIST.finditer(text):
        yield match, [[each[0] for _, each in numbers(match[0]) if each]]
    for match in MATRIX.finditer(text):
        rows = [[each[0] for _, each in numbers(row)] for row in match[1].split(r"\\")]
        yield match, [sum(rows, []), [row[j] for j in range(len(rows[0])) for row in rows]]  # or by columns


def contains(stream, part, strides=12):
    """Say whether a list stands in a stream of numbers: side by side, in a column of a table, or backwards."""
    return any(
        stream[i : i + stride * len(part) : stride] in ([part, part[::-1]] if len(part) > 2 else [part])
        for stride in (range(1, strides) if len(part) > 2 else [1])
        for i in range(len(stream) - stride * (len(part) - 1))
    )


# ---------------------------------------------------------------------------------------------------------------
# The rule

LOOKING_BACK = ("What was verified", "What to read next", "References")
COMMON = range(2, 10)  # numbers that stand nearly everywhere
NEIGHBOURS = 1  # so many code cells with numbers, before and after a common number, may prove it


@dataclass
class Text:
    """A piece of prose: a Markdown cell, an alt text, a caption, the description."""

    place: str
    source: str
    cell: int
    figure: tuple = ()  # the numbers in the figure that it describes
    lines: bool = False  # whether to name the line


def texts(notebook):
    """Yield every piece of prose in a notebook."""
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            yield Text(f"cell {place}", cell.source, place, lines=True)
        elif cell.cell_type == "code":
            mystnb = cell.metadata.get("mystnb", {})
            alt, caption = mystnb.get("image", {}).get("alt"), mystnb.get("figure", {}).get("caption")
            for name, source in (("alt text", alt), ("caption", caption)):
                if source:
                    yield Text(f"cell {place}, {name}", source, place, tuple(in_figure(cell)))
    description = notebook.metadata.get("myst", {}).get("html_meta", {}).get("description", "")
    yield Text("the description", description, 0)


class Chapter:
    """A notebook with its sections (each exercise is one) and what the cells of each prove."""

    def __init__(self, notebook):
        self.notebook = notebook
        self.code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        self.starts = [(-1, 0, "")]  # where each section begins: cell, offset, title
        for place, cell in enumerate(notebook.cells):
            if cell.cell_type == "markdown":
                for match in re.finditer(r"^(?:## (.*)|[`:]{3,}\{exercise\}.*)$", cell.source, re.M):
                    self.starts.append((place, match.start(), match[1] or "an exercise"))
        self.proofs = [
            proof(cell, place, self.section(place))
            for place, cell in enumerate(notebook.cells)
            if cell.cell_type == "code"
        ]

    def section(self, cell, offset=0):
        return max(i for i, start in enumerate(self.starts) if start[:2] <= (cell, offset))

    def looks_back(self, section):
        return section == 0 or self.starts[section][2] in LOOKING_BACK

    def before(self, section):
        """Return the cells that may prove a number in a section: its own and earlier ones."""
        return [p for p in self.proofs if p.section <= section or self.looks_back(section)]

    def beside(self, section, cell):
        """Return the cells that may prove a common number."""
        if self.looks_back(section):
            return self.proofs
        own = [p for p in self.proofs if p.section == section and p.values]
        return [p for p in own if p.place < cell][-NEIGHBOURS:] + [p for p in own if p.place >= cell][:NEIGHBOURS]

    def section_of_line(self, line):
        """Return the cells of the section that proves most of the numbers in a line of a summary."""
        groups = [[p for p in self.proofs if p.section == i] for i in range(len(self.starts))]
        every = [candidates for _, candidates in numbers(line)]
        return max(groups, key=lambda group: sum(proved(each, together(group)) for each in every))


def together(proofs):
    return set().union(*(p.values for p in proofs))


def unproved_numbers(notebook, allowed=()):
    """Return a problem for each number in the prose that no cell proves.

    A number is printed or asserted in its own section (or exercise) or an earlier one, and a common one beside it.
    A line of the summary is proved by the cells of one section. A list of numbers stands in one cell in this order,
    and an equation in numbers holds. `allowed` holds the phrases that are passed over.
    """
    chapter, problems = Chapter(notebook), []
    for text in texts(notebook):
        cleaned = pass_over(allowed, text.source, prose(text.source, chapter.code))
        for start, end, what in unproved(cleaned, text, chapter):
            line = f", {line_of(text.source, start)}" if text.lines else ""
            problems.append(f"{text.place}{line}: {what}: {around(text.source, start, end)}")
    return problems + unsaid(allowed, "\n".join(text.source for text in texts(notebook)))


def unproved_on_page(source, notebooks, allowed=()):
    """Return a problem for each number on a page that no chapter proves; one chapter proves all of a line."""
    chapters, problems = [Chapter(notebook) for notebook in notebooks], []
    cleaned = pass_over(allowed, source, prose(source, "\n".join(chapter.code for chapter in chapters)))
    start = 0
    for line in cleaned.split("\n"):
        text = Text("", line, cell=-1)  # as if before all cells: any may prove it
        found = min((list(unproved(line, text, chapter)) for chapter in chapters), key=len, default=[])
        for first, last, what in found:
            place = line_of(source, start)
            problems.append(
                f"{place}: {what} in the chapter that proves the rest of the line: "
                f"{around(source, start + first, start + last)}"
            )
        start += len(line) + 1
    return problems + unsaid(allowed, source)


def pass_over(phrases, source, cleaned):
    for phrase in phrases:
        for match in re.finditer(re.escape(phrase), source):
            cleaned = cleaned[: match.start()] + " " * len(phrase) + cleaned[match.end() :]
    return cleaned


def unsaid(phrases, source):
    return [f"plain_counts.toml allows {phrase!r}, which is not said" for phrase in phrases if phrase not in source]


def line_of(source, start):
    return f"line {source.count(chr(10), 0, start) + 1}"


def around(source, start, end):
    return f"…{' '.join(source[max(0, start - 30) : end + 30].split())}…"


def unproved(cleaned, text, chapter):
    """Yield (start, end, what is wrong) for the numbers of one text."""
    quoted = set()  # places of numbers in lists that some cell has
    for match, readings in lists(cleaned):
        if stands_in_order(readings, text, chapter, chapter.section(text.cell, match.start())):
            quoted.update(range(*match.span()))
        else:
            yield *match.span(), f"no cell has {' '.join(match[0].split())} in this order"
    for match in equations(cleaned):
        yield *match.span(), f"{match[0]} does not hold"
    for match, candidates in numbers(cleaned):
        cells, where = may_prove(match, candidates, text, chapter, in_list=match.start() in quoted)
        if not proved(candidates, {*text.figure, *together(cells)}):
            others = [p.place for p in chapter.proofs if proved(candidates, p.values)]
            hint = f" {where} (cell {others[0]} has it)" if others else ""
            yield *match.span(), f"{match[0].strip().rstrip('.')} is neither printed nor asserted{hint}"


def stands_in_order(readings, text, chapter, section):
    """Say whether a list is printed somewhere in this order, or is a list in the code or its beginning or end."""
    before = chapter.before(section)
    pair = max(map(len, readings)) == 2  # pairs stand nearly everywhere
    shown = [p for p in before if not pair or p.section == section or chapter.looks_back(section)]
    streams = [list(text.figure), *(p.printed for p in shown)]
    literals = [literal for p in before for literal in p.literals]
    return any(contains(stream, part) for stream in streams for part in readings) or any(
        part in (literal[: len(part)], literal[-len(part) :]) for literal in literals for part in readings
    )


def may_prove(match, candidates, text, chapter, in_list):
    """Return the cells that may prove a number, and where they are in words."""
    whole, section = match.string, chapter.section(text.cell, match.start())
    if section and chapter.looks_back(section):
        start, end = whole.rfind("\n", 0, match.start()) + 1, (whole + "\n").index("\n", match.end())
        return chapter.section_of_line(whole[start:end]), "in the section that proves the rest of this line"
    factor = re.match(r"[A-Za-z\\]", whole[match.end() :]) or whole[: match.start()].endswith(
        ("/", "√")
    )  # as in 2d, k²/2
    if candidates and candidates[-1] in COMMON and not factor and not in_list:
        return chapter.beside(section, text.cell), "by a cell nearby"
    return chapter.before(section), "so far"


def count(notebook):
    """Return how many numbers the rule looks at."""
    code = Chapter(notebook).code
    return sum(1 for text in texts(notebook) for _ in numbers(prose(text.source, code)))
