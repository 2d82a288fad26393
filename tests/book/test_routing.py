"""Arrows of the map: they join what they should, and run through no box and through no frame of a chapter that they only pass."""

import random
import re
from itertools import pairwise

import pytest
from bs4 import BeautifulSoup
from built import file, parsed
from test_drawing import drawn, graph

from bookext import routing


def box(element, grown: float = 0.0) -> tuple[float, float, float, float]:
    x, y, width, height = (float(element.rect[name]) for name in ("x", "y", "width", "height"))
    return x - grown, y - grown, x + width + grown, y + height + grown


def points(edge) -> list[tuple[float, float]]:
    """The points of an arrow's line; where it turns, its corner."""
    return [tuple(map(float, pair)) for pair in re.findall(r"([\d.]+),([\d.]+)", edge.path["d"])]


def crossed(one, other, area) -> bool:
    """Whether a piece of a line that goes straight across or down meets the inside of an area."""
    left, top, right, low = area
    (x1, x2), (y1, y2) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    return x1 < right and x2 > left and y1 < low and y2 > top


def faults(svg: BeautifulSoup) -> list[str]:
    """What is wrong with the arrows of a picture."""
    boxes = {node["data-statement"]: node for node in svg.select(".node")}
    inside = {label: box(node, -0.2) for label, node in boxes.items()}
    frames = {frame["data-frame"]: box(frame, -1) for frame in svg.select(".cluster")}
    found = []
    for edge in svg.select(".edge"):
        start, to, line = boxes[edge["data-from"]], boxes[edge["data-to"]], points(edge)
        name = f"{edge['data-from']} to {edge['data-to']}"
        left, _, right, low = box(start)
        if not (left <= line[0][0] <= right and line[0][1] == pytest.approx(low, abs=0.1)):
            found.append(f"{name} does not begin below its box")
        left, top, right, _ = box(to)
        if not (left <= line[-1][0] <= right and top - 6 < line[-1][1] < top + 0.1):
            found.append(f"{name} does not end above its box")
        own = {start["data-frame"], to["data-frame"]}
        for piece in pairwise(line):
            found += [f"{name} meets {label}" for label, area in inside.items() if crossed(*piece, area)]
            found += [
                f"{name} meets frame {frame}"
                for frame, area in frames.items()
                if frame not in own and crossed(*piece, area)
            ]
    return found  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_arrows_run_through_no_box_and_no_foreign_frame(seed):
    chance = random.Random(seed)
    names = [f"n{k}" for k in range(60)]
    uses = {name: chance.sample(names[:k], min(k, chance.randrange(4))) for k, name in enumerate(names)}
    uses["n3"] = [*uses["n3"], "n40"]  # upwards, and in a circle
    uses["n40"] = ["n3"]
    svg = drawn(graph(uses, **{name: f"chapter{k // 9}" for k, name in enumerate(names)}))
    assert len(svg.select(".edge")) == sum(map(len, uses.values()))
    assert faults(svg) == []


def test_a_line_that_is_led_astray_is_noticed():
    svg = drawn(graph({"x": [], "y": [], "z": ["x"]}, x="a", y="b", z="c"))
    assert faults(svg) == []
    (edge,) = svg.select(".edge")
    straight = points(edge)[0], points(edge)[-1]
    edge.path["d"] = routing.path(list(straight))
    assert any("frame" in fault for fault in faults(svg))
    assert any("meets y" in fault for fault in faults(svg))


def test_arrows_of_the_book_s_map_run_so(site):
    picture = BeautifulSoup(str(parsed(file("book/map")).select_one(".map-picture")), "html.parser")
    assert len(picture.select(".edge")) > 400
    assert faults(picture) == []


def test_a_path_turns_with_round_corners_and_goes_straight_else():
    assert routing.path([(0, 0), (0, 10), (20, 10)]) == "M0,0L0,6Q0,10 4,10L20,10"
    assert routing.path([(0, 0), (0, 10)]) == "M0,0L0,10"


def test_lines_side_by_side_keep_apart():
    svg = drawn(graph({"a": [], "b": [], "c": [], "x": ["a"], "y": ["b"], "z": ["c"]}, x="m", y="n", z="o"))
    upright = [
        {one[0] for one, other in pairwise(line) if one[0] == other[0] and abs(one[1] - other[1]) > 100}
        for line in map(points, svg.select(".edge"))
    ]  # fmt: skip
    beside = [x for found in upright for x in found]
    assert len(beside) == len(set(beside)) >= 2
