"""The power of a check: the smallest wrong change of its claim that it would notice, from what it measured.

No check is run again for this. A claim changed by more than ``Power.change`` would have come to another verdict on the
very same measurements.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: What a change is a change of; of exponents it is absolute, of all else relative.
KINDS = ("constant", "exponent", "level", "value")


@dataclass(frozen=True)
class Power:
    """The smallest change that a check would notice."""

    what: str  # one of ``KINDS``
    change: float  # above 0; infinite if no change of that kind would be noticed
    #: of a bound whose attained ratio is stated (or the quantile that it has), the change of the constant from which on it has another;
    #: else None
    pinned: float | None = None
    side: str = ""  # "smaller" or "larger" if only changes to that side are noticed, else ""

    def __post_init__(self) -> None:
        """Refuse what could not be sorted or explained."""
        if self.what not in KINDS:
            raise ValueError(f"what must be one of {', '.join(KINDS)}, got {self.what!r}")
        if self.side not in ("", "smaller", "larger"):
            raise ValueError(f"side must be smaller, larger or empty, got {self.side!r}")
        if not self.change > 0:
            raise ValueError(f"change must be above 0, got {self.change!r}")

    @classmethod
    def read(cls, entry: dict[str, str | float]) -> "Power":
        """The inverse of ``entry``."""
        return cls(**{**entry, "change": float(entry["change"])})

    @property
    def words(self) -> str:
        """A sentence for a card."""
        what = "quantile of the ratio" if self.what == "level" else "attained ratio"
        pinned = f" (the {what} is pinned to {_amount(self.pinned)})" if self.pinned else ""
        return f"would notice {self.noticed}{pinned}"

    @property
    def noticed(self) -> str:
        """What is noticed, for a table: "a constant smaller by 1 %"; of a pin, which is a measurement, nothing is said."""
        if math.isinf(self.change):
            return f"no change of the {self.what}"
        side = self.side or "off"
        if self.what == "exponent":
            return f"an exponent {side} by {_rounded_up(self.change):.2g}"
        if side == "smaller" and 0.9 <= self.change < 1:  # "by 100 %" would say that only 0 is noticed
            return f"a {self.what} smaller by a factor above {_rounded_up(1 / (1 - self.change)):,.7g}"
        amount = _amount(self.change)
        return f"a {self.what} {side} by {'a factor above ' + amount[:-6] if amount.endswith(' times') else amount}"

    def entry(self) -> dict[str, str | float]:
        """As the ledger keeps it (JSON-able); what rests on a rounding error has two digits."""
        digits = 2 if self.what == "value" else 7
        change = _rounded_up(self.change, digits)
        pinned = {"pinned": _rounded_up(self.pinned)} if self.pinned else {}
        side = {"side": self.side} if self.side else {}
        return {"what": self.what, "change": change if math.isfinite(change) else "inf", **pinned, **side}


def of_inequality(
    ratio: float,
    rounding: float,
    expect: str,
    attains: float | None = None,
    gap: float = 0.0,
    searched: Sequence[float] = (),
) -> Power:
    """A bound: constants smaller by more than 1 − ratio contradict the worst point. A refuted one: the constant that it would take.

    Args:
        ratio: the largest left side over right side that was found.
        rounding: how far above 1 counts as rounding.
        attains: the ratio that is said to be attained, if one is.
        gap: how near counts as attained.
        searched: what the searches reached, set by set.
    """
    reached = ratio / (1 + rounding)
    if expect == "violated":
        change, side = max(reached - 1, rounding), "larger"
    else:  # a left side that is never positive contradicts no constant
        change, side = max(1 - reached, rounding) if reached > 0 else math.inf, "smaller"
    if attains is None or not searched:
        return Power("constant", change, side=side)
    larger = min(searched) / (attains * (1 - gap)) - 1
    smaller = 1 - max(searched) / (attains * (1 + gap))
    return Power("constant", change, max(larger, smaller, rounding), side)


def of_rate(low: float, high: float, exponent: float, slack: float, relation: str, expect: str) -> Power:
    """A rate: exponents outside the interval, on the side that contradicts the relation, or on either for an equality.

    Args:
        low: lower end of the interval of the fitted slope, ``high`` the upper one.
        slack: known deviation at finite size, and rounding.
        relation: ``equal``, ``at most`` or ``at least``.
        expect: ``supported`` or ``violated``.
    """
    lower, upper = exponent - (low - slack), (high + slack) - exponent
    if expect == "violated":  # how far the claimed exponent is from one that would pass
        lower, upper = -lower, -upper
    change = {"at most": lower, "at least": upper, "equal": max(lower, upper)}[relation]
    side = {"at most": "smaller", "at least": "larger", "equal": ""}[relation]
    if expect == "violated":
        side = {"smaller": "larger", "larger": "smaller", "": ""}[side]
    return Power("exponent", max(change, slack, 1e-12), side=side)


def of_probability(
    low: float,
    high: float,
    at_most: float,
    expect: str,
    attains: float | None = None,
    ends: tuple[float, float] | None = None,
) -> Power:
    """A probability: levels below the upper end of the interval are not supported by the draws; a bound off by so much moves the quantile.

    If ``violated`` is expected, levels above the lower end are no longer contradicted.

    Args:
        low: lower end of the interval of the failure probability, ``high`` the upper one.
        attains: the quantile that is stated of left side over right side, if one is.
        ends: the interval that was found for it.
    """
    end = low if expect == "violated" else high
    change, side = max(abs(1 - end / at_most), 1e-12), "larger" if expect == "violated" else "smaller"
    if attains is None or ends is None:
        return Power("level", change, side=side)
    return Power("level", change, max(ends[1] / attains - 1, 1 - ends[0] / attains, 1e-12), side)


def of_identity(parts: Iterable[Iterable[float]], to_the_truth: float, expect: str) -> Power:
    """An identity: values off by more than tolerance and error together, in the part where that is hardest to see.

    Args:
        parts: of every part of the value, the changes that single comparisons would notice.
        to_the_truth: of a false formula, the least change that could make it true.
    """
    if expect in ("violated", "not implied"):
        return Power("value", to_the_truth)
    return Power("value", max(min(changes) for changes in parts))


def _amount(change: float) -> str:
    change = _rounded_up(change)
    if math.isinf(change):
        return "none"
    if change >= 10:
        return f"{1 + change:.0f} times"
    if change >= 1e-3:
        return f"{100 * change:.3g} %"
    exponent = math.ceil(math.log10(change) - 1e-9)
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _rounded_up(change: float, digits: int = 2) -> float:
    """To so many digits, never below."""
    if math.isinf(change):
        return change
    scale = 10.0 ** (digits - 1 - math.floor(math.log10(change)))
    # The slack keeps 0.2, which is 20.000000000000004 hundredths, what it is.
    return float(f"{math.ceil(change * scale * (1 - 1e-12)) / scale:.{digits}g}")
