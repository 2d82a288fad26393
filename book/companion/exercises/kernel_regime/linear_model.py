"""Exercises of the chapter *The linear model*."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.exercises.heads import Scalar, Tokens
from shallowformer.exercises.unaided import without_autograd
from shallowformer.kernel_regime.model import linear_model, parameters
from shallowformer.kernel_regime.model.parameters import Parameters

Blocks = tuple[Float64[Tensor, " m"], Float64[Tensor, "m d"], Float64[Tensor, "m d d"]]


def _tangent(x: Tensor, phi0: Blocks, delta: Blocks) -> Tensor:
    start = Parameters(*phi0)
    moved = Parameters(*(a + b for a, b in zip(phi0, delta, strict=True)))
    return linear_model.f_lin(x[None], moved, start)[0]


def _without_start(x: Tensor, phi0: Blocks, delta: Blocks) -> Tensor:
    return _tangent(x, phi0, delta) - _tangent(x, phi0, tuple(0 * block for block in delta))


def _networks(seed: int) -> list[tuple[str, tuple]]:
    generator = Generator().manual_seed(seed)
    cases = []
    for description, m, d, T in (
        ("a symmetric start", 4, 3, 5),
        ("a start in general position", 3, 2, 4),
        ("one token, one dimension", 2, 1, 1),
    ):
        make = parameters.symmetric if "symmetric" in description else parameters.random
        x = torch.nn.functional.normalize(torch.randn(T, d, generator=generator, dtype=torch.float64), dim=-1)
        phi0, delta = make(m, d, generator).blocks, parameters.random(m, d, generator).blocks
        cases.append((description, (x, phi0, delta)))
    return cases


#: What people answer instead, by the hint they get.
TANGENT_MISTAKES = {
    "the value at the start is missing; it is 0 at a symmetric start only.": _without_start,
    "the factor m^(−1/2) is missing.": lambda x, phi0, delta: _tangent(x, phi0, delta) * len(phi0[0]) ** 0.5,
    "δW acts on q, so δW q and not δWᵀ q.": lambda x, phi0, delta: _tangent(x, phi0, (delta[0], delta[1], delta[2].mT)),
    "the slopes in U and W carry c⁽⁰⁾.": lambda x, phi0, delta: _tangent(
        x, phi0, (delta[0], *(b / phi0[0].reshape(-1, *[1] * (b.ndim - 1)) for b in delta[1:]))
    ),
    "that is the model itself at the displaced point.": lambda x, phi0, delta: _model(x, phi0, delta),
}  # fmt: skip


def _model(x: Tensor, phi0: Blocks, delta: Blocks) -> Tensor:
    c, U, W = (a + b for a, b in zip(phi0, delta, strict=True))
    a = torch.softmax((W @ x[-1]) @ x.T, -1) @ x
    return (c * torch.tanh((a * U).sum(-1))).sum() / len(c) ** 0.5


def check_tangent(tangent: Callable[[Tokens, Blocks, Blocks], Scalar]) -> Feedback:
    """Exercise *The tangent of one network*: f_lin of one input, without autograd; X, φ⁽⁰⁾ and δ as tuples (c, U, W) → a number."""
    cases = _networks(0)
    feedback = judge("ex-linear-tangent", tangent, _tangent, cases, TANGENT_MISTAKES)
    return without_autograd(feedback, tangent, cases[0][1])


def _bend(R: float) -> float:
    h = math.tanh(min(R, math.atanh(3**-0.5)))
    return 2 * h * (1 - h * h)


def _frozen_bound(R: float, rho_c: float, rho_u: float, m: int) -> float:
    return (rho_c * rho_u + 0.5 * rho_u**2 * _bend(R)) / m**0.5


#: What people answer instead, by the hint they get.
FROZEN_BOUND_MISTAKES = {
    "a short U does not reach the largest bend of tanh.": lambda R, rho_c, rho_u, m: _frozen_bound(9.0, rho_c, rho_u, m),
    "Taylor's factor ½ is missing in the second term.": lambda R, rho_c, rho_u, m: (rho_c * rho_u + rho_u**2 * _bend(R)) / m**0.5,
    "a head may miss b/m, but m heads with m^(−1/2) in front miss b/√m.": lambda R, rho_c, rho_u, m: _frozen_bound(R, rho_c, rho_u, m) / m**0.5,
    "with frozen attention the slope of a head is at most ρ_u, whatever R.": lambda R, rho_c, rho_u, m: (rho_c * rho_u * max(1.0, R) + 0.5 * rho_u**2 * _bend(R)) / m**0.5,
    "the bend of tanh at R itself is too small for a long U, which need not be used in full.": lambda R, rho_c, rho_u, m: (
        rho_c * rho_u + rho_u**2 * math.tanh(R) * (1 - math.tanh(R) ** 2)
    ) / m**0.5,
}  # fmt: skip


def check_frozen_bound(frozen_bound: Callable[[float, float, float, int], float]) -> Feedback:
    """Exercise *Frozen attention*: the head average of Lemma 3, sharp, for ρ_w = 0 and tanh; R, ρ_c, ρ_u, m → the bound."""
    cases = [
        (f"R = {R:g}, ρ_c = {c:g}, ρ_u = {u:g}, m = {m}", (R, c, u, m))
        for R, c, u, m in ((2.0, 1.0, 2.0, 4), (0.3, 1.0, 2.0, 16), (8.0, 0.0, 3.0, 256))
    ]
    return judge("ex-linear-frozen", frozen_bound, _frozen_bound, cases, FROZEN_BOUND_MISTAKES)


#: What people answer instead, by the hint they get.
READOUT_EXPONENT_MISTAKES = {
    "the error falls with m: mind the sign": 0.5,
    "that is the rate where partners move oppositely; an adversary moves each as it likes": -1.0,
}


def check_readout_exponent(exponent: Answer) -> Feedback:
    """Exercise *Without the readout*: the adversary's exponent in m for ρ = (0, 1, 1)."""
    return judge_number(
        "ex-linear-readout",
        exponent,
        -0.5,
        READOUT_EXPONENT_MISTAKES,
        lambda number: f"{number:.2f} is not it; fit log error against log m over several networks",
        "the exponent stays −1/2: partners find curvature of opposite signs",
        tolerance=0.1,
        near=0.15,
        begin="the error of one network is noisy: average log error over some networks at each m, then fit a line against log m.",
    )
