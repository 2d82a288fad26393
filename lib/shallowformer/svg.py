"""Small drawings as inline SVG: what an interactive figure is made of.

A ``Panel`` has axes in the units of the data; its elements are plain SVG whose colours are names of the house palette,
so that a page can show them light or dark. Coordinates are rounded to a tenth of a pixel: the bytes are the same on
every machine.
"""

import re
from collections.abc import Iterable, Mapping
from typing import SupportsFloat
from xml.etree import ElementTree

from shallowformer.figures import COLOURS

#: What a colour may be called: the house palette, and the colour of text.
PALETTE = (*COLOURS, "ink", "none")

#: Of Python, numpy or torch.
Number = SupportsFloat

#: Where a name of the vertical axis stands: its base line, in pixels from the left edge; half its letters' height; half of what a
#: letter of it and one of a tick take of their line.
_NAME, _HALF, _LETTER = 12, 8, 3.7
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: Number) -> str:
    """A coordinate in pixels, to a tenth, without trailing zeros, for example ``"12.5"``, ``"3"``, ``"0"``."""
    return f"{round(float(value), 1) + 0.0:g}"


def power(exponent: int) -> str:
    """A power of ten, as the label of a tick on a log scale: ``"10⁻⁵"``, but ``"1"`` and ``"10"`` for the exponents 0 and 1."""
    return str(10**exponent) if exponent in (0, 1) else f"10{str(exponent).translate(_RAISED)}"


def numeral(words: str) -> str:
    """A number, as Python writes it, as it is set in print: ``"−1"`` for ``"-1"``, ``"10⁻⁵"`` for ``"1e-05"``; all else stays as it is."""
    parts = re.fullmatch(r"(-?)(\d+\.?\d*)(?:e([+-]?\d+))?", words)
    if not parts:
        return words
    sign, mantissa, exponent = parts.groups()
    if exponent is not None:
        mantissa = power(int(exponent)) if mantissa == "1" else f"{mantissa}·{power(int(exponent))}"
    return sign.replace("-", "−") + mantissa


class Panel:
    """One drawing, with a linear scale on each axis; colours are names of the palette.

    Args:
        alt: what the drawing shows, for those who cannot see it.
        x: left and right end of the horizontal scale.
        y: lower and upper end of the vertical scale.
        size: width and height in pixels at which text has its natural size; the page scales the panel to fit.
        margin: pixels left, right, above and below the scales.
    """

    def __init__(
        self,
        alt: str,
        x: tuple[Number, Number],
        y: tuple[Number, Number],
        size: tuple[int, int] = (340, 300),
        margin: tuple[int, int, int, int] = (56, 12, 12, 40),
    ) -> None:
        if not isinstance(alt, str) or not alt.strip():
            raise ValueError(f"alt must say what the drawing shows, got {alt!r}")
        for name, scale in (("x", x), ("y", y)):
            if scale[0] == scale[1]:
                raise ValueError(f"{name} must have two different ends, got {scale}")
        self._scale_x, self._scale_y, (self.width, self.height) = x, y, size
        self._left, self._right, self._top, self._bottom = margin
        self.root = ElementTree.Element(
            "svg", {"viewBox": f"0 0 {self.width} {self.height}", "role": "img", "aria-label": alt}
        )

    def px(self, x: Number) -> Number:
        """Horizontal position in pixels of a value."""
        low, high = self._scale_x
        return self._left + (x - low) / (high - low) * (self.width - self._left - self._right)

    def py(self, y: Number) -> Number:
        """Vertical position in pixels of a value."""
        low, high = self._scale_y
        return (
            self.height - self._bottom - (y - low) / (high - low) * (self.height - self._top - self._bottom)
        )

    def _add(self, tag: str, stroke: str = "none", fill: str = "none", text: str | None = None, **attributes):
        """Append an element; ``_`` in a name stands for ``-``, numbers are pixels."""
        for colour in (stroke, fill):
            if colour not in PALETTE:
                raise ValueError(f"a colour must be one of {', '.join(PALETTE)}, got {colour!r}")
        paint = {"stroke": stroke, "fill": fill}
        named = {key: value if value == "none" else f"var(--{value})" for key, value in paint.items()}
        if stroke == "none":
            del named["stroke"]
        rest = {
            key.replace("_", "-"): value if isinstance(value, str) else number(value)
            for key, value in attributes.items()
            if value is not None
        }
        element = ElementTree.SubElement(self.root, tag, named | rest)
        element.text = text

    def _points(self, points: Iterable[tuple[Number, Number]]) -> str:
        return " ".join(f"{number(self.px(x))},{number(self.py(y))}" for x, y in points)

    def line(
        self,
        points: Iterable[tuple[Number, Number]],
        colour: str,
        width: Number = 2,
        dash: str | None = None,
    ):
        """A line through points (x, y).

        Args:
            width: in pixels.
            dash: pattern, e.g. ``"4 3"``.
        """
        self._add(
            "polyline", stroke=colour, points=self._points(points), stroke_width=width, stroke_dasharray=dash
        )

    def area(self, points: Iterable[tuple[Number, Number]], colour: str, opacity: Number = 1):
        """A filled polygon with these corners."""
        self._add("polygon", fill=colour, points=self._points(points), fill_opacity=f"{opacity:g}")

    def dot(
        self,
        x: Number,
        y: Number,
        radius: Number,
        colour: str,
        opacity: Number = 1,
        outline: str = "none",
    ):
        """A disc whose radius is in pixels; opacity, from 0 to 1, is that of the filling."""
        self._add(
            "circle",
            stroke=outline,
            fill=colour,
            cx=self.px(x),
            cy=self.py(y),
            r=radius,
            fill_opacity=f"{opacity:g}",
        )

    def ellipse(
        self,
        centre: tuple[Number, Number],
        axes: tuple[Number, Number],
        degrees: Number,
        colour: str,
        opacity: Number = 0,
    ):
        """An ellipse in the units of the data, on scales of equal length.

        Args:
            axes: its half axes.
            degrees: of the first axis from the horizontal, anticlockwise.
            opacity: of the filling, 0 to 1.
        """
        x, y = self.px(centre[0]), self.py(centre[1])
        unit = abs(self.px(1) - self.px(0))
        self._add(
            "ellipse",
            stroke=colour,
            fill=colour,
            cx=x,
            cy=y,
            rx=unit * axes[0],
            ry=unit * axes[1],
            transform=f"rotate({number(-degrees)} {number(x)} {number(y)})",
            fill_opacity=f"{opacity:g}",
            stroke_width=1.5,
        )

    def text(
        self,
        x: Number,
        y: Number,
        words: str,
        anchor: str = "middle",
        shift: tuple[Number, Number] = (0, 0),
        turned: bool = False,
    ):
        """Words at a point.

        Args:
            y: position of the base line.
            anchor: ``start``, ``middle`` or ``end``.
            shift: pixels to the right and down.
            turned: read upwards.
        """
        left, top = self.px(x) + shift[0], self.py(y) + shift[1]
        turn = f"rotate(-90 {number(left)} {number(top)})" if turned else None
        self._add("text", fill="ink", text=words, x=left, y=top, text_anchor=anchor, transform=turn)

    def key(self, x: Number, y: Number, entries: Mapping[str, str]):
        """What the colours mean: one row a colour, words → a name of the palette, downwards from an upper left corner."""
        for row, (words, colour) in enumerate(entries.items()):
            left, middle = self.px(x), self.py(y) + 17 * row + 8
            self._add("path", stroke=colour, d=f"M{number(left)} {number(middle)}h16", stroke_width=4)
            self._add("text", fill="ink", text=words, x=left + 22, y=middle + 4)

    def axes(self, xlabel: str, ylabel: str, xticks: Mapping[Number, str], yticks: Mapping[Number, str]):
        """Axes along the lower and left edge, with faint lines at the ticks.

        Args:
            xlabel: below the horizontal axis.
            ylabel: left of the vertical axis, read upwards; where it would stand on a tick's label, further to the left.
            xticks: position → label; a number is set as ``numeral`` does.
            yticks: the same.
        """
        xticks, yticks = ({at: numeral(words) for at, words in ticks.items()} for ticks in (xticks, yticks))
        (left, right), (low, high) = self._scale_x, self._scale_y
        for x, label in xticks.items():
            self._add("path", stroke="quiet", d=f"M{number(self.px(x))} {number(self.py(low))}v5")
            self.text(x, low, label, shift=(0, 18))
        for y, label in yticks.items():
            self._add("path", stroke="quiet", d=f"M{number(self.px(left))} {number(self.py(y))}h-5")
            self.line([(left, y), (right, y)], "quiet", width=0.3)
            self.text(left, y, label, anchor="end", shift=(-8, 4))
        self.line([(left, high), (left, low), (right, low)], "ink", width=1)
        self.text((left + right) / 2, low, xlabel, shift=(0, 36))
        middle = (low + high) / 2
        beside = [
            words
            for y, words in yticks.items()
            if abs(self.py(y) - self.py(middle)) < _LETTER * len(ylabel) + _HALF
        ]
        room = self._left - 8 - 2 * _LETTER * max(map(len, beside), default=0)  # left of these ticks' labels
        out = max(0, round(_NAME + 4 - room)) if ylabel else 0
        self.text(left, middle, ylabel, shift=(_NAME - out - self._left, 0), turned=True)
        self.root.set("viewBox", f"{-out} 0 {self.width + out} {self.height}")
