"""Every page is in the table of contents, every figure speaks, every statement is titled by its number."""

import re

import pytest

from bookext.chapters import ROOT, chapters, docname, pages, read_notebook, statements


def test_every_page_is_reached_from_the_table_of_contents():
    on_disk = {
        path
        for path in (ROOT / "book").rglob("*.md")
        if not any(part.startswith("_") for part in path.relative_to(ROOT).parts)
    }
    assert on_disk == set(pages())


@pytest.mark.parametrize("path", chapters(), ids=docname)
def test_every_figure_has_a_caption_and_an_alternative_text(path):
    for cell in read_notebook(path).cells:
        if cell.cell_type == "code" and "plt.show()" in cell.source:
            settings = cell.metadata["mystnb"]
            assert len(settings["image"]["alt"]) > 40
            assert len(settings["figure"]["caption"]) > 40


def test_every_statement_is_titled_by_its_number():
    for label, statement in statements().items():
        assert re.match(
            r"(Fact|Lemma|Remarks?|Theorem|Proposition|Corollary|Definition|A finite) ", statement["title"]
        ), label
