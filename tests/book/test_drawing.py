"""The map of results as a drawing: it shows every statement, its boxes are links, arrows lead to the user."""

from dataclasses import replace

from bs4 import BeautifulSoup

from bookext.drawing import COLUMNS, Graph, draw, places, rows
from bookext.results import Result


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
    assert [text.get_text() for text in svg.select("text.frame-title")] == ["Chapter a", "Chapter b"]


def test_a_machine_checked_statement_bears_a_bar_and_says_so():
    g = graph({"x": [], "y": ["x"]})
    checked = Graph({label: replace(r, support="machine-checked" if label == "x" else "proved") for label, r in g.results.items()}, g.uses)  # fmt: skip
    svg = drawn(checked)
    assert [len(box.select("path.checked")) for box in svg.select("g.node")] == [1, 0]
    assert svg.select_one("g.node a")["aria-label"].endswith("(tight, machine-checked)")


def test_titles_of_frames_are_drawn_over_the_arrows():
    pieces = [
        piece for piece in drawn(graph({"x": [], "y": ["x"]}, y="b")).svg.g.find_all(True, recursive=False)
    ]
    assert [piece["class"] for piece in pieces[-2:]] == [["frame-title"], ["frame-title"]]
    assert pieces.index(pieces[-2]) > max(k for k, piece in enumerate(pieces) if "edge" in piece["class"])


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


def test_a_variant_that_a_chain_of_arrows_joins_has_no_dashed_line():
    three = {"x": result("x"), "y": result("y"), "z": result("z", varies="x")}
    for uses in ({"x": ["y"], "y": ["z"], "z": []}, {"x": [], "y": ["x"], "z": ["y"]}):
        assert {tuple(edge["class"]) for edge in drawn(Graph(three, uses)).select("g.edge")} == {("edge",)}


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
