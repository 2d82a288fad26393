"""Numbers that prose refers to: a cell says them, and pages show what it said.

``say(".0%", gain=0.444)`` in a chapter's cell, ``{{ gain }}`` in its prose, captions and alternative texts: the page reads "44 %".
"""

import math
import sys
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from numbers import Integral, Real

#: Key under which what was said travels in the metadata of a notebook's outputs.
MIME = "application/vnd.shallowformer.said+json"

#: A number must be so far from where its rounding turns, relative to it: machines differ by less in what is not chaotic.
CLEAR = 1e-6

#: What a specification may begin with: "at most" is rounded up, "at least" down.
SIDES = {"≤": ROUND_CEILING, "≥": ROUND_FLOOR}

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def written(value: Real, spec: str) -> str:
    """A number as prose has it: 0.444 in ``.0%`` is "44 %", in ``≤.0%`` "45 %"; 2.1e-7 in ``.0e`` is "2·10⁻⁷".

    A rounding that a millionth would turn is refused: another machine might print another digit.
    """
    if not math.isfinite(value):
        raise ValueError(f"value must be finite, got {value}")
    text = _rounded(value, spec)
    if not isinstance(value, Integral):
        either = {_rounded(value * (1 + side * CLEAR), spec) for side in (-1, 1)}
        if either != {text}:
            raise ValueError(
                f"value {value!r} stands where {spec!r} turns from {' to '.join(sorted(either))}: take other digits"
            )
    mantissa, _, power = text.partition("e")
    if power:
        raised = f"10{str(int(power)).translate(_RAISED)}"
        text = f"{mantissa}·{raised}" if mantissa.strip("-") != "1" else mantissa[:-1] + raised
    return text.replace("-", "−").replace("%", " %")


def _rounded(value: Real, spec: str) -> str:
    """Formatted, on the side that the specification names; zero has no sign."""
    with localcontext() as context:
        side = SIDES.get(spec[:1])
        if side:
            context.rounding = side
            text = format(Decimal(value), spec[1:])
        else:
            text = format(value, spec)
    return text if text.strip("-0.% ") else text.lstrip("-")


class Told(dict):
    """What was said; it shows once, where it is said."""

    def _ipython_display_(self) -> None:
        """Nothing."""


def say(spec: str, /, **values: object) -> Told:
    """Tell the prose numbers of this run, by name, in the digits of a format specification.

    A specification that begins with ≤ rounds up, one with ≥ down. Each is a number or a sequence of numbers. Returns: name → text. A sequence is listed; ``{{ name[0] }}`` on a page is its first number.
    """
    said = {name: _told(name, value, spec) for name, value in values.items()}
    texts = {name: ", ".join(text for _, text in pairs) for name, pairs in said.items()}
    plain = "\n".join(f"{name} = {text}" for name, text in texts.items())
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if getattr(shell, "kernel", None):
        from IPython.display import publish_display_data

        publish_display_data({"text/plain": plain}, metadata={MIME: said})
    else:
        print(plain)
    return Told(texts)


def _told(name: str, value: object, spec: str) -> list[list]:
    """Pairs of number, to seven digits, and text."""
    plain = lambda one: one.tolist() if hasattr(one, "tolist") else one
    value = plain(value)
    numbers = list(map(plain, value)) if isinstance(value, Iterable) else [value]
    if not numbers or not all(isinstance(number, Real) for number in numbers):
        raise ValueError(f"{name} must be a number or a sequence of numbers, got {value!r}")
    try:
        return [[float(f"{number:.7g}"), written(number, spec)] for number in numbers]
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
