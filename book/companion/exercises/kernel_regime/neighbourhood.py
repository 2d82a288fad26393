"""Exercises of the chapter *Symmetric initialisation and the neighbourhood Ω_ρ*."""

import math
from collections.abc import Callable

import torch
from torch import Generator, Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.exercises.heads import Vector
from shallowformer.kernel_regime.neighbourhood import norm_event


def _project(x: Tensor, centre: Tensor, radius: float) -> Tensor:
    length = float((x - centre).norm())
    return x if length <= radius else centre + radius / length * (x - centre)


def _blocks(seed: int) -> list[tuple[str, tuple]]:
    generator = Generator().manual_seed(seed)
    draw = lambda d: torch.randn(d, generator=generator, dtype=torch.float64)
    centre = draw(5)
    away = draw(5)
    away = away / away.norm()
    return [
        ("a point outside", (centre + 2 * away, centre, 0.5)),
        ("a point inside", (centre + 0.3 * away, centre, 0.5)),
        ("a long block, far outside", (50 * draw(64), draw(64), 2.0)),
        ("the centre itself", (centre, centre, 0.5)),
        ("one dimension", (draw(1) + 3, draw(1), 0.1)),
    ]


def _always_to_the_sphere(x: Tensor, centre: Tensor, radius: float) -> Tensor:
    return centre + radius * (x - centre) / (x - centre).norm()


def _around_the_origin(x: Tensor, centre: Tensor, radius: float) -> Tensor:
    return _project(x, torch.zeros_like(x), radius)


#: What people answer instead, by the hint they get.
PROJECT_MISTAKES = {
    "a point that is inside already is its own nearest point.": _always_to_the_sphere,
    "the ball is around the centre, not around the origin.": _around_the_origin,
    "that is the nearest point of a cube: a ball limits the norm, not each coordinate.": lambda x, centre, radius: centre + (x - centre).clamp(-radius, radius),
    "this is the displacement; add the centre.": lambda x, centre, radius: _project(x, centre, radius) - centre,
}  # fmt: skip


def check_project(project: Callable[[Vector, Vector, float], Vector]) -> Feedback:
    """Exercise *Project one block*: the nearest point of a ball; x, centre, radius → the nearest point."""
    return judge("ex-neighbourhood-project", project, _project, _blocks(0), PROJECT_MISTAKES)


def _plane_radius(m: int, delta: float) -> float:
    return norm_event.exact_radius(m, 2, delta)


#: What people answer instead, by the hint they get.
PLANE_RADIUS_MISTAKES = {
    "partners share U: there are m/2 independent vectors, not m.": lambda m, delta: norm_event.exact_radius(2 * m, 2, delta),
    "that is the union bound; independent vectors give a product, and the exact radius.": lambda m, delta: math.sqrt(2 * math.log(m / (2 * delta))),
    "that is the paper's radius; it covers more than 1 − δ'.": lambda m, delta: norm_event.paper_radius(m, 2, delta),
    "the exponent of e is −r²/2, so a factor 2 stands under the root.": lambda m, delta: norm_event.exact_radius(m, 2, delta) / math.sqrt(2),
    "δ' is what may fail: the product of the m/2 probabilities is 1 − δ', not δ'.": lambda m, delta: norm_event.exact_radius(m, 2, 1 - delta),
    "that holds one vector with probability 1 − δ'; all m/2 have to be held.": lambda m, delta: norm_event.exact_radius(2, 2, delta),
}  # fmt: skip


def check_plane_radius(plane_radius: Callable[[int, float], float]) -> Feedback:
    """Exercise *The exact radius in the plane*: the smallest radius with coverage exactly 1 − δ' for d = 2; m, δ' → the radius."""
    cases = [(f"m = {m}, δ' = {delta:g}", (m, delta)) for m, delta in ((2, 0.3), (8, 0.05), (256, 0.01))]
    return judge("ex-neighbourhood-plane", plane_radius, _plane_radius, cases, PLANE_RADIUS_MISTAKES)


#: What people answer instead, by the hint they get.
MEDIAN_DISPLACEMENT_MISTAKES = {
    "if this is W, the radius is not uniform: most of the volume of a ball is far from its centre; "
    "if it is the readout, take the W-block": 0.5,
    "that is U, in 8 dimensions; W has 64 entries": 2 ** (-1 / 8),
}


def check_median_displacement(median: Answer) -> Feedback:
    """Exercise *Inside is near the edge*: the median of ‖W − W⁽⁰⁾‖_F/(ρ_w/√m) for a uniform point, d = 8."""
    right = 2 ** (-1 / 64)

    def otherwise(number: float) -> str:
        if not math.isfinite(number):
            return f"{number} is no length: what did you divide by, and are there any heads?"
        if number > 1:
            return "no block may move further than its radius: divide by ρ_w/√m with the m you drew"
        if number < 0.3:
            return f"{number:.3g} is far too small: give it in units of ρ_w/√m, that is, times √m over ρ_w"
        return f"{number:.3f} is too far from it; use a thousand heads or more, and the W-block"

    return judge_number(
        "ex-neighbourhood-interior",
        median,
        right,
        MEDIAN_DISPLACEMENT_MISTAKES,
        otherwise,
        f"the median is 2^(−1/64) = {right:.4f}",
        tolerance=0.002,
        near=0.02,
        begin="a uniform point of a ball in k dimensions is within r of the centre with probability (r/R)^k: where is that ½?",
    )
