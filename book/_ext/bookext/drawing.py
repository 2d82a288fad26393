"""The map of results as a static picture, which the page's style sheet colours.

Statements stand in a grid of few columns, chapter below chapter in reading order, each below those of its chapter that
it uses. The picture grows downwards, as the book does, and is never wider than a page: it stays readable with
hundreds of statements. Layouts that Graphviz finds become several times as wide as a page with a few dozen.
"""

import textwrap
from dataclasses import dataclass
from html import escape
from itertools import permutations

from bookext import routing
from bookext.results import Result, plain

#: Columns, and the size of a box, with space for readers' fonts, which are not those of the machine that draws.
COLUMNS, WIDTH, HEIGHT = 4, 156, 66
#: Space between columns and between rows, where arrows run; around the boxes of a chapter; above them, for its title.
ACROSS, DOWN, MARGIN, TITLE = 30, 34, 12, 26
#: Space beside the frames and above and below them, where arrows between chapters run.
BESIDE = 30
#: Characters in a line of a box, and the height of a line.
CHARACTERS, LINE = 25, 11.25


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

    def below(self, label: str) -> set[str]:
        """The statements that one rests on, by whatever chain of uses."""
        found: set[str] = set()
        waiting = list(self.uses.get(label, ()))
        while waiting:
            if (one := waiting.pop()) not in found:
                found.add(one)
                waiting += self.uses.get(one, ())
        return found

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
    """Centres of the boxes; y grows upwards.

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
    grid = _grid(graph)
    pairs = [(label, user) for user, used in graph.uses.items() for label in used]
    # Arrows, one or a chain of them, say more than a dashed line.
    dashed = [(a, b) for a, b in graph.variants if a not in graph.below(b) and b not in graph.below(a)]
    ways = routing.routes(grid, pairs + dashed)
    number = {chapter: place for place, chapter in enumerate(chapters)}
    frames = [_frame(grid, chapter, title, number[chapter]) for chapter, title in chapters.items()]
    pieces = [
        *(frame for frame, _ in frames),
        *(_line(pair, ways[pair], pair in dashed) for pair in pairs + dashed),
        *(
            _box(result, grid, addresses[label], number[result.chapter])
            for label, result in graph.results.items()
        ),
        *(title for _, title in frames),  # drawn last: arrows run below them
    ]
    width = round(grid.rims[1] + BESIDE)
    height = round(grid.tops[-1] + HEIGHT + MARGIN + BESIDE)
    return (
        f'<svg aria-label="{escape(name)}" class="map-picture" height="{height}" role="group" viewBox="0 0 {width} {height}" width="{width}">'
        f"<g>{''.join(pieces)}</g></svg>"
    )


def _grid(graph: Graph) -> routing.Grid:
    """Where boxes and gaps are in the picture, y growing downwards."""
    placed, centres = rows(graph), places(graph)
    tops = tuple(BESIDE + TITLE - centres[row[0]][1] for row in placed)
    chapters = tuple(graph.results[row[0]].chapter for row in placed)
    lows = [BESIDE / 2 - HEIGHT - MARGIN, *tops]  # of the row above each gap
    gaps = []
    for number, low in enumerate(lows):
        inside = 0 < number < len(tops) and chapters[number - 1] == chapters[number]
        start = low + HEIGHT + (6 if inside else MARGIN + 5)
        end = tops[number] - (11 if inside else TITLE + 5) if number < len(tops) else start + BESIDE - 10
        gaps.append((start, max(start, end)))
    left = BESIDE + MARGIN + WIDTH / 2
    return routing.Grid(
        at={label: (round(x / (WIDTH + ACROSS)), next(k for k, row in enumerate(placed) if label in row)) for label, (x, _) in centres.items()},
        chapters=chapters,
        columns=tuple(left + column * (WIDTH + ACROSS) for column in range(COLUMNS)),
        gaps=tuple(gaps),
        tops=tops,
        size=(WIDTH, HEIGHT),
        rims=(BESIDE, BESIDE + 2 * MARGIN + COLUMNS * WIDTH + (COLUMNS - 1) * ACROSS),
    )  # fmt: skip


def _frame(grid: routing.Grid, chapter: str, title: str, number: int) -> tuple[str, str]:
    """A chapter's frame, as wide as the picture and as high as its boxes; and its title, apart."""
    mine = [top for top, of in zip(grid.tops, grid.chapters, strict=True) if of == chapter]
    (left, right), top = grid.rims, mine[0] - TITLE
    height = mine[-1] + HEIGHT + MARGIN - top
    return (
        f'<g class="cluster" data-frame="{number}"><rect x="{left:g}" y="{top:g}" width="{right - left:g}" height="{height:g}"/></g>',
        f'<text class="frame-title" data-frame="{number}" x="{left + 10:g}" y="{top + 17:g}">{escape(title)}</text>',
    )


def _line(pair: tuple[str, str], points: list[routing.Point], dashed: bool) -> str:
    """An arrow, or a dashed line without a head."""
    (*before, (x, y)), head = points, ""
    if not dashed:
        head = f'<polygon points="{x:.1f},{y:g} {x - 2.8:.1f},{y - 6.5:g} {x + 2.8:.1f},{y - 6.5:g}"/>'
        points = [*before, (x, y - 5)]
    return (
        f'<g aria-hidden="true" class="edge{" variant" if dashed else ""}" data-from="{pair[0]}" data-to="{pair[1]}">'
        f'<path d="{routing.path(points)}"/>{head}</g>'
    )


def _box(result: Result, grid: routing.Grid, address: str, frame: int) -> str:
    """A statement's box: a link that says what it is."""
    column, row = grid.at[result.label]
    x, top = grid.columns[column], grid.tops[row]
    names, lines = len(_name_lines(result)), _lines(result)
    texts = []
    for number, line in enumerate(lines):
        last = result.headline and number == len(lines) - 1
        kind = ' class="name"' if number < names else ' class="verdict-line"' if last else ""
        y = top + HEIGHT / 2 + (number - (len(lines) - 1) / 2) * LINE + 3.6
        texts.append(f'<text{kind} text-anchor="middle" x="{x:g}" y="{y:.2f}">{escape(line)}</text>')
    says = escape(describe(result))
    corners = ' rx="12"' if result.ours else ""
    bar = (
        f'<path class="checked" d="M{x - WIDTH / 2 + 3:g} {top + 12:g}v{HEIGHT - 24}"/>'
        * result.machine_checked
    )
    # Words that nobody sees are not marked for who comes from the search (``repairs.leave_unmarked``).
    return (
        f'<g class="node is-{result.verdict}" data-frame="{frame}" data-statement="{result.label}"><title class="nohighlight">{says}</title>'
        f'<a aria-label="{says}" href="{escape(address)}"><rect x="{x - WIDTH / 2:g}" y="{top:g}" width="{WIDTH}" height="{HEIGHT}"'
        f"{corners}/>{bar}{''.join(texts)}</a></g>"
    )


def _name_lines(result: Result) -> list[str]:
    return textwrap.wrap(
        plain(result.name), CHARACTERS - 4, max_lines=1 if result.topic else 2, placeholder=" …"
    )


def _lines(result: Result) -> list[str]:
    """The text in a box: name, topic, verdict."""
    topic = textwrap.wrap(plain(result.topic), CHARACTERS, max_lines=2, placeholder=" …")
    return [*_name_lines(result), *topic, *([result.headline] if result.headline else [])]


def describe(result: Result) -> str:
    """A statement in one line of plain text. Returns: for example "Fact 1: the softmax Jacobian (loose ×2)"."""
    topic = f": {plain(result.topic)}" if result.topic else ""
    found = f"{result.headline}, machine-checked" if result.machine_checked else result.headline
    return plain(result.name) + topic + (f" ({found})" if found else "")
