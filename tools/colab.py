"""Write the chapters as Colab opens them: ``python tools/colab.py FOLDER``. It needs Python and git alone."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "_ext"))

from ready import ready  # noqa: E402
from repository import find  # noqa: E402


def main(folder):
    repository, source = find(ROOT)
    if not repository:
        sys.exit(f"The repository is not known: {source}. Set BOOK_REPOSITORY to its address.")
    for path in sorted(ROOT.glob("chapters/*.ipynb")):
        copy = Path(folder) / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(ready(path.read_text("utf8"), repository), "utf8", newline="\n")
        print(copy)


if __name__ == "__main__":
    main(*sys.argv[1:])
