"""Exercises of the chapter *Two layers*."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_by, judge_number

#: What people answer instead, by the hint they get.
RATE_MISTAKES = {
    "m/N = m^(1/8) stands squared.": -3 / 8,
    "the largest of the two quotients counts, and that is m/N.": -3 / 4,
    "that is N = m.": -1 / 2,
    "is it a bound that falls?": 1 / 4,
}


def check_rate(answer: Answer) -> Feedback:
    """Exercise *A stream that is a little too narrow*: the exponent of m for N = m^(7/8)."""
    return judge_number(
        "ex-layers-rate",
        answer,
        -1 / 4,
        RATE_MISTAKES,
        "m/N = m^(1/8) is above 1; square it, and multiply by m^(-1/2).",
        "-1/2 + 2/8 = -1/4.",
    )


#: What people answer instead, by the hint they get; arguments r and s.
SINE_MISTAKES = {
    "D_s stands squared.": lambda r, s: s**2 * math.exp(-(r**2) / 2) * (1 - math.exp(-(s**2) / 2)),
    "a remainder that starts at first order? s stands squared, too.": lambda r, s: s * math.exp(-(r**2)) * (1 - math.exp(-(s**2) / 2)) ** 2,
    "the variance of rg is r², and E cos(rg) = exp(-r²/2).": lambda r, s: s**2 * (math.exp(-r / 2) - math.exp(-(r + s**2) / 2)) ** 2,
    "E cos(√t g) = exp(-t/2), with a half.": lambda r, s: s**2 * (math.exp(-(r**2)) - math.exp(-(r**2) - s**2)) ** 2,
}  # fmt: skip


def sine_floor(r: float, s: float) -> float:
    """s²e^{−r²}(1 − e^{−s²/2})²."""
    return s**2 * math.exp(-(r**2)) * (1 - math.exp(-(s**2) / 2)) ** 2


def check_sine_floor(answer: Callable[[float, float], float]) -> Feedback:
    """Exercise *A floor in closed form*: r and s → s²D_s(r²)² for the sine."""
    cases = [("r = 0, s = 1", (0.0, 1.0)), ("r = 1, s = 0.5", (1.0, 0.5)), ("r = 0.7, s = 2", (0.7, 2.0))]
    return judge("ex-layers-sine", answer, sine_floor, cases, SINE_MISTAKES)


def sine_kernel(
    rho: float, variance: float = 1 + math.sinh(1) / math.e, skip: float = 1.0, below: float = 1.0
) -> float:
    """e^{−v}[sinh S + (S + Θ) cosh S]; the last arguments are for what people forget."""
    Q = math.sinh(rho) / math.e
    S, Theta = skip * rho + Q, Q + rho * math.cosh(rho) / math.e
    return math.exp(-variance) * (math.sinh(S) + (S + below * Theta) * math.cosh(S))


#: What people answer instead, by the hint they get; the argument is ρ.
KERNEL_MISTAKES = {
    "the first layer has parameters, too: Θ.": lambda rho: sine_kernel(rho, below=0.0),
    "the stream holds the token as well as what was read: S = ρ + Q.": lambda rho: sine_kernel(rho, math.sinh(1) / math.e, skip=0.0),
    "the second layer's inputs have the variance 1 + Q(1).": lambda rho: sine_kernel(rho, variance=1.0),
    "Θ has two parts: that of B, which is Q, and that of U′.": lambda rho: sine_kernel(rho) - math.exp(-1 - math.sinh(1) / math.e) * math.cosh(rho + math.sinh(rho) / math.e) * rho * math.cosh(rho) / math.e,
}  # fmt: skip


def check_sine_kernel(answer: Callable[[float], float]) -> Feedback:
    """Exercise *The limiting kernel of the sine*: ρ → K."""
    cases = [(f"ρ = {rho:g}", (rho,)) for rho in (1.0, 0.5, -0.3)]
    return judge("ex-layers-kernel", answer, lambda rho: sine_kernel(rho), cases, KERNEL_MISTAKES)


def sharp_heads(T: int) -> tuple[Float[Tensor, "T T"], Float[Tensor, "T T"]]:
    """Head i looks at token i alone, and g is 0 elsewhere."""
    return torch.eye(T), torch.eye(T)


def _not_sharp(value: object, T: int) -> str | tuple[str, ...]:
    """What is wrong with weights and numbers, or nothing."""
    try:
        alpha, g = (torch.as_tensor(part, dtype=torch.float64) for part in value)
    except (TypeError, ValueError):
        return "return two tables, the weights and the numbers g"
    if alpha.shape != (T, T) or g.shape != (T, T):
        return f"both must be {T} × {T}, heads by tokens"
    if (alpha < 0).any() or not torch.allclose(alpha.sum(1), torch.ones(T, dtype=torch.float64)):
        return "the weights of a head are at least 0 and add up to 1", "rows of α are heads"
    left, most = (alpha * g).sum(1).square().sum(), g.square().sum(0).max()
    if not most > 0:
        return "g = 0 makes both sides 0; the example must be above 0"
    if not torch.isclose(left, T * most):
        return (
            f"the left side is {float(left):.3g}, the right side {float(T * most):.3g}",
            "let every head look at a token of its own",
        )
    return ""


def check_sharp_heads(answer: Callable[[int], tuple[Float[Tensor, "T T"], Float[Tensor, "T T"]]]) -> Feedback:
    """Exercise *Heads that look at different tokens*: T → α and g with equality for K = T."""
    cases = [(f"T = {T}", (T,)) for T in (1, 2, 5)]
    return judge_by(
        "ex-layers-heads",
        answer,
        cases,
        _not_sharp,
        "K = T is reached. Now the second half.",
        sharp_heads,
    )
