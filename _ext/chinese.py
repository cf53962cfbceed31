"""Chinese words in an English book: pronounced as Chinese, and found by the search."""

import re

from docutils import nodes
from sphinx.search.en import SearchEnglish
from sphinx.transforms.post_transforms import SphinxPostTransform

HAN = r"[\u3400-\u9fff]"


class MarkChinese(SphinxPostTransform):
    """Say of each run of Chinese characters that it is Chinese: a screen reader changes its voice there."""

    default_priority = 950
    formats = ("html",)

    def run(self, **kwargs):
        for text in list(self.document.findall(nodes.Text)):
            if re.search(HAN, text) and not isinstance(text.parent, (nodes.literal_block, nodes.math, nodes.raw)):
                runs = re.split(f"({HAN}+)", text)  # every second one is Chinese
                marked = [
                    nodes.inline(run, run, classes=["language-zh"]) if i % 2 else nodes.Text(run)
                    for i, run in enumerate(runs)
                    if run
                ]
                text.parent.replace(text, marked)


class EnglishWithChinese(SearchEnglish):
    """Chinese has no spaces, so a word inside a longer run is found by its characters and pairs of characters."""

    js_splitter_code = r"""
var splitQuery = query => query.split(/[^\p{Letter}\p{Number}_]+/u)
  .flatMap(word => word.match(/[\u3400-\u9fff]+|[^\u3400-\u9fff]+/g) ?? [])
  .flatMap(run => run.match(/^[\u3400-\u9fff]{3,}/) ? [...run].slice(1).map((next, i) => run[i] + next) : [run]);
"""

    def split(self, input):
        words = []
        for run in re.findall(f"{HAN}+|(?:(?!{HAN})\\w)+", input):
            words.append(run)
            if re.match(HAN, run):
                words += [*run, *(run[i : i + 2] for i in range(len(run) - 1))]
        return words


def setup(app):
    app.add_search_language(EnglishWithChinese)
    app.add_post_transform(MarkChinese)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
