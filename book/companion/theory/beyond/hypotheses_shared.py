"""Theorems G and H of the shared layer, each without one hypothesis: one token on a line, two units over two heads, unless said."""

import math
from collections.abc import Callable

import torch
from torch import Generator, Tensor

from companion.theory.beyond import shared_band, shared_layer, shared_start
from companion.theory.beyond.architecture import Blocks

SMALL = 1e-3
#: Where |tanh″| is largest.
BENT = math.atanh(3**-0.5)


def _error(
    units: tuple[float, float],
    c: tuple[float, float] = (1.0, -1.0),
    gamma: float = 0.0,
    u: float = SMALL,
    token: float = 1.0,
    sigma: Callable[[float], float] = math.tanh,
    slope: Callable[[float], float] = lambda z: 1 - math.tanh(z) ** 2,
) -> float:
    """|f − f_lin| where unit k moves from z_k by u·token/√2, which is a move of its row by u/√2, and both readouts move by γ/√2.

    With one token x on a line a = (x, x), z_k = ⟨V_k, a⟩/√2, and rows V_k = z_k(1, 1)/(√2 x) move along (1, 1)/√2.
    """
    root = math.sqrt(2)
    move, step = u * token / root, gamma / root
    return (
        abs(
            sum(
                (c_k + step) * sigma(z + move) - c_k * sigma(z) - step * sigma(z) - c_k * slope(z) * move
                for z, c_k in zip(units, c, strict=True)
            )
        )
        / root
    )


def _bound(units: tuple[float, float], rho: tuple[float, float, float], token: float = 1.0) -> float:
    """Theorem G's, for rows V_k = z_k(1, 1)/(√2 x), of which ‖V‖ = √(z₁² + z₂²)/x."""
    return shared_layer.bound(math.hypot(*units) / token, 2, 2, rho).total


def loud_readouts(kept: bool) -> tuple[float, float]:
    """Theorem G where both units sit at the bend, z = ±s, and move alike by ρ_u/√2: readouts ±1 (kept) or ±3; ρ_c = ρ_w = 0."""
    size = 1.0 if kept else 3.0
    units = (BENT, -BENT)
    return _error(units, (size, -size)), _bound(units, (0.0, SMALL, 0.0))


def long_token(kept: bool) -> tuple[float, float]:
    """Theorem G where readouts and rows move, ρ_c = 1, ρ_u = 10⁻³, ρ_w = 0 and V = 0: one token of length 1 (kept) or 2."""
    token = 1.0 if kept else 2.0
    return _error((0.0, 0.0), gamma=1.0, token=token), _bound((0.0, 0.0), (1.0, SMALL, 0.0), token)


def outside(kept: bool) -> tuple[float, float]:
    """Theorem G as before, for rows that move by ρ_u/√2 (kept) or by twice as much: outside Ω_ρ in that only."""
    move = SMALL if kept else 2 * SMALL
    return _error((0.0, 0.0), gamma=1.0, u=move), _bound((0.0, 0.0), (1.0, SMALL, 0.0))


def kinked(kept: bool) -> tuple[float, float]:
    """Theorem G for tanh (kept) or max(z, 0), whose slope is at most 1 and never bends where it has one: z₁ = −ρ_u/10 passes 0.

    V is not 0, ρ_c = ρ_w = 0. Unit 2 is at −1 and stays on one side.
    """
    units, rho = (-SMALL / 10, -1.0), (0.0, SMALL, 0.0)
    if kept:
        return _error(units), _bound(units, rho)
    return _error(units, sigma=lambda z: max(z, 0.0), slope=lambda z: float(z > 0)), _bound(units, rho)


def equal_entries(kept: bool, p: int = 8, m: int = 8, d: int = 2, draws: int = 200) -> tuple[float, float]:
    """How often N/√m is above Theorem G's last line, and δ = 0.1: V = (A B; B A) Gaussian (kept), or with all entries one Gaussian number.

    The entries of the other are standard Gaussian, too, and it has the mirror; they are not independent.
    """
    source = Generator().manual_seed(0)
    limit = math.sqrt(p / m) + math.sqrt(d) + 2 * math.sqrt(math.log(2 / 0.1) / m)
    if kept:
        starts = [shared_layer.start(p, m, d, source)["V"] for _ in range(draws)]
        norms = torch.stack([shared_layer.spectral(V) for V in starts])
    else:
        norms = torch.randn(draws, generator=source, dtype=torch.float64).abs() * math.sqrt(p * m * d)
    return float((norms / math.sqrt(m) > limit).double().mean()), 0.1


def _start(c: tuple[float, float], rows: tuple[float, float]) -> Blocks:
    """Two units over two heads on a line: V_k = rows_k (1, 1), W = 0."""
    F64 = torch.float64
    V = torch.tensor(rows, dtype=F64)[:, None, None].expand(2, 2, 1).clone()
    return {"c": torch.tensor(c, dtype=F64), "V": V, "W": torch.zeros(2, 1, 1, dtype=F64)}


def _run(
    phi: Blocks,
    eta: float,
    y: float = 0.5,
    tokens: tuple[float, ...] = (1.0,),
    steps: int = 1,
    fence: float = math.inf,
    seen: int | None = None,
    sigma: Callable[[Tensor], Tensor] = torch.tanh,
) -> tuple[float, float]:
    """‖r − u‖_n after the steps, and E of Theorem H (2), on samples of one token each, all with the label y; η is within 1/λ_max.

    Heads stand still on one token. Readouts are held within ``fence`` of their start; descent sees the first ``seen`` samples.
    """
    X = torch.tensor(tokens, dtype=torch.float64)
    known = shared_start.at_the_start(X[:, None, None], torch.full_like(X, y), phi, eta, max(steps, 1))
    E = shared_band.band(known, eta, 2).E
    # z_k = x (V_{k1} + V_{k2})/√2
    output = lambda c, V: sigma(X[:, None] * V.sum(1) / math.sqrt(2)) @ c / math.sqrt(2)
    begin, c, V = phi["c"], phi["c"], phi["V"][..., 0]
    slope = torch.func.grad(lambda c, V: (output(c, V) - y)[:seen].square().mean(), (0, 1))
    for _ in range(steps):
        of_c, of_V = slope(c, V)
        c, V = begin + (c - eta * of_c - begin).clamp(-fence, fence), V - eta * of_V
    off = output(c, V) - y - known.run.u[steps]
    return float(off.square().mean().sqrt()), float(E[steps])


def _mirrored() -> Blocks:
    return _start((1.0, -1.0), (0.3, 0.3))


def uneven(kept: bool) -> tuple[float, float]:
    """Theorem H (2) at s = 0, |r − u| = |f(φ⁽⁰⁾)| and E₀ = 0: both rows 0.3 (kept), or 0.3 and 0.1."""
    return _run(_start((1.0, -1.0), (0.3, 0.3 if kept else 0.1)), 0.1, steps=0)


def equal_readouts(kept: bool) -> tuple[float, float]:
    """The same for readouts ±1 (kept), or 1 and 1, where the rows are equal."""
    return _run(_start((1.0, -1.0 if kept else 1.0), (0.3, 0.3)), 0.1, steps=0)


def long_data(kept: bool) -> tuple[float, float]:
    """Theorem H (2) after a step with η = 10⁻³, y = 5: a token of length 1 (kept) or 10, and rows 0.03."""
    return _run(_start((1.0, -1.0), (0.03, 0.03)), 1e-3, 5.0, (1.0 if kept else 10.0,))


def stopped(kept: bool) -> tuple[float, float]:
    """Theorem H (2) after a step with η = 0.1: free (kept), or readouts are held within 10⁻³ of their start."""
    return _run(_mirrored(), 0.1, fence=math.inf if kept else 1e-3)


def one_sample(kept: bool) -> tuple[float, float]:
    """Theorem H (2) after a step with η = 0.1 on two samples, tokens 1 and ½, labels 0.5: on both (kept), or on the first."""
    return _run(_mirrored(), 0.1, tokens=(1.0, 0.5), seen=None if kept else 1)


def other_activation(kept: bool) -> tuple[float, float]:
    """Theorem H (2) after a step with η = 0.1 for tanh (kept), or tanh with 10⁴(z − z₀)³ added above z₀, where the units start.

    Both have the same value and slope there, so the linear run is one and the same; the other is twice differentiable, too.
    """
    above = lambda z: (z - math.sqrt(2) * 0.3).clamp(min=0) ** 3
    return _run(_mirrored(), 0.1, sigma=torch.tanh if kept else lambda z: torch.tanh(z) + 1e4 * above(z))
