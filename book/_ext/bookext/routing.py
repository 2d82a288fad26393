"""Where arrows run on the map of results: in the gaps between rows and columns, and beside the frames of chapters that they only pass.

All arrows from one statement share a line until they part. What runs side by side keeps a distance where there is room.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

#: Distance of lines that run side by side in a gap between columns, and beside the frames.
APART = 2.6

Point = tuple[float, float]


@dataclass(frozen=True)
class Grid:
    """Where boxes stand: rows from top to bottom, columns from left to right, y growing downwards."""

    at: Mapping[str, tuple[int, int]]  # of a box its column and its row
    chapters: tuple[str, ...]  # of each row
    columns: tuple[float, ...]  # their middles
    gaps: tuple[tuple[float, float], ...]  # above each row and below the last: where lines may run across
    tops: tuple[float, ...]  # of the rows
    size: tuple[float, float]  # width and height of a box
    rims: tuple[float, float]  # left and right edge of the frames

    def end(self, label: str) -> float:
        """Lower edge of a box."""
        return self.tops[self.at[label][1]] + self.size[1]


@dataclass(frozen=True)
class Way:
    """How a line goes from one box to another."""

    start: str
    to: str
    lane: Hashable = (
        None  # between or through which columns, or on which side, it goes up or down; None if it need not
    )

    def gaps(self, grid: Grid) -> tuple[int, int]:
        """The gap that it goes into, and that from which it reaches its end."""
        return grid.at[self.start][1] + 1, grid.at[self.to][1]


def routes(grid: Grid, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], list[Point]]:
    """Lead a line from below one box to above another, for each pair. Returns: pair → corners, first and last point included."""
    ways = [_way(grid, start, to) for start, to in pairs]
    lanes = _lanes(grid, ways)
    middle = lambda label: grid.columns[grid.at[label][0]]
    beside = lambda way: middle(way.start) if way.lane is None else lanes[way.lane, way.start]
    ports = _ports(grid, ways, beside)
    # Of all that runs across a gap: gap → statement that it starts from → from where to where.
    across: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for way in ways:
        into, out = way.gaps(grid)
        if way.lane is None:
            across[into][way.start] += [middle(way.start), ports[way]]
        else:
            across[into][way.start] += [middle(way.start), beside(way)]
            across[out][way.start] += [beside(way), ports[way]]
    heights = {
        (gap, start): y
        for gap, lines in across.items()
        for start, y in _heights(grid.gaps[gap], lines).items()
    }
    found = {}
    for way in ways:
        into, out = way.gaps(grid)
        first, last = heights[into, way.start], heights[out, way.start]
        points = [(middle(way.start), grid.end(way.start)), (middle(way.start), first), (beside(way), first),
                  (beside(way), last), (ports[way], last), (ports[way], grid.tops[out])]  # fmt: skip
        found[way.start, way.to] = _corners(points)
    return found


def _way(grid: Grid, start: str, to: str) -> Way:
    """Choose where a line goes up or down: near its ends, and through no frame of a third chapter."""
    (column, row), (other, below) = grid.at[start], grid.at[to]
    if below == row + 1:
        return Way(start, to)
    passed = range(row + 1, below) if below > row else range(below, row + 1)
    ends = grid.columns[column], grid.columns[other]
    if {grid.chapters[number] for number in passed} - {grid.chapters[row], grid.chapters[below]}:
        left = sum(ends) <= grid.columns[0] + grid.columns[-1]
        return Way(start, to, ("side", "left" if left else "right"))
    taken = {place for place, number in grid.at.values() if number in passed}
    free = [(x, ("column", k)) for k, x in enumerate(grid.columns) if k not in taken]
    between = [(sum(two) / 2, ("between", k)) for k, two in enumerate(zip(grid.columns, grid.columns[1:], strict=False))]  # fmt: skip
    return Way(start, to, min(free + between, key=lambda one: sum(abs(one[0] - x) for x in ends))[1])


def _lanes(grid: Grid, ways: Iterable[Way]) -> dict[tuple[Hashable, str], float]:
    """Place what goes up and down side by side. Returns: (lane, statement that it starts from) → x."""
    spans: dict[Hashable, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for way in ways:
        if way.lane is not None:
            spans[way.lane][way.start] += way.gaps(grid)
    found = {}
    for lane, lines in spans.items():
        kind, which = lane
        room = {"side": 11, "between": 9, "column": 9}[kind]
        for start, number in _tracks(lines, room).items():
            aside = (
                (number + 1) // 2 * (-1 if number % 2 else 1)
            )  # the middle, then left and right of it in turn
            if kind == "side":
                x = (
                    grid.rims[0] - (number + 1) * APART
                    if which == "left"
                    else grid.rims[1] + (number + 1) * APART
                )
            elif kind == "between":
                x = sum(grid.columns[which : which + 2]) / 2 + aside * APART
            else:
                x = grid.columns[which] + aside * 2 * APART
            found[lane, start] = x
    return found


def _tracks(lines: Mapping[str, list[float]], room: int | None = None) -> dict[str, int]:
    """Number lines so that those that lie side by side have different numbers, if there are enough. Returns: number by line."""
    ends: list[float] = []
    found = {}
    for name, span in sorted(lines.items(), key=lambda one: (min(one[1]), -max(one[1]), one[0])):
        free = next((number for number, end in enumerate(ends) if end < min(span)), None)
        if free is None and (room is None or len(ends) < room):
            free = len(ends)
            ends.append(0)
        elif free is None:
            free = ends.index(min(ends))
        found[name], ends[free] = free, max(span)
    return found


def _heights(gap: tuple[float, float], lines: Mapping[str, list[float]]) -> dict[str, float]:
    """Place what runs across a gap one below the other. Returns: y by line."""
    tracks = _tracks(lines)
    low, high = gap
    step = min(4, (high - low) / max(1, max(tracks.values())))
    return {name: low + number * step for name, number in tracks.items()}


def _ports(grid: Grid, ways: Iterable[Way], beside) -> dict[Way, float]:
    """Where lines reach their boxes: side by side, in the order in which they come. Returns: x by way."""
    arriving: dict[str, list[Way]] = defaultdict(list)
    for way in ways:
        arriving[way.to].append(way)
    found = {}
    for label, some in arriving.items():
        step = min(14, (grid.size[0] - 30) / len(some))
        for number, way in enumerate(sorted(some, key=lambda way: (beside(way), way.start))):
            found[way] = grid.columns[grid.at[label][0]] + (number - (len(some) - 1) / 2) * step
    return found


def _corners(points: list[Point]) -> list[Point]:
    """A line's points without those at which it does not turn."""
    found: list[Point] = []
    for point in points:
        if found and max(abs(point[0] - found[-1][0]), abs(point[1] - found[-1][1])) < 0.05:
            continue
        if len(found) > 1 and (
            found[-2][0] == found[-1][0] == point[0] or found[-2][1] == found[-1][1] == point[1]
        ):
            found.pop()
        found.append(point)
    return found


def path(points: list[Point], round_by: float = 4) -> str:
    """A line with rounded corners. Returns: an SVG path of absolute M, L and Q alone, as ``map.js`` moves its points."""
    pieces = [f"M{_number(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(round_by, _length(before, corner) / 2, _length(corner, after) / 2)
        pieces.append(f"L{_number(_towards(corner, before, radius))}")
        pieces.append(f"Q{_number(corner)} {_number(_towards(corner, after, radius))}")
    return "".join([*pieces, f"L{_number(points[-1])}"])


def _length(one: Point, other: Point) -> float:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _towards(one: Point, other: Point, by: float) -> Point:
    share = by / (_length(one, other) or 1)
    return one[0] + share * (other[0] - one[0]), one[1] + share * (other[1] - one[1])


def _number(point: Point) -> str:
    return ",".join(f"{round(value, 1):g}" for value in point)
