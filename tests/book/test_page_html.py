"""The last hand at a page's text: repairs, badges, and what lets it fit any screen."""

import pytest
from bs4 import BeautifulSoup

from bookext.badges import Badge
from bookext.page_html import finish_text, put_back, set_aside

BADGE = Badge("tight", "is-tight", "there", "check-kr-fact-1", "Verdict")
PROOF = '<div class="proof property admonition" id="kr-fact-1"><p class="admonition-title" id="kr-fact-1">{title}</p></div>'


def finished(html: str, words: dict | None = None) -> str:
    return str(finish_text(html, words or {}, lambda page: f"{page}.html"))


@pytest.mark.parametrize(
    ("html", "result"),
    [
        (r'By <span class="math">\(x\)</span>, so', r'By <span class="together"><span class="math">\(x\)</span>,</span> so'),
        (r'a (<span class="math">\(x\)</span>)', r'a <span class="together" style="--beside: 2">(<span class="math">\(x\)</span>)</span>'),
        (r'<span class="math">\(d\)</span>-dimensional', r'<span class="together" style="--beside: 12"><span class="math">\(d\)</span>-dimensional</span>'),
        ("by\n" r'<span class="math">\(x\)</span> and', "by\n" r'<span class="math">\(x\)</span> and'),
        ('<figure><img alt="A" src="a.svg"/></figure>', '<figure><a class="picture" href="a.svg" title="The picture alone"><img alt="A" src="a.svg"/></a></figure>'),
        ('<summary aria-label="Toggle hidden content">Show the code</summary>', "<summary>Show the code</summary>"),
        ('<span aria-label="passed" class="verdict-mark">✓</span>', '<span aria-label="passed" class="verdict-mark" role="img">✓</span>'),
        ('<table><td><code class="c"><span class="pre">a.b_c</span></code> <code>1.5_</code></td></table>', '<table><td><code class="c"><span class="pre">a.<wbr/>b_<wbr/>c</span></code> <code>1.<wbr/>5_</code></td></table>'),
        ("<p><code>a.b</code></p>", "<p><code>a.b</code></p>"),
        ("<p><code>a.b_c_that_is_longer_than_30_letters</code></p>", "<p><code>a.<wbr/>b_<wbr/>c_<wbr/>that_<wbr/>is_<wbr/>longer_<wbr/>than_<wbr/>30_<wbr/>letters</code></p>"),
        ("<p>by 5 % or <b>10\n%</b>, <code>5 % 3</code>; 1 and % of</p>", "<p>by 5\xa0% or <b>10\xa0%</b>, <code>5 % 3</code>; 1 and % of</p>"),
        ("<svg><style>p{}</style><title>A</title></svg>", '<svg><style class="nohighlight">p{}</style><title class="nohighlight">A</title></svg>'),
        ('<p id="a">x</p><p id="a">y</p>', '<p id="a">x</p><p>y</p>'),
    ],
)  # fmt: skip
def test_what_is_changed(html, result):
    assert finished(html) == result


def test_a_wide_table_names_its_cells():
    table = r"""<table><thead><tr><th>symbol</th><th>is <b>an</b></th><th><p>of <span class="math">\(x\)</span>,</p></th></tr></thead>
      <tbody><tr><td>a</td><td><p>b</p></td><td><p>c</p></td></tr><tr><th>d</th><td></td><td></td></tr></tbody></table>"""
    soup = BeautifulSoup(finished(table), "html.parser")
    assert soup.table["class"] == ["as-cards"]
    *others, formula, _, _, _ = soup.select("tbody *:is(td, th)")
    assert [(cell.get_text(), cell.get("data-name")) for cell in others] == [("a", None), ("b", "is an:")]
    together = r'<span class="together"><span class="math">\(x\)</span>,</span>'
    assert str(formula) == f'<td><span class="column-name">of {together}</span><p>c</p></td>'
    assert [str(cell) for cell in soup.select("tbody tr + tr > *")] == [
        "<th>d</th>",
        "<td></td>",
        "<td></td>",
    ]


def test_a_name_that_asks_is_followed_by_its_answer():
    row = "<tr><td>a</td><td>b</td><td>c</td></tr>"
    table = (
        f"<table><thead><tr><th>x</th><th>Is it?</th><th>why</th></tr></thead><tbody>{row}</tbody></table>"
    )
    cells = BeautifulSoup(finished(table), "html.parser").select("tbody [data-name]")
    assert [cell["data-name"] for cell in cells] == ["Is it?", "why:"]


def test_a_table_of_two_columns_stays_a_table():
    table = "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"
    assert finished(table) == table


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ('<span class="caption-number">Property </span> (Fact 1: of softmax)', "Fact 1: of softmax"),
        (r'<span class="caption-number">Property </span> (Fact 1: at most <span class="math">\(x\)</span>)', r' Fact 1: at most <span class="math">\(x\)</span>'),
        ('<span class="caption-number">Property 2 </span> (of softmax)', '<span class="caption-number">Property 2 </span> (of softmax)'),
        ('<span class="caption-number">Property </span>', '<span class="caption-number">Property </span>'),
    ],
)  # fmt: skip
def test_a_title_says_the_paper_s_number_alone(title, plain):
    paragraph = BeautifulSoup(finished(PROOF.format(title=title)), "html.parser").p
    assert paragraph.decode_contents().strip() == plain.strip()
    assert not paragraph.get("id")


def test_a_statement_s_badges_lead_to_its_check():
    html = PROOF.format(title="Fact 1") + '<div class="verdict"><code>kr-fact-1</code></div>'
    soup = BeautifulSoup(finished(html, {"kr-fact-1": [BADGE]}), "html.parser")
    badge = soup.select_one("p.admonition-title > span.verdict-badges > a.verdict-badge.is-tight")
    assert (badge["href"], badge["title"], badge.get_text()) == (
        "there.html#check-kr-fact-1",
        "Verdict",
        "tight",
    )
    assert soup.find(id="check-kr-fact-1")["class"] == ["verdict"]
    assert "verdict-badges" not in finished(html)


@pytest.mark.parametrize("words", [{}, {"kr-fact-1": [BADGE]}], ids=["unchecked", "checked"])
def test_a_statement_says_who_uses_it_and_one_that_nobody_uses_says_nothing(words):
    html = PROOF.format(title="Fact 1")
    soup = finish_text(html, words, lambda page: f"{page}.html", {"kr-fact-1": 3, "kr-fact-2": 1})
    (link,) = soup.select("p.admonition-title > span.verdict-badges > a.used-by")
    assert link.get_text() == "used by 3"
    assert link["href"] == "book/map.html#focus=kr-fact-1&direction=down&depth=1"
    assert "used" not in str(finish_text(html, words, lambda page: f"{page}.html", {"kr-fact-2": 1}))


def test_listings_and_maps_are_set_aside_and_put_back():
    listing, map_ = '<pre class="a">x <b>1</b>\n</pre>', '<svg class="map-picture" width="3"><a>1</a></svg>'
    html = f"<p>2 {listing}</p>{map_}<svg><b>2</b></svg><pre></pre>"
    text, pieces = set_aside(html)
    assert pieces == ["x <b>1</b>\n", "<a>1</a>", ""]
    assert "<b>1</b>" not in text
    assert "<svg><b>2</b></svg>" in text
    assert put_back(text, pieces) == html
    assert put_back(str(finish_text(text, {})), pieces) == html
