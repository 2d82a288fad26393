"""How far the direction of the structure-aware algorithm is from the gradient of its limit, at every point of a ball: computed from the data.

Symbols as in ``tilted``. ‖B̃‖₂ = b, so |q_i| ≤ b|g_i|. This bounds e_i and H_i (``softmax``), and so the direction's bias δ (``bias``).
"""

import functools
import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.one_layer.tilted import Whitened


def tail(x: Float[Tensor, "*s"], k: int) -> Float[Tensor, "*s"]:
    """Σ_{j ≥ k} x^j/j! for x ≥ 0, without cancellation."""
    term = x**k / math.factorial(k)
    total = torch.zeros_like(x)
    for j in range(k + 1, k + 60):
        total = total + term
        term = term * x / j
    # From there on the terms fall at least like a geometric series, if x is not above half of j.
    return torch.where(x <= (k + 59) / 2, total + 2 * term, torch.inf)


class Softmax(NamedTuple):
    """Bounds of e_i and H_i = C_i − I over all ‖B̃‖₂ ≤ b, for the data at hand."""

    e: float  # (mean |e_i|²)^½
    along: float  # ‖mean e_i g_iᵀ‖_F
    h_g: float  # (mean ‖H_i‖²|g_i|²)^½
    h_e: float  # (mean ‖H_i‖²|e_i|²)^½
    h_omega: float  # (mean ‖H_i‖²|ω_i|²)^½


def softmax(data: Whitened, b: float) -> Softmax:
    """See the module: Taylor's series of ∇D − qD and ∇²D − (I + qqᵀ)D at 0, over D."""
    g, mu = data.g, float(data.mu.norm())
    d = g.shape[1]
    off = excess(g, ORDERS[d])
    top = len(off) - 1
    length = g.norm(dim=1)
    rho = b * length
    x = rho[:, None] * length  # at least |q_i · g_j|
    mean = lambda weight, k: (tail(x, k) * weight).mean(1)
    term = lambda k, order: off[k] * rho**order / math.factorial(order)
    below = torch.exp(-rho * mu)  # D ≥ e^{q·μ}
    # |1/D − 1| is at most D − 1 or 1/D − 1, and D is a Gaussian's e^{|q|²/2} but for E_k.
    above = torch.expm1(rho.square() / 2) + series(term, range(1, top + 1), 0) + mean(1.0, top + 1)
    above = torch.maximum(above, 1 / below - 1)
    first = term(3, 2)
    # Orders 0 to K − 1 without that one; then all beyond.
    rest = series(term, (k for k in range(1, top + 1) if k != 3), 1) + rho * series(
        term, range(1, top - 1), 0
    )
    rest = rest + mean(length, top) + rho * mean(1.0, top - 1)
    e = (first + rest) / below
    apart = rest / below + first * above
    along = off[3] * float(moment(g, 3).norm()) * b**2 / 2 + rms(apart)
    second = series(term, range(3, top + 1), 2) + series(term, range(1, top - 1), 0)
    second = second + rho.square() * series(term, range(1, top - 3), 0)
    second = second + mean(length.square(), top - 1) + mean(1.0, top - 1) + rho.square() * mean(1.0, top - 3)
    h = second / below + 2 * rho * e + e.square()
    return Softmax(rms(e), min(along, rms(e)), rms(h * length), rms(h * e), rms(h * data.omega.norm(dim=1)))


def series(
    term: Callable[[int, int], Float[Tensor, " n"]], ks: Iterable[int], less: int
) -> Float[Tensor, " n"]:
    """Sum of the terms E_k(q^{k−less})/(k − less)!."""
    return sum(term(k, k - less) for k in ks)


#: Up to which order moments are compared with a Gaussian's, by the dimension: d^{⌈k/2⌉} stays at most about 256.
ORDERS = {1: 12, 2: 12, 3: 10, 4: 8, 5: 6, 6: 6}


def moment(g: Float[Tensor, "n d"], k: int) -> Float[Tensor, "a b"]:
    """The mean g^{⊗k} as a matrix, ⌊k/2⌋ indices against the others."""
    powers = [torch.ones(len(g), 1, dtype=g.dtype)]
    for _ in range(k - k // 2):
        powers.append((powers[-1][:, :, None] * g[:, None, :]).flatten(1))
    return powers[k // 2].T @ powers[k - k // 2] / len(g)


def excess(g: Float[Tensor, "n d"], top: int) -> list[float]:
    """Bounds of |E_k(v, u, …, u)|, E_k the moments of order k less those of N(0, I), over unit vectors; E_0 = E_2 = 0."""
    d = g.shape[1]
    sizes = [0.0, float(g.mean(0).norm()), 0.0]
    for k in range(3, top + 1):
        sizes.append(float(torch.linalg.matrix_norm(moment(g, k) - gaussian(d, k), 2)))
    return sizes


@functools.cache
def gaussian(d: int, k: int) -> Float[Tensor, "a b"]:
    """The moments of N(0, I), as ``moment`` has them: products over coordinates of (c − 1)!!, c how often a coordinate occurs."""
    index = torch.cartesian_prod(*[torch.arange(d)] * k).view(-1, k)
    counts = torch.stack([(index == j).sum(1) for j in range(d)], 1)
    double = torch.tensor(
        [0.0 if c % 2 else math.prod(range(1, c, 2)) for c in range(k + 1)], dtype=torch.float64
    )
    return double[counts].prod(1).view(d ** (k // 2), -1)


def rms(values: Float[Tensor, " n"]) -> float:
    """The root of the mean square."""
    return float(values.square().mean().sqrt())


class Reach(NamedTuple):
    """Bounds of a point."""

    U: float  # ‖U‖₂
    V: float  # ‖V‖₂
    F: float  # ‖F‖_F


def bias(reach: Reach, omega: float, b: float, off: Softmax) -> tuple[float, float]:
    """δ ≥ ‖g − ∇f‖ and a ≥ (mean |Ãe_i|²)^½ at every such point, with c = ‖V‖/b and ω the norm of n^{−½}(ω_i).

    By pa-proposition-d-decomposition, whose terms with Σ̂ − I and mean ω_i g_iᵀ vanish,
    g_U − ∇_U f = c mean[(Fg_i + Ãe_i − ω_i)e_iᵀ + Ãe_i q_iᵀ] and g_V − ∇_V f = mean g_i[Ãe_i + H_i-part]ᵀÃ/c; a mean g_i v_iᵀ
    is at most (mean |v_i|²)^½, as the n^{−½}g_i are orthonormal, and q_i = Vᵀg_i/c.
    """
    U, V, F = reach
    c = V / b
    of_U = c * ((F + U * V) * off.along + c * U * off.e**2 + omega * off.e)
    of_V = c * U * U * off.along + U * (F * off.h_g + c * U * off.h_e + off.h_omega)
    return math.hypot(of_U, of_V), c * U * off.e
