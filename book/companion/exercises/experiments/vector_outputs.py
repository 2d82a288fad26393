"""Exercises of the chapter *Whole series at once*."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from shallowformer.exercises.feedback import Feedback, judge

#: What people answer instead, by the hint they get.
HEARD_MISTAKES = {
    "that is the bound by Cauchy–Schwarz; what a head hears is smaller unless all residuals point along its readouts.": lambda c, r: c.norm(dim=1) * r.square().sum(1).mean().sqrt(),
    "the root of the mean square, not the mean: what is heard has both signs.": lambda c, r: (r @ c.T).mean(0),
    "one root is missing.": lambda c, r: (r @ c.T).square().mean(0),
    "mean over the positions, not sum.": lambda c, r: (r @ c.T).square().sum(0).sqrt(),
    "add over the outputs before squaring: a head hears one number a position.": lambda c, r: (r[:, None] * c).square().sum(-1).mean(0).sqrt(),
}  # fmt: skip


def heard(c: Float[Tensor, "m k"], r: Float[Tensor, "N k"]) -> Float[Tensor, " m"]:
    """‖⟨c_i, r⟩‖ in root mean square over the positions, for every head."""
    return (r @ c.T).square().mean(0).sqrt()


def check_heard(
    answer: Callable[[Float64[Tensor, "m k"], Float64[Tensor, "N k"]], Float64[Tensor, " m"]],
) -> Feedback:
    """Exercise *What a head hears*: readouts and residuals → a number a head."""
    source = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=source, dtype=torch.float64)
    cases = [
        ("one head, one output", (draw(1, 1), draw(4, 1))),
        ("four heads, three outputs", (draw(4, 3), draw(5, 3))),
        ("residuals along the first head's readouts", ((c := draw(3, 2)), draw(6, 1) * c[0])),
    ]
    return judge("ex-vector-outputs-heard", answer, heard, cases, HEARD_MISTAKES)


#: What people answer instead, by the hint they get.
GAUSSIAN_MISTAKES = {
    "that is for signs, whose squares do not vary; the diagonal has variance now.": lambda m, k: 2 * k * (k - 1) / m,
    "the variance of a squared standard Gaussian is 2.": lambda m, k: 2 * k**2 / m,
    "partners carry opposite readouts: only m/2 rows are independent.": lambda m, k: k * (k + 1) / m,
    "off the diagonal there are k(k − 1) entries.": lambda m, k: 2 * (2 * k + k * (k - 1) / 2) / m,
}  # fmt: skip


def gaussian_spread(m: int, k: int) -> float:
    """2k(k + 1)/m.

    Args:
        m: heads, even.
        k: outputs.
    """
    return 2 * k * (k + 1) / m


def check_gaussian_spread(answer: Callable[[int, int], float]) -> Feedback:
    """Exercise *Gaussian readouts*: m and k → E‖(2/m) C₀ᵀC₀ − I‖²."""
    cases = [
        ("m = 2, k = 1", (2, 1)),
        ("m = 8, k = 2", (8, 2)),
        ("m = 64, k = 4", (64, 4)),
        ("m = 100, k = 9", (100, 9)),
    ]
    return judge("ex-vector-outputs-gaussian", answer, gaussian_spread, cases, GAUSSIAN_MISTAKES)


#: What people answer instead, by the hint they get.
ANGLES_MISTAKES = {
    "all heads have the same readouts: then outputs are copies of each other.": lambda pairs, k: torch.ones(pairs, k, dtype=torch.float64),
    "readouts of ±1 are asked for: no zeros.": lambda pairs, k: torch.eye(k, dtype=torch.float64).repeat(pairs // k + 1, 1)[:pairs],
    "those are signs drawn at random: at right angles only on average.": lambda pairs, k: torch.randn(
        pairs, k, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    ).sign(),
}  # fmt: skip


def at_right_angles(pairs: int, k: int) -> Float[Tensor, "pairs k"]:
    """The first k columns of Sylvester's matrix of signs, pairs a power of two, at least k."""
    H = torch.ones(1, 1, dtype=torch.float64)
    while len(H) < pairs:
        H = torch.cat([torch.cat([H, H], 1), torch.cat([H, -H], 1)])
    return H[:, :k]


def check_at_right_angles(answer: Callable[[int, int], Float64[Tensor, "pairs k"]]) -> Feedback:
    """Exercise *Readouts at right angles*: pairs and k → signs with C₀ᵀC₀ = (m/2) I."""
    seen = lambda C, pairs, k: torch.cat([C.abs().flatten(), (C.mT @ C / pairs).flatten()])
    right = lambda pairs, k: seen(at_right_angles(pairs, k), pairs, k)
    cases = [
        ("two pairs, two outputs", (2, 2)),
        ("eight pairs, three outputs", (8, 3)),
        ("64 pairs, 16 outputs", (64, 16)),
    ]
    return judge("ex-vector-outputs-angles", answer, right, cases, ANGLES_MISTAKES, seen=seen, slips=False)
