"""The JavaScript and the style sheet of the explorables as they are sent: to a page, or to Jupyter."""

import re
from importlib.resources import files

WEB = files("attention_lib.explorables") / "web"
COMMENT = re.compile(r"^ *(?://.*|/\*[\s\S]*?\*/)\n", re.M)  # alone on its lines
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+\.js)";$', re.M)
SECTION = re.compile(r"^/\* --- ([\w-]+)\.js\b.*\n", re.M)  # of the style sheet: what one module alone needs
EXPORT = re.compile(r"^export ((?:async )?(?:function|const|class) (\w+))", re.M)


def source(name):
    """Return a module as it is sent: without its comments and indents, which are for who reads it here."""
    return trim((WEB / name).read_text("utf8"))


def trim(text):
    return re.sub(r"^ +", "", COMMENT.sub("", text), flags=re.M)


def style(module=None):
    """Return the part of the style sheet that all explorables share, or the section of one module."""
    shared, *own = SECTION.split((WEB / "explorables.css").read_text("utf8"))
    return trim(dict(zip(own[::2], own[1::2], strict=True)).get(module, "") if module else shared)


def style_in_jupyter(module):
    """Return the whole style sheet of one module, whose own section stands against any that comes later.

    In a notebook each explorable brings the shared part once more. So here the own classes count double.
    """
    return style() + re.sub(r"\.ex-[\w-]+", r"\g<0>\g<0>", style(module))


def files():
    """Return what a page's explorables may ask for: text by name of file."""
    modules = sorted(path.name.removesuffix(".js") for path in WEB.iterdir() if path.name.endswith(".js"))
    own = {f"{module}.css": style(module) for module in modules if style(module)}
    return {"explorables.css": style()} | own | {f"{module}.js": source(f"{module}.js") for module in modules}


def bundle(module):
    """Return a module's JavaScript as one text, with what it imports from beside it written in.

    A page's browser imports the files as they are. Jupyter gets one text, which has nothing beside it.
    """

    def write_in(match):
        text = source(match[2])
        names = ", ".join(name for _, name in EXPORT.findall(text))
        body = EXPORT.sub(r"\1", text)
        return f"const {{{match[1]}}} = (() => {{\n{body}return {{ {names} }};\n}})();"

    return IMPORT.sub(write_in, source(f"{module}.js"))
