"""Build the book from the stored outputs, or show it on this machine: ``make book`` and ``make serve``."""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Sphinx rebuilds a page when its own source changes. A change here touches every page,
# and Sphinx sees it late or not at all (styles and scripts are not copied again).
EVERY_PAGE = [
    "_config.yml", "_toc.yml", "references.bib", "requirements.txt", "constraints.txt",
    "_ext/**/*", "_theme/**/*", "third_party/**/*", "attention_lib/explorables/web/*",
]  # fmt: skip


def build(output=ROOT, fresh=False):
    """Build into `output`/_build/html; return the exit status, 0 if there was no warning."""
    made = output / "_build"
    stamp, state = made / "built-from", digest()
    # A page with a warning is not read again, so a second run would find nothing wrong: start afresh.
    if fresh or not stamp.is_file() or stamp.read_text("utf8") != state:
        shutil.rmtree(made, ignore_errors=True)
    else:
        stamp.unlink()
    jupyter_book = shutil.which("jupyter-book", path=Path(sys.executable).parent)
    options = ["--path-output", output, "-W", "-n", "--keep-going"]
    status = subprocess.run([jupyter_book, "build", ROOT, *options]).returncode
    if status == 0:
        stamp.write_text(state, "utf8")
    return status


def digest():
    """Return a text that changes when every page has to be built again."""
    hashed = hashlib.sha256()
    for path in sorted(path for pattern in EVERY_PAGE for path in ROOT.glob(pattern) if path.is_file()):
        if "__pycache__" not in path.parts:
            hashed.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    for name in sorted(
        name for name in os.environ if name.startswith("BOOK_")
    ):  # the repository and address in the buttons
        hashed.update(f"{name}={os.environ[name]}\0".encode())
    return hashed.hexdigest() + "\n"


def serve(pages, port):
    """Show the built pages to this machine only, until Ctrl-C."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_request(self, *_):
            """Print failures only."""

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), partial(Quiet, directory=pages))
    except OSError as error:
        sys.exit(f"Port {port} cannot be used ({error.strerror}). Name another one: make serve PORT={port + 1}")
    print(f"The book is at http://127.0.0.1:{port}/ until you press Ctrl-C.", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fresh", action="store_true", help="build every page again")
    parser.add_argument("--output", type=Path, default=ROOT, help="the folder that gets _build/html")
    parser.add_argument("--serve", action="store_true", help="then show it at http://127.0.0.1:PORT/")
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    if build(arguments.output, arguments.fresh):
        sys.exit(
            "\nThe build stopped or warned; the lines with WARNING or ERROR above say where. Mend them and run again."
        )
    pages = arguments.output.resolve() / "_build" / "html"
    page = pages / "index.html"
    print(f"\nThe book is built.\n  {page}\n  {page.as_uri()}")
    if arguments.serve:
        serve(pages, arguments.port)


if __name__ == "__main__":
    main()
