"""The certificate in closed form, and how the width that it asks for depends on everything else."""

import math
from typing import NamedTuple

from shallowformer import arguments
from shallowformer.contracts import Count, contract
from shallowformer.residual.random_start.slopes import jacobian_drift
from shallowformer.residual.random_start.start import Start

#: The rate of the closed form over σ_A²σ_U².
RATE = 81 / 512


class Conditions(NamedTuple):
    """Left side over right side of the six conditions; the theorem holds if none exceeds 1."""

    A: float  # the hidden layer moves by at most σ_A/4
    U: float  # W_U by σ_U/4
    Z: float  # attention's output by ‖Z‖/4
    one: float  # W_1 by ‖W_1‖/4
    T: float  # attention's derivative by ‖∂Z/∂(W_V, W_Q, W_K)‖
    omega: float  # the other five blocks take away at most half of the rate


def conditions(s: Start) -> Conditions:
    """The closed form at a start."""
    both = s.sigma_A * s.sigma_U
    X = 6.75 * s.e / both**2
    r = 4.6 * s.u * s.e / both
    n = 1.25 * (s.g_f * s.u + s.w * r)
    z = 1.25 * s.z
    h = math.hypot(4 / 3 * (s.y + s.e) / s.sigma_U, s.g_f * z + 1.53 * s.a / s.sigma_A * s.e / s.sigma_U)
    c_Z = 4 * s.j**2 * n
    return Conditions(
        A=X * (1.25 * s.w * c_Z + z * z * r) / (s.sigma_A / 4),
        U=X * h / (s.sigma_U / 4),
        Z=X * c_Z / (s.z / 4),
        one=X * z * r / (s.w / 4),
        T=jacobian_drift(s, 2 * s.j * n * X) / s.j,
        omega=(c_Z * n + (z * r) ** 2 + h * h) / (RATE * both**2),
    )


@contract
def failure(n: Count, d_1: float, lam: float, beta_1: float, size: float) -> float:
    """Bound on the probability that σ_A² < d_1 λ/4: n exp(−d_1 λ²/(79 β_1⁴‖Z‖_F⁴)); all numbers above 0.

    Args:
        lam: λ, the least eigenvalue of E φ(Zw)φ(Zw)ᵀ.
        beta_1: standard deviation of W_1's entries.
        size: ‖Z‖_F.
    """
    for name, value in (("d_1", d_1), ("lam", lam), ("beta_1", beta_1), ("size", size)):
        arguments.positive(name, float(value))
    return n * math.exp(-d_1 * lam**2 / (79 * (beta_1 * size) ** 4))
