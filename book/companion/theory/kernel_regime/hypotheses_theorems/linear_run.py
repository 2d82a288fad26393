"""Theorem F and its identity, each without one hypothesis: two heads, one token of length 1, one step or two."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.kernel_regime.hypotheses_theorems.one_token import start
from shallowformer.activations import TANH
from shallowformer.kernel_regime.linear_run import theorem_f

U, Y, ETA = 0.3, 0.5, 1e-4
SIGMA_4 = 4.0859  # max |σ⁗| for tanh
Function = Callable[[float], float]


def _derivatives(z: float) -> tuple[float, float, float, float]:
    at = torch.tensor(z, dtype=torch.float64)
    return tuple(float(of(at)) for of in TANH.derivatives)


def first_bound(y: float, eta: float, c: float = 1.0) -> float:
    """E₁ of Theorem F, written out for two heads c = ±c⁰, one token of length 1 and U = 0.3.

    √2 [|σ‴|α³/6 + t + γ(½|σ″|α² + t)], t = σ₄α⁴/24, α = √2 η c⁰ yσ', γ = √2 η yσ: before the first step nothing is off.
    """
    h, slope, bend, third = _derivatives(U)
    alpha, gamma = math.sqrt(2) * eta * c * y * slope, math.sqrt(2) * eta * y * h
    t = SIGMA_4 * alpha**4 / 24
    return math.sqrt(2) * (abs(third) * alpha**3 / 6 + t + gamma * (abs(bend) * alpha**2 / 2 + t))


def first_distance(y: float, eta: float, c: float = 1.0, value: Function = math.tanh) -> float:
    """|r⁽¹⁾ − u⁽¹⁾| of the same heads after a step, where σ is a function with the value and the slope of tanh at U."""
    h, slope, *_ = _derivatives(U)
    root = math.sqrt(2)
    move_c, move_U = 2 * eta * y * h / root, 2 * eta * y * c * slope / root
    f = ((c + move_c) * value(U + move_U) + (-c + move_c) * value(U - move_U)) / root
    return abs(f - 2 * eta * (h**2 + (c * slope) ** 2) * y)


def uneven_start(kept: bool) -> tuple[float, float]:
    """|r⁽⁰⁾ − u⁽⁰⁾| = |f(φ⁽⁰⁾)| and E₀ = 0, for partners with U = 0.3 both (kept), or 0.3 and 0.1."""
    return abs(math.tanh(U) - math.tanh(U if kept else 0.1)) / math.sqrt(2), 0.0


def loud_start(kept: bool) -> tuple[float, float]:
    """|r⁽¹⁾ − u⁽¹⁾| and E₁ with the c⁰ of the start in known path, for readouts ±1 (kept) or ±100; η = 10⁻⁴, within 1/λ_max."""
    c, eta = (1.0, 0.1) if kept else (100.0, ETA)
    return first_distance(Y, eta, c), first_bound(Y, eta, c)


def other_activation(kept: bool) -> tuple[float, float]:
    """|r⁽¹⁾ − u⁽¹⁾| and E₁, η = 0.1, for tanh (kept), or tanh and a bump 10⁶(z − U)⁵ above U: in C⁴, with the same four derivatives at U."""
    bump = 0.0 if kept else 1e6
    return first_distance(Y, 0.1, value=lambda z: math.tanh(z) + bump * max(z - U, 0.0) ** 5), first_bound(
        Y, 0.1
    )


def stopped(kept: bool) -> tuple[float, float]:
    """|r⁽¹⁾ − u⁽¹⁾| and E₁, η = 0.1: the step is taken (kept), or taken back, for ρ = 0."""
    h, slope, *_ = _derivatives(U)
    stays = 2 * 0.1 * (h**2 + slope**2) * Y
    return (first_distance(Y, 0.1) if kept else stays), first_bound(Y, 0.1)


def one_sample(kept: bool) -> tuple[float, float]:
    """‖r⁽¹⁾ − u⁽¹⁾‖ and E₁ by the package, for the tokens 1 and 0 with the labels ½ and 0, η = 0.1: full gradient (kept), or token 0's, 0."""
    X, y = torch.tensor([[[1.0]], [[0.0]]], dtype=torch.float64), torch.tensor([Y, 0.0], dtype=torch.float64)
    sure = float(theorem_f.certify(X, y, start(U), 0.1, 1).E[1])
    h, slope, *_ = _derivatives(U)
    # Half of the samples have a gradient: the full one is that of a step half as long.
    apart = first_distance(Y, 0.05) if kept else 2 * 0.05 * (h**2 + slope**2) * Y
    return apart / math.sqrt(2), sure


@dataclass(frozen=True)
class Heads:
    """Two heads with readouts c and inputs U, on tokens x: outputs, and rows of their gradients in (c, c', U, U')."""

    tokens: Sequence[float]

    def f(self, at: Float[Tensor, "4"]) -> Float[Tensor, " n"]:
        """(c tanh(Ux) + c' tanh(U'x))/√2 for each token."""
        x = torch.tensor(self.tokens, dtype=torch.float64)[:, None]
        return (torch.tanh(x * at[2:]) * at[:2]).sum(1) / math.sqrt(2)

    def rows(self, at: Float[Tensor, "4"]) -> Float[Tensor, "n 4"]:
        """A row a token."""
        return torch.autograd.functional.jacobian(self.f, at)


def recursion(
    at: Sequence[float], tokens: Sequence[float] = (1.0,), fence: float | None = None, draws: bool = False
) -> float:
    """Distance of ê⁽²⁾ by the recursion from what it is, labels 1 and 0 (if there is a second), η = 0.3."""
    heads, eta, n = Heads(tokens), 0.3, len(tokens)
    begin = torch.tensor(at, dtype=torch.float64)
    y = torch.tensor([1.0, 0.0][:n], dtype=torch.float64)
    J0 = heads.rows(begin)
    G0 = J0 @ J0.T / n
    half = torch.tensor([[1.0, 1.0], [1.0, 1.0]], dtype=torch.float64) / 2
    P = torch.block_diag(half, torch.eye(2, dtype=torch.float64) - half)  # readouts together, inputs apart
    phi, u, e = begin, -y, torch.zeros(n, dtype=torch.float64)
    for _ in range(2):
        J, r = heads.rows(phi), heads.f(phi) - y
        R = heads.f(phi) - J0 @ (phi - begin)
        e = e - 2 * eta * G0 @ (e + R) - 2 * eta / n * J0 @ (((J - J0) @ P).T @ r)
        u = u - 2 * eta * G0 @ u
        phi = phi - (2 * eta * J[0] * r[0] if draws else 2 * eta / n * J.T @ r)
        if fence is not None:
            phi = torch.maximum(torch.minimum(phi, begin + fence), begin - fence)
    return float((J0 @ (phi - begin) - y - u - e).norm())


def identity_uneven(kept: bool) -> tuple[float, float]:
    """Distance of ê⁽²⁾ by the recursion from J₀(φ⁽²⁾ − φ⁽⁰⁾) − y − u⁽²⁾, for U = 0.3 of both partners (kept), or 0.3 and 0.9."""
    return recursion([1.0, -1.0, 0.3, 0.3 if kept else 0.9]), 1e-12


def identity_equal_readouts(kept: bool) -> tuple[float, float]:
    """The same for readouts ±1 (kept), or both 1."""
    return recursion([1.0, -1.0 if kept else 1.0, 0.3, 0.3]), 1e-12


def identity_fenced(kept: bool) -> tuple[float, float]:
    """The same without a projection (kept), or with every number within 0.1 of its start."""
    return recursion([1.0, -1.0, 0.3, 0.3], fence=None if kept else 0.1), 1e-12


def identity_one_sample(kept: bool) -> tuple[float, float]:
    """The same for the tokens 1 and ½: full gradient (kept), or that of the first."""
    return recursion([1.0, -1.0, 0.3, 0.3], (1.0, 0.5), draws=not kept), 1e-12
