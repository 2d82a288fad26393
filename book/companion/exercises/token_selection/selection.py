"""Exercises of the chapter *Attention as token selection*."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _pull(phi: Tensor, gamma: Tensor) -> Tensor:
    return phi * gamma - phi * (phi @ gamma)


#: What people answer instead, by the hint they get.
PULL_MISTAKES = {
    "subtract the average score under the weights φ, not the plain average.": lambda phi, gamma: (
        phi * (gamma - gamma.mean())
    ),
    "the average score is missing: J = diag φ − φφᵀ.": lambda phi, gamma: phi * gamma,
    "each token's pull is proportional to its weight: a factor φ is missing.": lambda phi, gamma: (
        gamma - phi @ gamma
    ),
    "a factor φ is missing on the average: φ ⊙ (γ − ⟨φ, γ⟩), or φ ⊙ γ − φ⟨φ, γ⟩.": lambda phi, gamma: (
        phi * gamma - phi @ gamma
    ),
    "compare with the average score, not with the best.": lambda phi, gamma: phi * (gamma - gamma.max()),
    "a sign: tokens above the average are pulled up.": lambda phi, gamma: -_pull(phi, gamma),
    "subtract φ⟨φ, γ⟩, not φ²γ: J is not diagonal.": lambda phi, gamma: phi * gamma - phi**2 * gamma,
}


def check_pull(pull: Callable[[Float[Tensor, " T"], Float[Tensor, " T"]], Float[Tensor, " T"]]) -> Feedback:
    """Exercise *How a token is pulled*: J(φ)γ; weights, scores → a vector."""
    of = lambda *values: torch.tensor(values, dtype=torch.float64)
    cases = [
        ("two tokens", (of(0.25, 0.75), of(1.0, -2.0))),
        ("four tokens", (of(0.1, 0.2, 0.3, 0.4), of(1.0, 0.5, -1.0, 3.0))),
        ("one weight is 1", (of(0.0, 1.0, 0.0), of(1.0, 2.0, 3.0))),
    ]
    return judge("ex-selection-pull", pull, _pull, cases, PULL_MISTAKES)


#: What people answer instead, by the hint they get.
SUPPORT_MISTAKES = {
    "that is 1ᵀG⁻¹1; look at the signs of G⁻¹1: multipliers are not negative": 1.5,
    "a negative multiplier must not just be set to 0: without sample 1, λ₂ is another number, 1/G₂₂": 2.5,
    "that adds what each sample would need alone; W_mm serves both at once": 11 / 18,
    "with sample 1 alone the other gap is 4/9 < 1": 1 / 9,
    "that is the margin; the square of the norm is asked for": math.sqrt(2),
    "that is the norm; its square is asked for": math.sqrt(0.5),
    "that is 1/‖W_mm‖²": 2.0,
}


def check_support(square: Answer) -> Feedback:
    """Exercise *Who is a support token?*: ‖W_mm‖² for G = ((9, 4), (4, 2))."""
    return judge_number(
        "ex-selection-support",
        square,
        0.5,
        SUPPORT_MISTAKES,
        "try each set of active constraints: multipliers ≥ 0, and the other gap at least 1",
        "sample 2 supports alone: the first gap is 2",
    )


#: What people answer instead, by the hint they get.
ALIGNED_MISTAKES = {
    "that takes b for the part of E_k that is orthogonal to W_mm; its norm is at most √(b² − 1/‖W_mm‖²)": 1
    - 2 / math.sqrt(5),
    "nearly: that replaces 1 − c² by 2(1 − c)": 0.125,
    "that is 1 − c²; take the root: c = √3/2": 0.25,
    "that is √(1 − c²); 1 − c is asked for": 0.5,
    "that is c; 1 − c is asked for": math.sqrt(3) / 2,
    "that is c²; 1 − c is asked for": 0.75,
    "that is √(1 − c²), and with b for √(b² − 1/‖W_mm‖²)": 1 / math.sqrt(5),
    "the sine for the cosine, and b for √(b² − 1/‖W_mm‖²)": 1 - 1 / math.sqrt(5),
    "the condition is c ≥ √3 √(1 − c²): a factor √(b² − 1/‖W_mm‖²) is missing": 1 - math.sqrt(0.5),
}


def check_aligned(gap: Answer) -> Feedback:
    """Exercise *Nearly aligned is good enough*: the largest 1 − c with c ≥ √3 √(1 − c²)."""
    return judge_number(
        "ex-selection-aligned",
        gap,
        1 - math.sqrt(3) / 2,
        ALIGNED_MISTAKES,
        "set c/‖W_mm‖ = √(1 − c²) √(b² − 1/‖W_mm‖²) with b = 2, ‖W_mm‖ = 1, and solve for c",
        "c = √3/2",
        tolerance=5e-4,
    )
