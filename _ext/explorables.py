"""What a page needs for its explorables: their files, named on the pages that have one, and no widget runtime.

The files stand in a folder named after what is in them. They import one another by relative address, so a browser
that kept an old file never mixes it with a new one: a change is another folder.
"""

import hashlib
import re
import shutil
from pathlib import Path

from attention_lib.explorables import _web

FILES = _web.files()
STATE = hashlib.sha256(repr(FILES).encode()).hexdigest()
FOLDER = f"_static/explorables-{STATE[:10]}"
VIEW = "application/vnd.jupyter.widget-view+json"


def name_files(app, pagename, templatename, context, doctree):
    """List what the template is to load: nothing, or styles, shared code, the page's own modules, and the host last."""
    modules = sorted(set(re.findall(r'<div class="explorable" data-module="([\w-]+)"', context.get("body", ""))))
    styles, scripts = ([f"{module}.{kind}" for module in modules] for kind in ("css", "js"))
    files = ["explorables.css", *styles, "core.js", *scripts, "host.js"] if modules else []
    context["explorables"] = [f"{FOLDER}/{file}" for file in files if file in FILES]


def write_files(app, error):
    if error or app.builder.format != "html":
        return
    for old in Path(app.outdir, "_static").glob("explorables-*"):
        shutil.rmtree(old)
    folder = Path(app.outdir, FOLDER)
    folder.mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf8", newline="\n")


def prefer_html(app, config):
    """Where the build itself runs a notebook, an explorable comes as a widget, too, which no page can show."""
    config.nb_mime_priority_overrides = [*config.nb_mime_priority_overrides, ("html", VIEW, None)]


def forget_widgets(app, env):
    """And myst-nb notes scripts for that widget: they are from another host, and not needed."""
    for data in env.nb_metadata.values():
        data.pop("js_files", None)


def setup(app):
    app.add_config_value("explorables_folder", FOLDER, "html")  # when it changes, every page is written again
    app.connect("config-inited", prefer_html, priority=100)
    app.connect("env-updated", forget_widgets)
    app.connect("html-page-context", name_files)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
