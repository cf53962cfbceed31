"""A box around each table, so that a wide one scrolls in it and not with the page."""

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform


class BoxTables(SphinxPostTransform):
    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs):
        for table in list(self.document.findall(nodes.table)):
            box = nodes.container(classes=["scrolls", "table"], is_div=True)
            table.replace_self(box)
            box += table


def setup(app):
    app.add_post_transform(BoxTables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
