"""Nowhere does a reader meet ``m^(−1/2)`` or ``λ_max``: findings and reasons are set as HTML, titles and captions have formulas."""

import re
from functools import partial

import pytest

from bookext.chapters import LEDGER, chapters, docname, read_notebook, statements
from bookext.said import filled
from shallowformer.verify import ledger
from shallowformer.verify.typeset import as_html

CHECKS = [check for entry in ledger.read(LEDGER) for check in (entry, *entry["parts"])]
#: Names of code that stay what they are.
NAMES = {"scaled_dot_product_attention"}


@pytest.mark.parametrize("field", ["finding", "because", "summary", "headline"])
def test_nothing_of_the_ledger_stays_raw_but_names_of_code(field):
    raw = {word for check in CHECKS for word in re.findall(r"\S*[_^]\S*", as_html(check[field]))}
    assert raw <= NAMES


def test_no_title_of_a_statement_has_raw_mathematics():
    titles = [re.sub(r"\$[^$]*\$|\{cite[^`]*`[^`]*`", "", one["title"]) for one in statements().values()]
    assert not [title for title in titles if re.search("<su[bp]>", as_html(title))]


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_no_caption_has_raw_mathematics(path):
    cells = read_notebook(path, fill=partial(filled, page=docname(path))).cells
    figures = [cell.metadata.get("mystnb", {}).get("figure", {}) for cell in cells]
    captions = [re.sub(r"\$[^$]*\$", "", figure.get("caption", "")) for figure in figures]
    assert not [caption for caption in captions if re.search("<su[bp]>", as_html(caption))]
