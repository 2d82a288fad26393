"""Theorem E, each time without one hypothesis: pairs of heads that are all alike, on one token x, so that m is a number.

The right side of the second display is made of the closed ``L2_generic`` in the place of L₂^♯, which is at most that.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from shallowformer.activations import SINE, TANH, Activation, stretched
from shallowformer.kernel_regime.bounds import smoothness
from shallowformer.kernel_regime.convergence import cancellation, gradient_norms, no_logs

INPUTS, ONES = (0.0, 1.0, 0.0), (1.0, 1.0, 1.0)
MANY = 10**10
Function = Callable[[float], float]
TANH_AND_SLOPE = math.tanh, lambda z: 1 - math.tanh(z) ** 2


@dataclass(frozen=True)
class Pairs:
    """m/2 equal pairs with readouts ±1 (or both 1), one token x, and a comparator, both of whose moves are in units of 1/√m."""

    U: float
    functions: tuple[Function, Function] = TANH_AND_SLOPE  # σ and σ'
    m: int = MANY
    x: float = 1.0
    second: float = -1.0  # the partner's readout at the start
    far_c: tuple[float, float] = (0.0, 0.0)
    far_U: tuple[float, float] = (0.0, 0.0)
    rho: tuple[float, float, float] | None = None

    def misfits(self, residual: float, eta: float, steps: int) -> list[float]:
        """|e| before each of some steps, from a label that makes the first residual what is given."""
        value, slope = self.functions
        root = math.sqrt(self.m)
        c0 = (1.0, self.second)
        dc, dU, y, found = [0.0, 0.0], [0.0, 0.0], None, []
        for _ in range(steps):
            z = [(self.U + move) * self.x for move in dU]
            f = root / 2 * sum((c + move) * value(at) for c, move, at in zip(c0, dc, z, strict=True))
            y = f - residual if y is None else y
            r = f - y
            there = sum(
                (self.far_c[k] / root - dc[k]) * value(z[k])
                + (c0[k] + dc[k]) * slope(z[k]) * self.x * (self.far_U[k] / root - dU[k])
                for k in (0, 1)
            )
            found.append(abs(r + root / 2 * there))
            for k in (0, 1):
                h, along = value(z[k]), (c0[k] + dc[k]) * slope(z[k]) * self.x
                dc[k] = self._kept(dc[k] - 2 * eta * r * h / root, 0)
                dU[k] = self._kept(dU[k] - 2 * eta * r * along / root, 1)
        return found

    def _kept(self, move: float, block: int) -> float:
        if self.rho is None:
            return move
        limit = self.rho[block] / math.sqrt(self.m)
        return max(-limit, min(limit, move))


def by_width(m: int, rho: tuple, nu: tuple, sigma: Activation = TANH, R: float = 2.0) -> float:
    """t_B/√m, or more: the closed form at heads of length R."""
    return float(no_logs.turn_closed(R, m, rho, nu, sigma))


def by_pairs(m: int, H: float, eta: float, sigma: Activation = TANH, R: float = 2.0) -> float:
    """ε_⋆ for ρ = ν̄ = (1, 1, 1), ε₀ = 0 and V₀ = 3 (at least), whether or not t₁H < (1 − θ)m."""
    L = tuple(float(of(R, sigma)) for of in (smoothness.L1, smoothness.L2_generic, smoothness.L3))
    kappas = (4 * change for change in gradient_norms.change_of_a_head(L[0], L[1], ONES))
    t0 = cancellation.turn_of_a_pair(L, ONES, ONES, 0.0, 0.0) / 2
    t1 = cancellation.turn_of_a_pair(L, ONES, ONES, *kappas) / 2 - t0
    theta = eta * (sigma.bounds[0] ** 2 + (gradient_norms.loudest(1.0, m) * float(L[0])) ** 2)
    way = math.sqrt(H * 3 / (4 * (1 - theta)))
    return (t0 / m + t1 / m * way) / (1 - t1 * H / ((1 - theta) * m))


def kinks(kept: bool) -> tuple[float, float]:
    """Max ε_s in two steps of η = 0.1, and ε₀ + t_B/√m, U = 0, ρ = ν̄ = (0, 1, 0): the first step goes over half a period of σ.

    σ = sin(Ku)/K (kept) or the zigzag of slope ±1, whose σ″ is 0 but at kinks (the bound has σ₂ = 1). The comparator is perfect at first.
    """
    step = 0.2 / math.sqrt(MANY)  # 2η|r|/√m, r = −1
    if kept:
        rate = math.pi / step
        sine = (lambda z: math.sin(rate * z) / rate), (lambda z: math.cos(rate * z))
        found = Pairs(0.0, sine, far_U=(1.0, -1.0), rho=INPUTS).misfits(-1.0, 0.1, 2)
        return max(found), found[0] + by_width(MANY, INPUTS, INPUTS, stretched(SINE, rate), 1.0)
    zigzag = (lambda z: 0.0 if abs(z) > step / 2 else z), (lambda z: -1.0 if abs(z) > step / 2 else 1.0)
    found = Pairs(0.0, zigzag, far_U=(1.0, -1.0), rho=INPUTS).misfits(-1.0, 0.1, 2)
    return max(found), found[0] + by_width(MANY, INPUTS, INPUTS, SINE, 1.0)


def long_token(kept: bool) -> tuple[float, float]:
    """Max ε_s in three steps and ε₀ + t_B/√m, Ux = 0.66, ρ = ν̄ = (0, 1, 0): a token of length 1 (kept) or x = 1000; η = 0.4/x².

    Both partners of the comparator move alike; the first display asks for no pairs.
    """
    x = 1.0 if kept else 1e3
    pairs = Pairs(0.66 / x, x=x, far_U=(1.0, 1.0), rho=INPUTS)
    found = pairs.misfits(-1.0, 0.4 / x**2, 3)
    return max(found), found[0] + by_width(MANY, INPUTS, INPUTS)


def long_query(kept: bool) -> tuple[float, float]:
    """The same for the tokens ±1, U = 1 and ρ = ν̄ = (0, 0, 1), a head of W being tanh tanh(qW), qW = 0.66: a query of length 1 (kept) or 1000."""
    q = 1.0 if kept else 1e3
    inner = lambda z: (1 - math.tanh(math.tanh(z)) ** 2) * (1 - math.tanh(z) ** 2)
    functions = (lambda z: math.tanh(math.tanh(z))), inner
    # W stands where U does, and its ρ where that of U.
    pairs = Pairs(0.66 / q, functions, x=q, far_U=(1.0, 1.0), rho=INPUTS)
    found = pairs.misfits(-1.0, 0.4 / q**2, 3)
    attention = (0.0, 0.0, 1.0)
    return max(found), found[0] + by_width(MANY, attention, attention, R=1.0)


def no_projection(kept: bool) -> tuple[float, float]:
    """Max ε_s in three steps of η = 0.1 of two heads, U = 0.66, and ε₀ + t_B/√m = ε₀ for ρ = ν̄ = (1, 0, 0): projected (kept), or not."""
    far = 0.5 / math.tanh(0.66)  # the readouts' moves that fit the label ½
    pairs = Pairs(0.66, m=2, far_c=(far, far), rho=(1.0, 0.0, 0.0) if kept else None)
    found = pairs.misfits(-0.5, 0.1, 3)
    return max(found), found[0] + by_width(2, (1.0, 0.0, 0.0), (1.0, 0.0, 0.0)) + 1e-12


def _by_pairs(pairs: Pairs, sigma: Activation = TANH) -> tuple[float, float]:
    """Max ε_s in three steps of η = 0.05 from the residual −½, and ε_⋆ for ε₀ = 0."""
    found = pairs.misfits(-0.5, 0.05, 3)
    assert found[0] < 1e-12
    return max(found), by_pairs(pairs.m, 0.15, 0.05, sigma, 1.0)


def _perfect(far_U: tuple[float, float], second: float = -1.0) -> Pairs:
    """U = 0.66, and a comparator with these moves of U whose readouts move so that it fits the label at first."""
    value, slope = (of(0.66) for of in TANH_AND_SLOPE)
    far = (0.5 - slope * (far_U[0] + second * far_U[1]) / 2) / value
    return Pairs(0.66, far_c=(far, far), far_U=far_U, second=second, rho=ONES)


def unpaired_comparator(kept: bool) -> tuple[float, float]:
    """Max ε_s and ε_⋆, m = 10¹⁰: the comparator moves U by ½/√m, for the partner by −½/√m (kept) or by as much."""
    return _by_pairs(_perfect((0.5, -0.5 if kept else 0.5)))


def equal_readouts(kept: bool) -> tuple[float, float]:
    """Max ε_s and ε_⋆, m = 10¹⁰, a paired comparator: partners start with readouts ±1 (kept), or both with 1."""
    return _by_pairs(_perfect((0.5, -0.5), -1.0 if kept else 1.0))


def jumping_curvature(kept: bool) -> tuple[float, float]:
    """Max ε_s and ε_⋆, m = 10¹⁰, U = 0: σ' = ½(1 + |z|) near 0 (σ″ jumps, σ‴ = 0 elsewhere; the bound has σ₁ = σ₂ = σ₃ = 1), or smooth (kept).

    Kept: σ' = ½(1 + Kz²/2) for |z| ≤ 1/K, K = 1000 ≥ σ₃. The comparator moves U by ±1/√m, which fits the label ½.
    """
    K = 1e3
    bent = (lambda z: (z + z * abs(z) / 2) / 2), (lambda z: (1 + abs(z)) / 2)
    smooth = (lambda z: (z + K * z**3 / 6) / 2), (lambda z: (1 + K * z**2 / 2) / 2)
    pairs = Pairs(0.0, smooth if kept else bent, far_U=(1.0, -1.0), rho=ONES)
    return _by_pairs(pairs, stretched(SINE, K**0.5) if kept else SINE)


def far_comparator(kept: bool) -> tuple[float, float]:
    """Root of the mean loss over 10⁸ steps, η = 0.1, and its bound for two heads, U = 1, label tanh²1, ρ = (ρ_c, 0, 0), ν̄ = (1, 0, 0).

    With ρ_c = 1 (kept) f follows 1 − (1 − 2ηM)ˢ; with ρ_c = 0.1 |f| ≤ 0.1 tanh 1. ε is 0, θ = ηM, V₀ = M = tanh²1.
    """
    h, eta, steps = math.tanh(1.0), 0.1, 10**8
    M, factor = h**2, (1 - 2 * eta * h**2) ** 2
    left = math.sqrt(M**2 / (steps * (1 - factor))) if kept else M - 0.1 * h
    return left, math.sqrt(M / (4 * (1 - eta * M) * eta * steps))


def _readouts(theta: float) -> tuple[list[float], float]:
    """Residuals of 1000 steps where only readouts move, two heads, U = 1, ρ_c = 10, label tanh²1; and η = θ/tanh²1."""
    h, f, found = math.tanh(1.0), 0.0, []
    for _ in range(1000):
        found.append(f - h**2)
        f = max(-10 * h, min(10 * h, f - 2 * theta * found[-1]))
    return found, theta / h**2


def long_step(kept: bool) -> tuple[float, float]:
    """Root of the mean loss over 1000 steps and √(V₀/(4|1 − θ|ητ)), only readouts move, ρ_c = 10, label tanh²1: θ = ½ (kept) or 2."""
    theta = 0.5 if kept else 2.0
    found, eta = _readouts(theta)
    return math.sqrt(sum(r**2 for r in found) / 1000), math.sqrt(
        math.tanh(1.0) ** 2 / (4 * abs(1 - theta) * eta * 1000)
    )


def long_way(kept: bool) -> tuple[float, float]:
    """Γ and √(ητV₀/(4|1 − θ|)) of the same runs, ε = 0."""
    theta = 0.5 if kept else 2.0
    found, eta = _readouts(theta)
    return eta * sum(abs(r) for r in found), math.sqrt(
        eta * 1000 * math.tanh(1.0) ** 2 / (4 * abs(1 - theta))
    )


def too_long(kept: bool) -> tuple[float, float]:
    """ε₀ = 0 ≤ max ε_s, and ε_⋆, for H = 1 and η = 0.01, tanh: m = 10⁶ (kept), or m = 2, where t₁H > (1 − θ)m and ε_⋆ is negative."""
    return 0.0, by_pairs(10**6 if kept else 2, 1.0, 0.01, R=1.0)
