"""Identities: a formula against independent routes to the same quantity."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Shaped
from torch import Tensor

from shallowformer import arguments
from shallowformer.verify import power, untouched
from shallowformer.verify.check import Check
from shallowformer.verify.verdict import RECORDED, Verdict

Quantity = Shaped[Tensor, "..."]
Route = Callable[..., Quantity | tuple[Quantity, ...]]


def relative_error(value: Quantity, reference: Quantity, floor: float) -> float:
    """Largest error of an entry, relative to the reference's entry, or to ``floor`` where that is larger.

    Infinite if shapes differ, no entry is finite, or one is not and the other is not the same infinity. Entries that cancel to 0 leave
    rounding errors of the size of what cancelled: that is what a floor is for.
    """
    if value.shape != reference.shape:
        return float("inf")
    value, reference = _double(value), _double(reference)
    finite = value.isfinite() & reference.isfinite()
    if not finite.any() or not (finite | (value == reference)).all():
        return float("inf")
    return float(((value - reference).abs() / reference.abs().clamp(min=floor))[finite].max())


@dataclass(frozen=True)
class Identity(Check):
    """Put an identity to the test: a formula against independent routes to the same quantity.

    Returns: the verdict: ``holds`` or ``violated``.

    Args:
        formula: keyword arguments of a case → tensor, or a tuple of tensors.
        against: name → route with the same arguments and result; two or more where there are two.
        over: cases, each a mapping of keyword arguments; edge cases belong among them.
        tolerance: largest allowed error of an entry, relative to the reference's.
        tolerances: route → tolerance, where a route is less accurate (finite differences).
        floor: entries of the reference below it count as it.
        expect: ``holds``; ``violated``; ``not implied`` of what is said and does not follow; ``recorded`` of what is typed and compared with
            the rows that it was read from, which is no evidence.
    """

    formula: Route
    against: Mapping[str, Route]
    over: Iterable[Mapping]
    tolerance: float
    because: str
    tolerances: Mapping[str, float] | None = None
    floor: float = 1e-3
    expect: str = "holds"

    kind = "identity"
    expects = ("holds", "violated", "not implied", RECORDED)

    def __post_init__(self) -> None:
        """Refuse a check that could not fail."""
        super().__post_init__()
        own = {
            "over": list(self.over),
            "against": dict(self.against),
            "tolerances": dict(self.tolerances or {}),
        }
        for name, value in own.items():
            object.__setattr__(self, name, value)
        arguments.positive("tolerance", self.tolerance)
        for name, tolerance in self.tolerances.items():
            arguments.positive(f"tolerances[{name!r}]", tolerance)
        arguments.positive("floor", self.floor)
        if not self.against:
            raise ValueError("against must name at least one independent route, got none")
        if unknown := set(self.tolerances) - set(self.against):
            raise ValueError(
                f"tolerances must name routes ({', '.join(self.against)}), got {', '.join(sorted(unknown))}"
            )

    def run(self) -> Verdict:
        """Evaluate formula and routes on every case and compare."""
        worst = dict.fromkeys(self.against, 0.0)
        tolerance = {name: self.tolerances.get(name, self.tolerance) for name in self.against}
        # Of each part, the changes that its comparisons would notice; where it is 0 as far as this check can see, only if it is so
        # everywhere: 0 off by 1 % is 0.
        seen: dict[int, list[float]] = {}
        where_zero: dict[int, list[float]] = {}
        to_the_truth = 0.0
        if not self.over:
            raise ValueError(f"{self.claim}: over must hold at least one case, got none")
        for case in self.over:
            value = _parts(untouched.call("formula", self.formula, case))
            for name, route in self.against.items():
                reference = _parts(untouched.call(f"route {name!r}", route, case))
                if len(value) != len(reference):
                    raise ValueError(
                        f"{self.claim}: route {name!r} gives {len(reference)} parts, the formula {len(value)}"
                    )
                for part, (v, r) in enumerate(zip(value, reference, strict=True)):
                    error = relative_error(v, r, self.floor)
                    worst[name] = max(worst[name], error)
                    visible = _visible(v, r, self.floor, tolerance[name])
                    seen.setdefault(part, []), where_zero.setdefault(part, [])
                    (seen if visible else where_zero)[part].append(
                        (tolerance[name] + error) / (visible or 1.0)
                    )
                    to_the_truth = max(to_the_truth, (error - tolerance[name]) / (visible or 1.0))
        holds = all(worst[name] <= tolerance[name] for name in self.against)
        errors = ", ".join(
            f"{_rounded_up(error, tolerance[name])} against {name} (tolerance {_short(tolerance[name])})"
            for name, error in worst.items()
        )
        if holds:
            verdict = RECORDED if self.expect == RECORDED else "holds"
        else:
            verdict = "not implied" if self.expect == "not implied" else "violated"
        return self.verdict(
            verdict,
            f"relative error {errors}; {len(self.over)} cases",
            {
                "worst_error": max(worst.values()),
                **{f"error_{name}": error for name, error in worst.items()},
                **{f"tolerance_{name}": value for name, value in tolerance.items()},
            },
            {"cases": len(self.over), "floor": self.floor},
            power.of_identity(
                [changes or where_zero[part] for part, changes in seen.items()],
                max(to_the_truth, min(tolerance.values())),
                self.expect,
            ),
        )


def _visible(value: Tensor, reference: Tensor, floor: float, tolerance: float) -> float:
    """The error that a relative change of ``value`` by 1 makes where it shows best: 0 where that cannot be seen."""
    if value.shape != reference.shape:
        return 1.0
    value, reference = _double(value).abs(), _double(reference).abs()
    seen = (value > tolerance * floor) & value.isfinite() & reference.isfinite()
    return float((value / reference.clamp(min=floor))[seen].max()) if seen.any() else 0.0


def _double(value: Tensor) -> Tensor:
    return value.detach().to(torch.complex128 if value.is_complex() else torch.float64)


def _parts(value: Tensor | tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return (value,) if isinstance(value, Tensor) else tuple(torch.as_tensor(part) for part in value)


def _rounded_up(error: float, tolerance: float) -> str:
    """An error to the next power of ten above, or to the tolerance, so that the printed text is the same on every machine."""
    if error == 0:
        return "0"
    if not error < 1:
        return f"{error:.1g}"
    exponent = next(k for k in range(400) if error > 10.0 ** -(k + 1))
    return f"below {_short(tolerance if error <= tolerance < 10.0**-exponent else 10.0**-exponent)}"


def _short(number: float) -> str:
    brief = f"{number:.0e}"
    return brief if float(brief) == number else f"{number:g}"
