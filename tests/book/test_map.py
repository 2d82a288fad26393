"""The map of results: edges follow the cross-references, the drawing shows every statement, colours are one table."""

import re

import pytest
from bs4 import BeautifulSoup
from sphinx.application import Sphinx

from bookext.chapters import LEDGER, ROOT, statements
from bookext.drawing import COLUMNS, Graph, draw, places, rows
from bookext.results import Result, badges, name, plain, results, topic
from bookext.uses import PassageCollector, book_uses
from shallowformer.verify import ledger
from shallowformer.verify.verdict import SUPPORT, VERDICTS

STYLE = (ROOT / "book/_static/results.css").read_text(encoding="utf-8")
COLOURS = dict(re.findall(r"^\.is-(\w+) \{ --verdict: (#[0-9a-f]{6}); \}$", STYLE, re.MULTILINE))

FIRST = """
# First

## Foundations

:::{prf:definition} A
:label: definition
:nonumber:
$$ x=1 $$ (eq-definition)
:::

:::{prf:lemma} B
:label: plain
:nonumber:
Refers to itself: {prf:ref}`B <plain>`.

$$ y=1 $$ (eq-plain)
:::

Text: {prf:ref}`T <theorem>`.

::::{dropdown} Proof
:::{prf:proof}
By {eq}`eq-definition` and {eq}`eq-loose`.

$$ z=1 $$ (eq-in-proof)
:::
::::

$$ w=1 $$ (eq-loose)

:::{prf:proof}
Another proof, by {prf:ref}`C <forward>`.
:::

:::{prf:lemma} C
:label: forward
:nonumber:
Words.
:::

:::{prf:proof}
By {prf:ref}`R <remark>`.
:::

## Unproved

:::{prf:proof}
A proof of nothing, by {prf:ref}`B <plain>`.
:::
"""
SECOND = """
# Second

## Shared

:::{prf:remark} R
:label: remark
:nonumber:
In words.
:::

:::{prf:theorem} T
:label: theorem
:nonumber:
As in {prf:ref}`A <definition>`.
:::

### Details

:::{prf:proof}
By {eq}`eq-plain`, {eq}`eq-in-proof` and {prf:ref}`R <remark>`.
:::
"""
LABELS = ["definition", "plain", "forward", "remark", "theorem"]


@pytest.fixture(scope="module")
def edges(tmp_path_factory):
    """Who uses whom in a book of two pages."""
    source = tmp_path_factory.mktemp("small")
    for page, text in {"index": FIRST, "second": SECOND}.items():
        (source / f"{page}.md").write_text(text, encoding="utf-8")
    settings = {
        "extensions": ["myst_parser", "sphinx_design", "sphinx_proof"],
        "myst_enable_extensions": ["colon_fence", "dollarmath"],
    }
    app = Sphinx(source, None, source / "out", source / "trees", "dummy", settings, status=None, warning=None)
    app.add_env_collector(PassageCollector)
    app.build()
    return book_uses(app.env, LABELS)


def test_a_statement_uses_what_its_proof_refers_to_by_label_or_by_equation(edges):
    assert edges["plain"] == ["definition", "forward"]


def test_a_proof_serves_all_statements_before_it_that_have_none_and_they_do_not_use_each_other_by_it(edges):
    assert edges["remark"] == ["plain"]
    assert edges["theorem"] == ["definition", "plain"]


def test_a_definition_has_no_proof_and_a_proof_in_another_section_counts_for_nobody(edges):
    assert edges["definition"] == []
    assert edges["forward"] == ["remark"]


def result(label, page="a", **changes) -> Result:
    fields = {
        "kind": "lemma", "name": label, "topic": "words & $x^2$", "ours": False, "headline": "tight", "support": "proved",
        "varies": "", "sharper": "",
    }  # fmt: skip
    return Result(label=label, page=page, **(fields | changes))


def graph(uses: dict[str, list[str]], **pages) -> Graph:
    return Graph({label: result(label, pages.get(label, "a")) for label in uses}, uses)


def test_a_statement_stands_below_those_of_its_chapter_that_it_uses():
    many = {f"n{i}": [f"n{i - 1}"] if i % 5 == 4 else [] for i in range(30)}
    placed = rows(graph(many))
    height = {label: number for number, row in enumerate(placed) for label in row}
    assert sorted(height) == sorted(many)
    assert max(map(len, placed)) == COLUMNS
    assert all(height[used] < height[user] for user, names in many.items() for used in names)


def test_chapters_stand_one_below_the_other_in_reading_order():
    assert rows(graph({"x": [], "y": ["x"], "z": []}, x="a", y="b", z="c")) == [["x"], ["y"], ["z"]]


def test_statements_that_use_each_other_can_be_drawn():
    svg = drawn(graph({"x": ["y"], "y": ["x"]}))
    assert len(svg.select("g.edge")) == 2


def drawn(g: Graph):
    chapters = {r.page: f"Chapter {r.page}" for r in g.results.values()}
    text = draw(g, chapters, {label: f"there.html#{label}" for label in g.results}, "A map")
    return BeautifulSoup(text, "html.parser")


def test_boxes_are_links_with_names_and_arrows_lead_to_the_user():
    svg = drawn(graph({"x": [], "y": ["x"]}, y="b"))
    assert [box.a["href"] for box in svg.select("g.node")] == ["there.html#x", "there.html#y"]
    assert svg.select_one("g.node.is-tight a")["aria-label"] == "x: words & x^2 (tight)"
    assert [(e["data-from"], e["data-to"]) for e in svg.select("g.edge")] == [("x", "y")]
    assert [text.get_text() for text in svg.select("g.cluster text")] == ["Chapter a", "Chapter b"]


def test_a_variant_is_joined_by_a_dashed_line_once():
    both = {"x": result("x"), "y": result("y", varies="x")}
    (line,) = drawn(Graph(both, {"x": [], "y": []})).select("g.edge")
    assert line["class"] == ["edge", "variant"]
    assert line.polygon is None, "only an arrow, for what is used, has a head"


def test_a_variant_that_uses_its_original_is_joined_by_an_arrow():
    both = {"x": result("x"), "y": result("y", varies="x")}
    (arrow,) = drawn(Graph(both, {"x": [], "y": ["x"]})).select("g.edge")
    assert arrow["class"] == ["edge"]
    assert arrow.polygon


def test_a_drawing_leaves_ids_colours_and_fonts_to_the_page():
    svg = drawn(graph({"x": [], "y": ["x"]}))
    for attribute in ("id", "fill", "stroke", "font-family", "style", "xlink:href"):
        assert svg.find_all(attrs={attribute: True}) == [], attribute


def test_the_neighbourhood_of_a_chapter_ends_at_its_neighbours():
    near = graph({"x": [], "y": ["x"], "z": ["y", "x"], "w": ["z"]}, x="a", y="a", z="b", w="c").around("b")
    assert list(near.results) == ["x", "y", "z", "w"]
    assert near.uses == {"x": [], "y": [], "z": ["y", "x"], "w": ["z"]}
    assert graph({"x": [], "y": []}, x="a", y="b").around("c").results == {}


def test_a_hundred_statements_fit_the_width_of_a_page_and_do_not_overlap():
    many = {f"n{i}": [f"n{j}" for j in {i * 7 % 11, i // 2} if 0 <= j < i] for i in range(100)}
    large = graph(many, **{f"n{i}": f"chapter{i // 12}" for i in range(100)})
    svg = drawn(large).svg
    assert len(svg.select("g.node")) == len(set(places(large).values())) == 100
    assert float(svg["width"]) < 800


def test_a_statement_takes_a_column_near_what_it_uses():
    at = places(graph({"a": [], "b": [], "c": [], "d": [], "e": ["c"]}))
    assert at["e"][0] == at["c"][0]
    assert at["e"][1] < at["c"][1]


def test_every_statement_of_the_book_has_a_name_and_the_verdict_of_the_ledger():
    found = results(statements(), ledger.read(LEDGER))
    assert list(found) == list(statements())
    assert all(r.name for r in found.values())
    assert {r.label: r.headline for r in found.values() if r.headline} == {
        entry["id"]: entry["headline"] for entry in ledger.read(LEDGER)
    }


def test_names_and_topics():
    assert name("kr-remark-4-attained") == "Remark 4, attained"
    assert name("my-claim", "A finite step: of attention") == "A finite step"
    assert topic("Fact 1: the softmax Jacobian {cite:p}`arda2026`") == "the softmax Jacobian"
    assert plain(r"at most $\log m$, *not* `m`") == "at most log m, not m"


def test_badges_lead_to_the_check_and_to_the_sharper_form():
    titles = {
        label: {"kind": "lemma", "title": "Lemma 2: x", "page": "p"}
        for label in ("kr-lemma-2", "kr-lemma-2-sharp")
    }
    entries = [
        {"id": "kr-lemma-2", "headline": "loose ×2", "support": "proved"},
        {"id": "kr-lemma-2-sharp", "headline": "tight", "support": "numerical"},
    ]
    found = badges(results(titles, entries))
    assert [(b.word, b.style, b.anchor) for b in found["kr-lemma-2"]] == [
        ("loose ×2", "is-loose", "check-kr-lemma-2"),
        ("sharpened", "is-sharpened", "kr-lemma-2-sharp"),
    ]
    assert [b.word for b in found["kr-lemma-2-sharp"]] == ["tight", "numerical"]
    unproved = [{"id": "kr-lemma-2", "headline": "tight", "support": support} for support in SUPPORT]
    assert [len(badges(results(titles, [entry]))["kr-lemma-2"]) for entry in unproved] == [2, 3, 3]


def test_every_word_has_a_colour():
    assert set(COLOURS) == {*VERDICTS, "sharpened", "open", "unchecked"}


@pytest.mark.parametrize("word", COLOURS)
def test_white_is_legible_on_a_colour(word):
    channels = [int(COLOURS[word][k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    assert 1.05 / (luminance + 0.05) >= 4.5
