"""Make the copies of the chapters that run anywhere: what Colab opens and what a reader downloads.

The stored notebooks know no repository, so that a fork's are the same to the byte.
A copy gets one cell more, before its imports: where the library is missing, it installs it from the repository
that published the copy.
"""

import json

SETUP = """\
# Where attention_lib is missing, as in Colab, this installs it. Elsewhere it does nothing.
try:
    import attention_lib
except ModuleNotFoundError:
    %pip install --quiet "{requirement}\""""


def ready(text, repository):
    """Return a notebook's text with the cell that installs the library; as it is where no repository is known."""
    if not repository:
        return text
    notebook = json.loads(text)
    cells = notebook["cells"]
    first = next(i for i, cell in enumerate(cells) if cell["cell_type"] == "code")
    setup = {
        "cell_type": "code",
        "execution_count": None,
        "id": "set-up",
        "metadata": {},
        "outputs": [],
        "source": SETUP.format(requirement=repository.requirement()).splitlines(keepends=True),
    }
    cells.insert(first, setup)
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
