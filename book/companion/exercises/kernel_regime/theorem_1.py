"""Exercises of the chapter *Theorem 1, line by line*."""

import itertools
import math
from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.kernel_regime.convergence import theorem_1


def _best_step(V0: float, F: float, A: float, steps: int) -> float:
    return math.sqrt(V0 / steps) / (2 * F * A)


#: What people answer instead, by the hint they get.
BEST_STEP_MISTAKES = {
    "that is the paper's choice; it does not depend on V0, F and A, and is not the minimum.": lambda V0, F, A, steps: steps**-0.5,
    "the first term has a 4 in its denominator: set the derivative −V0/(4η²τ) + F²A² to 0.": lambda V0, F, A, steps: math.sqrt(V0 / steps) / (F * A),
    "that is the value at the minimum; the step that attains it is asked for.": lambda V0, F, A, steps: F * A * math.sqrt(V0 / steps),
    "solve for η, not for η².": lambda V0, F, A, steps: V0 / steps / (2 * F * A) ** 2,
}  # fmt: skip


def check_best_step(best_step: Callable[[float, float, float, int], float]) -> Feedback:
    """Exercise *The best constant step*: the minimiser of V₀/(4ητ) + ηF²A²; V₀, F, A, τ → η."""
    cases = [
        ("V0 = 27, F = 47, A = 9, 4000 steps", (27.0, 47.0, 9.0, 4000)),
        ("V0 = 0.2, F = 1, A = 0.5, 10 steps", (0.2, 1.0, 0.5, 10)),
        ("one step", (2.0, 3.0, 0.7, 1)),
    ]
    return judge("ex-theorem-1-step", best_step, _best_step, cases, BEST_STEP_MISTAKES)


def _gain(r: Tensor, e: Tensor) -> float:
    return float((r * (r - e)).mean())


def _nearest_step(r: Tensor, e: Tensor, slope: float) -> float:
    return max(0.0, 2 * _gain(r, e) / slope)


#: What people answer instead, by the hint they get.
NEAREST_STEP_MISTAKES = {
    "steps are not negative: where the errors outweigh the loss, every step leads away, and the best is 0.": lambda r, e, slope: 2 * _gain(r, e) / slope,
    "that is the step at which the distance is what it was before; it is smallest halfway there.": lambda r, e, slope: 2 * _nearest_step(r, e, slope),
    "expanding the square brings 2η⟨∇L̂, φ̃ − φ⟩, which is 4η times the loss less the errors, not 2η times.": lambda r, e, slope: _nearest_step(r, e, slope) / 2,
    "the errors are missing: this is the step to a comparator that fits all labels.": lambda r, e, slope: 2 * float(r.square().mean()) / slope,
    "the errors enter with the other sign: ⟨∇L̂, φ̃ − φ⟩ = −2L̂ + (2/n) Σ r_j e_j.": lambda r, e, slope: _nearest_step(r, -e, slope),
    "the loss is a mean over samples, not a sum.": lambda r, e, slope: len(r) * _nearest_step(r, e, slope),
    "divide by the squared norm of the gradient, not by the norm.": lambda r, e, slope: slope**0.5 * _nearest_step(r, e, slope),
    "that is by how much the squared distance falls; the step is asked for.": lambda r, e, slope: 4 * max(0.0, _gain(r, e)) ** 2 / slope,
}  # fmt: skip


def check_nearest_step(
    nearest_step: Callable[[Float64[Tensor, " n"], Float64[Tensor, " n"], float], float],
) -> Feedback:
    """Exercise *The step that comes nearest*: the minimiser over η ≥ 0 of V after an unprojected step; residuals, errors, ‖∇L̂‖² → η."""
    generator = Generator().manual_seed(0)
    draw = lambda n: torch.randn(n, generator=generator, dtype=torch.float64)
    r, one = draw(3), draw(1)
    cases = [
        ("no errors", (draw(4), torch.zeros(4, dtype=torch.float64), 0.3)),
        ("five samples", (draw(5), 0.2 * draw(5), 0.5)),
        ("errors that outweigh the loss", (r, 2 * r, 0.7)),
        ("one sample", (one, 0.5 * one, 2.0)),
    ]
    return judge("ex-theorem-1-nearest", nearest_step, _nearest_step, cases, NEAREST_STEP_MISTAKES)


def _width_term(m: int) -> float:
    return theorem_1.paper(5000, 8, m, (3.0, 3.0, 3.0), (3.0, 3.0, 3.0), 0.05, 0.05).width


def check_heads_needed(heads: Answer) -> Feedback:
    """Exercise *When does it say something?*: the first power of two at which the paper's width term is below 0.0025."""
    right = next(m for m in (2**k for k in itertools.count(1)) if _width_term(m) <= 0.0025)

    def otherwise(number: float) -> str:
        if 1 < number < 200 and number == int(number):
            return f"{number:g} heads are few: give m itself, not its exponent"
        if not (math.isfinite(number) and number >= 2) or 2 ** round(math.log2(number)) != number:
            return f"{number:g} is no power of 2"
        if number < right:
            return f"there the width term is still {_width_term(int(number)):.2g}: too few heads"
        return "half as many heads would do: not the smallest"

    praise = f"the width term is {_width_term(right):.4f} there"
    return judge_number(
        "ex-theorem-1-speak",
        heads,
        right,
        {},
        otherwise,
        praise,
        tolerance=0.0,
        begin="the width term falls with m: double m until it is below 0.0025, and count neither too far nor too short.",
    )
