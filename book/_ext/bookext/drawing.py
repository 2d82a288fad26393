"""The map of results as a static picture: Graphviz routes and draws, the page's style sheet colours.

Statements stand in a grid of few columns, chapter below chapter in reading order, each below those of its chapter that
it uses. The picture grows downwards, as the book does, and is never wider than a page: it stays readable with a hundred
statements. Layouts that Graphviz finds by itself become several times as wide as a page with half as many.
"""

import textwrap
from dataclasses import dataclass
from itertools import permutations

from bs4 import BeautifulSoup, Comment
from pygraphviz import AGraph

from bookext import repairs
from bookext.results import Result, plain

#: Columns, and the size of a box in points, with space for readers' fonts, which are not those of the machine that draws.
COLUMNS, WIDTH, HEIGHT = 4, 156, 66
#: Space between columns and between rows, where arrows run; around the boxes of a chapter; above them, for its title.
ACROSS, DOWN, MARGIN, TITLE = 30, 34, 12, 26
#: Characters in a line of a box.
CHARACTERS = 25


@dataclass(frozen=True)
class Graph:
    """What is drawn."""

    results: dict[str, Result]  # of the statements, in reading order
    uses: dict[str, list[str]]  # label → labels of the statements that it uses

    @property
    def used_by(self) -> dict[str, list[str]]:
        """Label → labels of the statements that use it."""
        return {label: [user for user in self.uses if label in self.uses[user]] for label in self.results}

    @property
    def variants(self) -> list[tuple[str, str]]:
        """Pairs of a paper's statement and the book's variant of it."""
        return [(r.varies, label) for label, r in self.results.items() if r.varies in self.results]

    def around(self, chapter: str) -> "Graph":
        """The part of the graph that concerns a chapter.

        Returns: the chapter's statements, those that they use or are used by, and the relations in which they take part.
        """
        mine = {label for label, result in self.results.items() if result.chapter == chapter}
        pairs = [(user, label) for user, used in self.uses.items() for label in used] + self.variants
        near = mine | {label for pair in pairs if mine & set(pair) for label in pair}
        return Graph(
            {label: result for label, result in self.results.items() if label in near},
            {
                user: [label for label in used if label in near and mine & {user, label}]
                for user, used in self.uses.items()
                if user in near
            },
        )


def rows(graph: Graph) -> list[list[str]]:
    """Place statements: chapter below chapter, and in a chapter each below those that it uses or varies.

    Returns: labels, row by row; no row has more than ``COLUMNS``.
    """
    above = {label: set(graph.uses[label]) | {result.varies} for label, result in graph.results.items()}
    placed: list[list[str]] = []
    for chapter in dict.fromkeys(result.chapter for result in graph.results.values()):
        mine: list[list[str]] = []
        for label in (label for label, result in graph.results.items() if result.chapter == chapter):
            height = 1 + max(
                (number for number, row in enumerate(mine) if above[label] & set(row)), default=-1
            )
            while height < len(mine) and len(mine[height]) >= COLUMNS:
                height += 1
            mine += [[]] * (height + 1 - len(mine))
            mine[height] = [*mine[height], label]
        placed += mine
    return placed


def places(graph: Graph) -> dict[str, tuple[float, float]]:
    """Centres of the boxes, in points; y grows upwards, as Graphviz has it.

    Returns: label → x and y. In its row a statement takes a column near those of the statements that it uses.
    """
    at: dict[str, tuple[float, float]] = {}
    y, above = 0, None
    for row in rows(graph):
        chapter = graph.results[row[0]].chapter
        if above is not None:
            y -= HEIGHT + DOWN + (MARGIN + TITLE if chapter != above else 0)
        above = chapter
        pulls = {
            label: [at[o][0] for o in (*graph.uses[label], graph.results[label].varies) if o in at]
            for label in row
        }
        columns = min(
            permutations([column * (WIDTH + ACROSS) for column in range(COLUMNS)], len(row)),
            key=lambda xs: sum(
                abs(x - pull) for label, x in zip(row, xs, strict=True) for pull in pulls[label]
            ),
        )
        at |= {label: (x, y) for label, x in zip(row, columns, strict=True)}
    return at


def draw(graph: Graph, chapters: dict[str, str], addresses: dict[str, str], name: str) -> str:
    """Draw a graph.

    Returns:
        An ``<svg>`` element. It has no ids and no colours of its own; boxes are links, with the classes ``node`` and
        that of their verdict; boxes and arrows say in ``data-`` attributes which statements they stand for.
    """
    picture = AGraph(directed=True, strict=False, name="map", splines=True, bgcolor="transparent")
    picture.node_attr.update(
        shape="box", fixedsize=True, width=WIDTH / 72, height=HEIGHT / 72, fontsize=9.5, margin=0
    )
    picture.edge_attr.update(arrowsize=0.6)
    at = places(graph)
    for label, result in graph.results.items():
        picture.add_node(
            label,
            label="\n".join(_lines(result)),
            pos="{},{}".format(*at[label]),
            style="rounded" if result.ours else "",
            URL=addresses[label],
        )
    for number, (chapter, title) in enumerate(chapters.items()):
        mine = [label for label, result in graph.results.items() if result.chapter == chapter]
        picture.add_subgraph(mine, name=f"cluster_{number}", **_frame([at[label] for label in mine], title))
    for user, used in graph.uses.items():
        for label in used:
            picture.add_edge(label, user)
    for original, variant in graph.variants:
        if original not in graph.uses.get(variant, ()):  # an arrow says more than a dashed line
            picture.add_edge(original, variant, arrowhead="none", **{"class": "variant"})
    return _clean(picture.draw(format="svg", prog="nop").decode(), graph, name)


def _frame(boxes: list[tuple[float, float]], title: str) -> dict[str, str | int]:
    """Attributes of a chapter's frame: as wide as the picture, as high as its boxes."""
    left, right = -WIDTH / 2 - MARGIN, (COLUMNS - 0.5) * WIDTH + (COLUMNS - 1) * ACROSS + MARGIN
    low, high = min(y for _, y in boxes) - HEIGHT / 2 - MARGIN, max(y for _, y in boxes) + HEIGHT / 2 + TITLE
    return {
        "bb": f"{left},{low},{right},{high}",
        "label": title,
        "lp": f"{left + MARGIN},{high - TITLE / 2}",
        "fontsize": 12,
    }


def _name_lines(result: Result) -> list[str]:
    return textwrap.wrap(
        plain(result.name), CHARACTERS - 4, max_lines=1 if result.topic else 2, placeholder=" …"
    )


def _lines(result: Result) -> list[str]:
    """The text in a box: name, topic, verdict."""
    topic = textwrap.wrap(plain(result.topic), CHARACTERS, max_lines=2, placeholder=" …")
    return [*_name_lines(result), *topic, *([result.headline] if result.headline else [])]


def _clean(svg: str, graph: Graph, name: str) -> str:
    """Take colours, fonts and ids out of Graphviz's drawing, and say what boxes and arrows stand for."""
    picture = BeautifulSoup(svg[svg.index("<svg") :], "html.parser").svg
    width, height = (round(float(number)) for number in picture["viewbox"].split()[2:])
    picture.attrs = {
        "viewBox": picture["viewbox"], "width": width, "height": height, "role": "group", "aria-label": name,
        "class": "map-picture",
    }  # fmt: skip
    for comment in picture.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    picture.g.find("title", recursive=False).decompose()
    for element in picture.find_all(True):
        for attribute in ("id", "fill", "stroke", "stroke-dasharray", "font-family", "font-size", "xml:space", "xlink:title"):  # fmt: skip
            del element[attribute]
    for group in picture.select("g.cluster"):
        group.title.decompose()
        left = min(float(corner.split(",")[0]) for corner in group.polygon["points"].split())
        title = group.find("text").extract()
        title.attrs |= {"x": left + 10, "text-anchor": "start", "class": "frame-title"}
        picture.g.append(title)  # drawn last: arrows run below it
    for group in picture.select("g.edge"):
        group["data-from"], group["data-to"] = group.title.get_text().split("->")
        group["aria-hidden"] = "true"
        group.title.decompose()
    for group in picture.select("g.node"):
        _box(group, graph)
    return str(picture)


def _box(group, graph: Graph) -> None:
    """Make a node of the drawing a link that says what it is."""
    result = graph.results[group.title.get_text()]
    group["class"] = f"node is-{result.verdict}"
    group["data-statement"] = result.label
    link = group.a
    link["href"] = link["xlink:href"]
    del link["xlink:href"]
    link["aria-label"] = describe(result)
    group.title.string = describe(result)
    repairs.leave_unmarked(group.title)
    group.g.unwrap()
    texts = group.find_all("text")
    for text in texts[: len(_name_lines(result))]:
        text["class"] = "name"
    if result.headline:
        texts[-1]["class"] = "verdict-line"


def describe(result: Result) -> str:
    """A statement in one line of plain text. Returns: for example "Fact 1: the softmax Jacobian (loose ×2)"."""
    topic = f": {plain(result.topic)}" if result.topic else ""
    return plain(result.name) + topic + (f" ({result.headline})" if result.headline else "")
