"""The comparison system: how fast everything can move per unit of x = Σ μ‖E‖_F, given how far it has moved.

Budgets bound how far a quantity has moved by the place x, slopes how fast they grow. All slopes grow with the budgets and fall with the area.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from shallowformer.residual.random_start.start import Start


class Budgets(NamedTuple):
    """Bounds on what has happened by the place x; a NamedTuple of their slopes has the same form."""

    A: float = 0.0  # ‖A − A⁽⁰⁾‖_F
    U: float = 0.0  # ‖W_U − W_U⁽⁰⁾‖_F
    Z: float = 0.0  # ‖Z − Z⁽⁰⁾‖_F
    T: float = 0.0  # ‖(W_V, W_Q, W_K) − start‖_F
    one: float = 0.0  # ‖W_1 − W_1⁽⁰⁾‖_F
    leak: float = 0.0  # ∫ω, what the other five blocks can have added to the error
    f: float = 0.0  # ∫ of the part of the deviation from the linear run that comes with slopes of its own
    path_A: float = 0.0  # bounds Σ b_A μ‖∇_{W_2}‖_F once divided by σ̲_Aσ̲_U
    path_U: float = 0.0  # the same with b_U
    A_U: float = 0.0  # ∫ b_A b_U
    turn: float = 0.0  # ∫ bound on ‖W_2‖ · slope of W_U
    A_turn: float = 0.0  # the same times b_A


@dataclass(frozen=True)
class Slopes:
    """What holds at one place."""

    grows: Budgets  # slope of every budget; ω is that of ``leak``, the bound on ‖H‖ that of ``U``
    alpha: float  # the guaranteed rate, σ̲_A²σ̲_U² − ω
    r: float  # bounds ‖W_2W_U‖
    n_B: float  # bounds ‖B‖_F/‖E‖_F
    j: float  # bounds ‖∂Z/∂(W_V, W_Q, W_K)‖
    path: float  # bounds Σ μ‖∇_{W_2}‖_F, so how far W_2 has moved
    rho: float  # bounds ‖R − R_lin‖_F; infinite where the linear run is not followed


def jacobian_drift(s: Start, T: float) -> float:
    """δ_J(T): how far ∂Z/∂(W_V, W_Q, W_K) can be from its start once these three have moved by T in all."""
    of_V = of_pairs = 0.0
    for size, values, pair, logit in zip(s.centred, s.values, s.pairs, s.logits, strict=True):
        turned = (logit + pair * T) * T / 2  # bounds ‖ΔS_p‖_F
        moved = values + size * T
        of_V += (size * turned) ** 2
        of_pairs += (moved * pair * T / 2 + (3 * turned * moved + size * T / 2) * logit) ** 2
    return math.sqrt(of_V + of_pairs)


def slopes(s: Start, b: Budgets, x: float, area: float) -> Slopes | None:
    """The slopes, where budgets and the place x = Σ μ‖E‖_F are upper bounds; None where a least singular value may be 0.

    Args:
        area: ∫α up to an earlier place, a lower bound.
    """
    sigma_A, sigma_U = s.sigma_A - b.A, s.sigma_U - b.U
    if sigma_A <= 0 or sigma_U <= 0:
        return None
    a, u, w, z = s.a + b.A, s.u + b.U, s.w + b.one, s.z + b.Z
    both = sigma_A * sigma_U
    e = max(0.0, s.e - area)
    j = s.j + jacobian_drift(s, b.T)
    path = min((s.e + b.leak) / both, a * u * x)
    in_rows = max(0.0, s.q * s.sigma_A - area) + s.q_2 * s.sigma_A + s.g_f * (s.z * b.U + b.Z * u)
    # With W_2 = 0 at the start its rows are all that descent has put there.
    r = u * (s.w_2 + path) if s.w_2 else min(math.hypot(in_rows, u * b.A * path) / sigma_A, u * path)
    n_B = s.g_f * u + w * r
    through, of_F, rho = w, (s.y + e) / sigma_U, math.inf
    path_A, path_U = min(b.path_A / both, b.A * path), min(b.path_U / both, b.U * path)
    if s.linear is not None:
        known = s.linear
        varies = b.f + u * path_A + b.A_turn
        others = u * path_A / sigma_A + 2 * u * (path_U / sigma_U + b.A_U) + b.turn
        rho = varies / s.sigma_A + others
        r = min(r, known.r + rho)
        masks = known.beta * (known.m_4 * b.Z + known.w_max * (s.z_row + b.Z) * b.one)
        through = min(w, known.nu + masks + b.one)
        n_B = min(s.g_f * u + through * r, known.n_B + s.g_f * b.U + known.nu * rho + r * (masks + b.one))
        of_F = min(of_F, (1 + b.U / sigma_U) * (known.h + (2 * varies + s.a * others) / s.sigma_U))
    off = s.h + s.g_f * b.Z + b.A * s.w_2 + a * path / sigma_U * b.U
    h = math.hypot(of_F, off)
    c_Z, c_1 = j * j * n_B, z * r
    c_A = through * c_Z + z * c_1
    omega = n_B * c_Z + c_1 * c_1 + h * h
    grows = Budgets(
        A=c_A,
        U=h,
        Z=c_Z,
        T=j * n_B,
        one=c_1,
        leak=omega,
        f=c_A * r + s.g_f * (c_Z * u + z * h),
        path_A=e * c_A + b.A * omega,
        path_U=e * h + b.U * omega,
        A_U=b.A * b.U,
        turn=(s.w_2 + path) * h,
        A_turn=b.A * (s.w_2 + path) * h,
    )
    return Slopes(grows, both * both - omega, r, n_B, j, path, rho)
