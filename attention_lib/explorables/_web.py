"""The JavaScript and the style sheet of the explorables as they are sent: to a page, or to Jupyter."""

import re
from importlib.resources import files

WEB = files("attention_lib.explorables") / "web"
COMMENT = re.compile(r"^ *(?://.*|/\*[\s\S]*?\*/)\n", re.M)  # alone on its lines
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+\.js)";$', re.M)
EXPORT = re.compile(r"^export ((?:async )?(?:function|const|class) (\w+))", re.M)


def source(name):
    """Return a file as it is sent: without its comments and indents, which are for who reads it here."""
    return re.sub(r"^ +", "", COMMENT.sub("", (WEB / name).read_text("utf8")), flags=re.M)


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
