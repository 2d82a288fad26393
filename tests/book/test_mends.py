"""Mends to the HTML that other extensions write."""

import pytest
from bs4 import BeautifulSoup

from bookext.mends import mend_body


def mend(html: str) -> str:
    return mend_body(html, {}, lambda badge: "")


@pytest.mark.parametrize(
    ("html", "mended"),
    [
        (r'By <span class="math">\(x\)</span>, so', r'By <span class="together"><span class="math">\(x\)</span>,</span> so'),
        (r'a (<span class="math">\(x\)</span>)', r'a <span class="together">(<span class="math">\(x\)</span>)</span>'),
        (r'<span class="math">\(d\)</span>-dimensional', r'<span class="together"><span class="math">\(d\)</span>-dimensional</span>'),
        ("by\n" r'<span class="math">\(x\)</span> and', "by\n" r'<span class="math">\(x\)</span> and'),
        ('<figure><img alt="A" src="a.svg"/></figure>', '<figure><a class="picture" href="a.svg" title="The picture alone"><img alt="A" src="a.svg"/></a></figure>'),
        ('<summary aria-label="Toggle hidden content">Show the code</summary>', "<summary>Show the code</summary>"),
        ('<span aria-label="passed" class="verdict-mark">✓</span>', '<span aria-label="passed" class="verdict-mark" role="img">✓</span>'),
        ('<p id="a">x</p><p id="a">y</p>', '<p id="a">x</p><p>y</p>'),
    ],
)  # fmt: skip
def test_what_is_mended(html, mended):
    assert mend(html) == mended


def test_a_wide_table_names_its_cells():
    table = r"""<table><thead><tr><th>symbol</th><th>is <b>an</b></th><th><span class="math">\(x\)</span></th></tr></thead>
      <tbody><tr><td>a</td><td><p>b</p></td><td>c</td></tr><tr><th>d</th><td></td><td>e</td></tr></tbody></table>"""
    soup = BeautifulSoup(mend(table), "html.parser")
    assert soup.table["class"] == ["as-cards"]
    assert {cell.get_text(): cell.get("data-name") for cell in soup.select("tbody *:is(td, th)")} == {
        "a": None, "b": "is an", "c": None, "d": None, "": None, "e": None,
    }  # fmt: skip


def test_a_table_of_two_columns_stays_a_table():
    table = "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"
    assert mend(table) == table
