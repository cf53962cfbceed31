"""How the library is put together: what may import what, and what every docstring must have."""

import ast
import inspect
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

import attention_lib

LIBRARY = Path(attention_lib.__file__).parent
# From the ground up: a module imports from those before it only, as a chapter needs only earlier chapters.
CORE = ["_arguments", "scores", "weights", "output", "projections", "cost", "masks", "gradients"]


def run_python(code):
    """Run code in a fresh interpreter, warnings as errors; return what it prints."""
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def imports(path):
    """Return the names of the modules that a file imports, anywhere in it."""
    names = set()
    for statement in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(statement, ast.Import):
            names |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            assert statement.level == 0, "the book imports by full name"
            names.add(statement.module)
            names |= {f"{statement.module}.{alias.name}" for alias in statement.names}
    return names


def test_import_loads_numpy_and_nothing_else():
    loaded = run_python("""
        import sys
        before = set(sys.modules)  # an editable install may load helpers of its own at start-up
        import attention_lib
        print(*sorted(set(sys.modules) - before))
    """).split()
    assert {name.split(".")[0] for name in loaded} <= sys.stdlib_module_names | {"numpy", "attention_lib"}
    ours = {name for name in loaded if name.startswith("attention_lib")}
    assert ours == {"attention_lib"} | {f"attention_lib.{module}" for module in CORE}


def test_core_works_where_only_numpy_is_installed():
    printed = run_python("""
        import sys
        for name in ("matplotlib", "matplotlib_inline", "IPython", "ipywidgets", "scipy"):
            sys.modules[name] = None  # importing it now fails
        from attention_lib import attention, causal_mask
        print(attention([[1.0], [1.0]], [[1.0], [1.0]], [[2.0], [4.0]], mask=causal_mask(2)).tolist())
    """)
    assert printed == "[[2.0], [3.0]]\n"


@pytest.mark.parametrize("module", CORE)
def test_modules_import_upwards_only(module):
    outside = {name for name in imports(LIBRARY / f"{module}.py") if not name.startswith("attention_lib")}
    assert outside <= {"dataclasses", "math", "operator", "numpy"}
    inside = {name.split(".")[1] for name in imports(LIBRARY / f"{module}.py") if name.startswith("attention_lib.")}
    assert inside <= set(CORE[: CORE.index(module)])


def test_every_module_beside_the_core_is_known():
    assert {path.stem for path in LIBRARY.glob("*.py")} == {*CORE, "__init__", "plotting", "tasks", "training"}


def test_public_names_are_those_of_the_modules():
    defined = {
        name: value
        for module in CORE[1:]
        for name, value in vars(sys.modules[f"attention_lib.{module}"]).items()
        if inspect.isfunction(value) and value.__module__ == f"attention_lib.{module}" and not name.startswith("_")
    }
    assert attention_lib.__all__ == sorted(defined)
    assert all(getattr(attention_lib, name) is value for name, value in defined.items())


def test_version_is_that_of_the_package():
    project = tomllib.loads((LIBRARY.parent / "pyproject.toml").read_text("utf8"))["project"]
    assert attention_lib.__version__ == project["version"]


def test_no_function_is_too_long_to_read():
    for path in LIBRARY.glob("*.py"):
        tree = ast.parse(path.read_text("utf8"))
        documented = (ast.Module, ast.FunctionDef, ast.ClassDef)
        docstrings = sum(
            node.body[0].end_lineno - node.body[0].lineno + 1
            for node in ast.walk(tree)
            if isinstance(node, documented) and ast.get_docstring(node)
        )
        assert len(path.read_text("utf8").splitlines()) - docstrings <= 200, path.name
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                start = node.body[0].end_lineno if ast.get_docstring(node) else node.lineno
                assert node.end_lineno - start <= 25, f"{path.name}: {node.name}"


# Docstrings

FUNCTIONS = [getattr(attention_lib, name) for name in attention_lib.__all__]
SECTIONS = ["Parameters", "Returns", "Raises", "See Also", "Notes", "Examples"]  # numpydoc's order


def sections(function):
    """Return the parts of a numpydoc docstring by their titles; the part before the first is "Summary"."""
    pieces = re.split(r"^(\w[\w ]*)\n-+\n", inspect.getdoc(function), flags=re.MULTILINE)
    return {"Summary": pieces[0]} | dict(zip(pieces[1::2], pieces[2::2], strict=True))


def entries(section):
    """Return the pairs "name : type" of a section."""
    return dict(re.findall(r"^(\S.*?) : (.+)$", section, flags=re.MULTILINE))


@pytest.mark.parametrize("function", FUNCTIONS, ids=attention_lib.__all__)
class TestDocstring:
    def test_summary_is_one_sentence_on_one_line(self, function):
        summary = sections(function)["Summary"].split("\n\n")[0].strip()
        assert "\n" not in summary
        assert summary.startswith("Return")
        assert summary.endswith((".", "``."))

    def test_sections_are_all_there_in_order(self, function):
        titles = [title for title in sections(function) if title != "Summary"]
        assert [title for title in SECTIONS if title in titles] == titles
        assert {"Parameters", "Returns", "Raises", "Notes", "Examples"} <= set(titles)

    def test_parameters_are_those_of_the_signature(self, function):
        documented = entries(sections(function)["Parameters"])
        names = [name for group in documented for name in group.split(", ")]
        assert names == list(inspect.signature(function).parameters)

    def test_arrays_have_a_shape_and_a_dtype(self, function):
        for name, kind in entries(sections(function)["Parameters"]).items():
            if kind.startswith("array_like"):
                assert re.search(r"shape \(.*\)|broadcasting to \(.*\)|at least 1-D", kind), name
                assert re.search(r"real|of bool|of float|of int", kind), name
            else:
                assert re.match(r"int\b|float\b|bool\b|\{|numpy\.random\.Generator$", kind), name

    def test_results_have_a_shape(self, function):
        returned = sections(function)["Returns"].splitlines()
        described = [line for line in returned if re.match(r"\S", line)]
        assert described
        for line in described:
            assert re.search(r"ndarray.*, (shape \(.*\)|same shape as `x`)|^AttentionCost$", line)

    def test_errors_are_named(self, function):
        described = [line for line in sections(function)["Raises"].splitlines() if re.match(r"\S", line)]
        assert described == ["TypeError", "ValueError"]

    def test_notes_name_the_chapter(self, function):
        assert re.search(r"\bchapters? \d\d\b", sections(function)["Notes"])

    def test_example_shows_a_result(self, function):
        assert re.search(rf"^>>> .*{function.__name__}\(.*\n(?!>>>)\S", sections(function)["Examples"], re.MULTILINE)

    def test_lines_fit_and_end_cleanly(self, function):
        for line in inspect.getsource(function).splitlines():
            assert len(line) <= 120
            assert line == line.rstrip()
