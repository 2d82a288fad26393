"""Lemma 6: how large the model and its targets can be, the paper's envelopes and sharper ones.

``*_paper`` are the paper's; the others are proved in the chapter *Envelopes*.
"""

import math
from collections.abc import Callable, Sequence

import torch
from numpy.polynomial.legendre import leggauss
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime import smoothness
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.linearisation import first_order
from shallowformer.kernel_regime.neighbourhood import radii

#: E|G| of a standard Gaussian number.
MEAN_ABS = math.sqrt(2 / math.pi)


def _three(nu: Sequence[float]) -> tuple[float, float, float]:
    """Three numbers of at least 0: radii, or sup norms of a transport."""
    return radii(nu, 1)


def f_max_paper(B: float, rho: Sequence[float], sigma: Activation = TANH) -> float:
    """The paper's bound on |f| over Ω_ρ: L₁r + σ₀ρ_c with r² = ρ_u² + ρ_w².

    Args:
        B: bound on every ‖U_i‖ over Ω_ρ, at least 0 (the paper's B_{U,m}).
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: ``B`` or a radius below 0.

    Source:
        Arda, Cayci, Eryilmaz 2026, Lemma 6.
    """
    c, u, w = _three(rho)
    return smoothness.L1_paper(B, sigma) * math.hypot(u, w) + sigma.bounds[0] * c


def f_max(R: Tensor, rho: Sequence[float], sigma: Activation = TANH) -> Tensor:
    """σ₀ρ_c + min{σ₀√m, σ₁ · (1/m) Σ_i G₁(R_i)}: a bound on |f| over Ω_ρ around a symmetric initialisation, for all X.

    Args:
        R: the largest ‖U_i‖ of each head in Ω_ρ (``linearisation.longest``), Float[Tensor, "m"].
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        sigma: the activation.

    Returns:
        The bound, a scalar tensor.

    Raises:
        ValueError: an entry or a radius below 0.
    """
    c, u, w = _three(rho)
    steps = sigma.bounds[1] * first_order(R, u, w).mean()
    return sigma.bounds[0] * c + steps.clamp(max=sigma.bounds[0] * len(R) ** 0.5)


def f_max_at_data(
    m: int, n: int, rho: Sequence[float], delta: float, remainder: float = 0.0, sigma: Activation = TANH
) -> float:
    """A bound on |f(X⁽ʲ⁾; φ)| over Ω_ρ at n inputs that were fixed before φ⁽⁰⁾ was drawn; without d.

    σ₀ρ_c + σ₁[max_s{ρ_u s + √(2/π)ρ_w(1 − s²)} + 2ρ_w √(log(n/δ)/m)] + remainder, with probability 1 − δ.

    Args:
        m: number of heads, even.
        n: number of inputs.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        delta: δ, in (0, 1).
        remainder: a bound on |f − f_lin|, at least 0; 0 for the bound on |f_lin|.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: an odd ``m``, ``n`` below 1, a radius or ``remainder`` below 0, ``delta`` outside (0, 1).
    """
    w = _three(rho)[2]
    arguments.even("m", m)
    arguments.count("n", n)
    spread = 2 * w * math.sqrt(math.log(n / arguments.probability("delta", delta)) / m)
    return y_max(rho, sigma) + sigma.bounds[1] * spread + arguments.at_least("remainder", remainder, 0.0)


def y_max_paper(d: int, nu: Sequence[float], sigma: Activation = TANH) -> float:
    """The paper's bound on a target of the class: σ₀ν̄_c + σ₁ν̄_u + σ₁√d ν̄_w.

    Args:
        d: dimension, at least 1.
        nu: sup norms (ν̄_c, ν̄_u, ν̄_w) of the transport, each at least 0.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: ``d`` below 1 or a norm below 0.

    Source:
        Arda, Cayci, Eryilmaz 2026, Lemma 6.
    """
    c, u, w = _three(nu)
    return sigma.bounds[0] * c + sigma.bounds[1] * (u + math.sqrt(arguments.count("d", d)) * w)


def y_max(nu: Sequence[float], sigma: Activation = TANH) -> float:
    """σ₀ν̄_c + σ₁ max_s{ν̄_u s + √(2/π) ν̄_w(1 − s²)}, a bound without d; at most σ₀ν̄_c + σ₁(ν̄_u + √(2/π) ν̄_w).

    Args:
        nu: sup norms (ν̄_c, ν̄_u, ν̄_w) of the transport, each at least 0.
        sigma: the activation.

    Returns:
        The bound, in closed form.

    Raises:
        ValueError: a norm below 0.
    """
    c, u, w = _three(nu)
    return sigma.bounds[0] * c + sigma.bounds[1] * smoothness.G1(MEAN_ABS, u, w)


def y_max_coupled(nu: Sequence[float], sigma: Activation = TANH) -> float:
    """max_s{ν̄_c E|σ(sG)| + E|σ′(sG)| (ν̄_u s + √(2/π) ν̄_w(1 − s²))}, G standard Gaussian: sharper, for bell-shaped |σ′|.

    Args:
        nu: sup norms (ν̄_c, ν̄_u, ν̄_w) of the transport, each at least 0.
        sigma: the activation; |σ′| must be even and must not grow with |z|.

    Returns:
        The bound, to about 1e-9.

    Raises:
        ValueError: a norm below 0, or an activation whose |σ′| is not even and nonincreasing in |z|.
    """
    c, u, w = _three(nu)
    grid = torch.linspace(0, 40, 4001, dtype=torch.float64)
    right, left = sigma.first(grid).abs(), sigma.first(-grid).abs()
    if float((right - left).abs().max()) > 1e-12 or float(right.diff().max()) > 1e-12:
        raise ValueError(f"sigma must have an even |σ′| that does not grow with |z|, got {sigma.name}")

    def value(s: Tensor) -> Tensor:
        size, slope = (gaussian_mean(lambda g, f=f: f(s[:, None] * g).abs()) for f in (sigma, sigma.first))
        return c * size + slope * (u * s + MEAN_ABS * w * (1 - s**2))

    low, high = 0.0, 1.0
    for _ in range(8):
        s = torch.linspace(low, high, 41, dtype=torch.float64)
        best = int(value(s).argmax())
        low, high = float(s[max(best - 1, 0)]), float(s[min(best + 1, 40)])
    return float(value(s).max())


def gaussian_mean(function: Callable[[Tensor], Tensor]) -> Tensor:
    """E function(G) of a standard Gaussian number G, the two halves of the line apart: a kink at 0 does no harm.

    Args:
        function: elementwise along the last dimension, Float64[Tensor, "nodes"] → Float64[Tensor, "... nodes"].

    Returns:
        Float64[Tensor, "..."].
    """
    half, weight = _HALF_LINE
    return ((function(half) + function(-half)) * weight).sum(-1)


def half_line(panels: int = 24, end: float = 12.0) -> tuple[Tensor, Tensor]:
    """Nodes on (0, end), and weights with the Gaussian density: Gauss–Legendre with ten nodes on each panel.

    Args:
        panels: of equal width, at least 1.
        end: where the line is cut, above 0.

    Returns:
        Nodes and weights, Float64[Tensor, "10·panels"] each; the weights add up to ½, less what is cut off.

    Raises:
        ValueError: ``panels`` below 1 or ``end`` not above 0.
    """
    arguments.count("panels", panels)
    arguments.positive("end", end)
    nodes, weights = (torch.tensor(values, dtype=torch.float64) for values in leggauss(10))
    wide = end / panels
    x = (wide * (torch.arange(panels)[:, None] + (nodes + 1) / 2)).flatten()
    return x, (weights * wide / 2).repeat(panels) * torch.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


_HALF_LINE = half_line()


def expected_norm(spectrum: Tensor) -> Tensor:
    """E‖MU‖ for a standard Gaussian U and a symmetric M with the given eigenvalues.

    E√Y = (1/(2√π)) ∫₀^∞ (1 − E e^{−tY}) t^{−3/2} dt with E e^{−t‖MU‖²} = Π_k (1 + 2tλ_k²)^{−1/2}, on a logarithmic scale.

    Args:
        spectrum: the eigenvalues λ_k, not all 0, Float64[Tensor, "... d"].

    Returns:
        Float64[Tensor, "..."], to about 1e-11 of its size; differentiable.

    Raises:
        ValueError: not finite floating-point numbers, or all of them 0.
    """
    arguments.floating("spectrum", spectrum, "... d")
    scale = spectrum.abs().amax(-1, keepdim=True)
    if not float(scale.detach().min()) > 0:
        raise ValueError("spectrum must have an eigenvalue other than 0, got 0 only")
    squares = (spectrum / scale) ** 2
    # t = e^x: the integrand decays like e^{x/2} to the left and like e^{−x/2} to the right.
    x = torch.arange(-58.0, 58.0, 0.125, dtype=spectrum.dtype, device=spectrum.device)
    t = torch.exp(x)
    missing = -torch.expm1(-0.5 * torch.log1p(2 * t * squares[..., None]).sum(-2))
    total = (missing * torch.exp(-x / 2)).sum(-1) * 0.125
    return scale[..., 0] * total / (2 * math.sqrt(math.pi))
