"""Theorems B, C and D, each without one hypothesis.

A bound that holds with probability 1 − p is refuted where it fails with more probability. One token x in one dimension makes a head σ(Ux).
"""

import math
from collections.abc import Callable

import numpy as np
import torch
from scipy.special import lambertw
from scipy.stats import chi2, norm

from companion.theory.kernel_regime.hypotheses_theorems.one_token import expected
from shallowformer.activations import SINE, TANH, Activation, stretched
from shallowformer.kernel_regime.bounds import approximation, smoothness
from shallowformer.kernel_regime.convergence import cancellation, gradient_norms, no_logs

DELTA = 0.05
INPUTS = (0.0, 1.0, 0.0)


def seen_inputs(kept: bool) -> tuple[float, float]:
    """‖e(φ⁽⁰⁾)‖ for one token, v = (1, 0, 0), y = f̃ = 0, ρ = 0, and the bound; 64 heads, d = 4096.

    The token is the first unit vector (kept), or ΣU_i over its length, for which ⟨U_i, X⟩ is about √(d/32) = 11 for every head. Five
    draws of the heads: the largest (kept) or the smallest.
    """
    found = []
    for seed in range(5):
        U = torch.randn(32, 4096, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        along = U[:, 0] if kept else U @ U.sum(0) / U.sum(0).norm()
        found.append(float(torch.tanh(along).mean().abs()))
    return (max if kept else min)(found), approximation.rms_bernstein((1.0, 0.0, 0.0), 64, DELTA)


def seen_mapping(kept: bool) -> tuple[float, float]:
    """‖e(φ⁽⁰⁾)‖ for the token 1, y = f̃, ρ = 0, and the bound; 1000 heads, a draw of U; v_c = 1 where tanh U > 0 and −1 elsewhere.

    The mapping is that everywhere (kept), or at the drawn U only and 0 elsewhere, where f̃ = 0.
    """
    U = torch.randn(500, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    label = expected(lambda u: abs(math.tanh(u))) if kept else 0.0
    return abs(float(torch.tanh(U).abs().mean()) - label), approximation.rms_bernstein(
        (1.0, 0.0, 0.0), 1000, DELTA
    )


def no_twins(kept: bool) -> tuple[float, float]:
    """‖e(φ⁽⁰⁾)‖ for the token 1, v = 0, y = 0, ρ = 0, and the bound, two heads: twins (kept), or two independent ones.

    Then |f⁽⁰⁾| ≥ 0.1 with probability 0.86.
    """
    return (0.0 if kept else 0.1), approximation.rms_bernstein((0.0, 0.0, 0.0), 2, DELTA)


def copies_read(kept: bool) -> tuple[float, float]:
    """‖e(φ⁽⁰⁾)‖ for the token 1, v_c = sgn U, y = f̃, ρ = 0, and the bound; 1000 heads, 500 independent pairs (kept), or copies of one.

    With copies e = |tanh U| − E|tanh|. |U| ≤ 0.2 has the probability 0.158.
    """
    apart = expected(lambda u: abs(math.tanh(u))) - math.tanh(0.2)
    return (seen_mapping(True)[0] if kept else apart), approximation.rms_bernstein(
        (1.0, 0.0, 0.0), 1000, DELTA
    )


def far_reading(kept: bool) -> tuple[float, float]:
    """‖e(φ⁽⁰⁾)‖ at |U| ≤ 10 and the bound, two heads, v_u = sgn U, f̃ = 0, σ = sin(10⁻⁶z)·10⁶, ρ = 0: a token of length 1 (kept) or 100."""
    size = 1.0 if kept else 100.0
    sigma = stretched(SINE, 1e-6)
    return size * math.cos(0.0 if kept else 1e-6 * size * 10), approximation.rms_bernstein(
        INPUTS, 2, DELTA, sigma
    )


def kinks(kept: bool) -> tuple[float, float]:
    """‖e(φ)‖ and the bound for m = 10⁶, ρ = (0, 0.01, 0), ν̄ = (0, 1, 0), v = (0, σ'(U), 0), all U moved by half a period of σ.

    σ is sin(Ku)/K (kept) or the zigzag of slope ±1 and height 1/K, K = 10⁶, whose σ″ is 0 but at kinks (the bound has σ₂ = 1). The
    tangent says −E σ'² at φ̃ where the label is E σ'² (½ for the sine).
    """
    m, rate, rho = 10**6, 1e6, (0.0, 0.01, 0.0)
    sigma = stretched(SINE, rate) if kept else SINE
    turn = float(no_logs.turn_closed(2.0, m, rho, INPUTS, sigma))
    return (1.0 if kept else 2.0), approximation.rms_bernstein(INPUTS, m, DELTA, sigma) + turn


def long_token(kept: bool) -> tuple[float, float]:
    """‖∇f(φ⁽⁰⁾)‖² and its bound for σ(u) = sin(100u)/100, two heads, x = 1, ρ = 0: its largest value (kept) at a token of length 1.

    At one of length 10 it is 100 cos²(1000U), at least 50 with probability ½ over U, where the bound may fail with ½e⁻¹ = 0.18.
    """
    sigma = stretched(SINE, 100.0)
    return (1.0 + 1e-4 if kept else 50.0), gradient_norms.gradient_no_log(2, 1, (0.0, 0.0, 0.0), 1.0, sigma)


def wide_start(kept: bool) -> tuple[float, float]:
    """The same for tanh and an input made for the heads, at W = 1 and U = s/2, where s is the standard deviation of U, 1 (kept) or 100.

    Tokens −1 and t with t·eᵗ = e⁻¹ and the query 1 have the mean 0 and M = t: h = 0 and ∂h/∂W = tU. For smaller |W| another t is larger;
    |W| ≤ 1 and |U| ≥ s/2 has the probability 0.42.
    """
    t = float(lambertw(math.exp(-1)).real)
    U = (1.0 if kept else 100.0) / 2
    return (t * U) ** 2, gradient_norms.gradient_no_log(2, 1, (0.0, 0.0, 0.0), 1.0)


#: Standard normal numbers that are equally likely, and all pairs of these.
NORMAL = torch.from_numpy(norm.ppf((np.arange(400) + 0.5) / 400))
PAIRS_OF_NORMAL = torch.cartesian_prod(NORMAL, NORMAL)


def _steep(deviation: float = 1.0, token: float = 1.0, sigma: Activation = TANH) -> float:
    """What Q exceeds with probability e⁻³ for two heads on the tokens ±x, query 1, in one dimension, where U has this deviation.

    With W = g, s = tanh(xg) and z = xsU: Q = σ(z)² + σ'(z)²(x²s² + x⁴(1 − s²)²U²).
    """
    g, U = PAIRS_OF_NORMAL[:, 0], deviation * PAIRS_OF_NORMAL[:, 1]
    s = torch.tanh(token * g)
    features = (token * s) ** 2 + (token**2 * (1 - s**2) * U) ** 2
    z = token * s * U
    return float((sigma(z) ** 2 + sigma.first(z) ** 2 * features).quantile(1 - math.exp(-3)))


def camps_along_the_head(kept: bool) -> tuple[float, float]:
    """What Q exceeds with probability e⁻³, two tanh heads, and the bound for x = 3: the tokens ±e₁ and a fixed query (kept), or made for U.

    Those made for it are ±U/‖U‖, in 100 dimensions, with a query of length 1 at a right angle to WᵀU: Q = ‖MU‖² = ‖U‖².
    """
    return (_steep() if kept else float(chi2.ppf(1 - math.exp(-3), 100))), gradient_norms.gradient_at_start(
        2, 3.0
    )


def long_start(kept: bool) -> tuple[float, float]:
    """The same for one fixed token of length 1 (kept) or 5: Q = tanh²(xU) + x²(1 − tanh²(xU))² is largest for small |U|."""
    x = 1.0 if kept else 5.0
    h = math.tanh(x * float(norm.ppf((1 + math.exp(-3)) / 2)))
    return h**2 + x**2 * (1 - h**2) ** 2, gradient_norms.gradient_at_start(2, 3.0)


def wide_heads(kept: bool) -> tuple[float, float]:
    """The same for the tokens ±1, σ(u) = 10 sin(u/10) and U of deviation 1 (kept) or 100; the bound is that of the first part."""
    sigma = stretched(SINE, 0.1)
    return _steep(1.0 if kept else 100.0, sigma=sigma), gradient_norms.gradient_at_start(2, 3.0, sigma)


def _mean_square(q: float) -> float:
    """E Q for tanh heads on the tokens ±1 with a query of length q: W = g, s = tanh(qg), Q = tanh²(sU) + sech⁴(sU)(s² + q²(1 − s²)²U²)."""
    W, U = np.linspace(-9, 9, 3601), np.linspace(-9, 9, 361)[:, None]
    s = np.tanh(q * W)
    value = np.tanh(s * U)
    Q = value**2 + (1 - value**2) ** 2 * (s**2 + q**2 * (1 - s**2) ** 2 * U**2)
    return float((Q * norm.pdf(W) * norm.pdf(U)).sum() * (W[1] - W[0]) * (U[1, 0] - U[0, 0]))


def long_query(kept: bool) -> tuple[float, float]:
    """E Q for tokens ±1 and the bound of the second part for m = 10⁶, x = 3: a query of length 1 (kept) or 10.

    For so many heads Q is its expectation up to 0.3 with probability 0.99.
    """
    return _mean_square(1.0 if kept else 10.0), gradient_norms.gradient_at_start(10**6, 3.0)


def copies(kept: bool) -> tuple[float, float]:
    """Q for tokens ±1, q = 1 and the bound of the second part for m = 10⁶, x = 3: E Q of independent heads (kept), or what copies of one exceed.

    The latter with probability e⁻³; what they exceed with more is more than the bound, too.
    """
    return (_mean_square(1.0) if kept else _steep()), gradient_norms.gradient_at_start(10**6, 3.0)


def other_activation(kept: bool) -> tuple[float, float]:
    """E Q for one token of length 1 and the bound of the second part for m = 10⁶, x = 3: σ = tanh (kept) or z/(1 + z⁸)^{1/8}, σ₀ = σ₁ = 1.

    For so many heads Q is its expectation up to 0.003 with probability 0.99.
    """
    smooth_clip = lambda z: (z / (1 + z**8) ** 0.125, (1 + z**8) ** -1.125)
    tanh = lambda z: (math.tanh(z), 1 - math.tanh(z) ** 2)
    features = tanh if kept else smooth_clip
    return expected(lambda z: sum(value**2 for value in features(z))), gradient_norms.gradient_at_start(
        10**6, 3.0
    )


def steps_of_a_staircase(kept: bool) -> tuple[float, float]:
    """Root of the mean squared gradient on Ω_ρ and √Q + C/√m, one token 1, m = 10⁶, ρ = (0, 1, 0); the readouts' part, below 10⁻⁵, left out.

    σ' is 0, 1, 0, −1 in turn, on intervals of length 10⁻³ = 1/√m (σ″ = 0 but at kinks; C has σ₂ = 1): Q = ½, and every head can move to
    where |σ'| = 1; or σ' = cos Ku with K = π√m (kept), where Q = ½ too, and C has σ₂ = K.
    """
    m = 10**6
    sigma = stretched(SINE, math.pi * m**0.5) if kept else SINE
    of_theta, _ = gradient_norms.change_of_a_head(1.0, smoothness.L2_generic(1.0, sigma), INPUTS)
    C = math.hypot(of_theta, 1.0)
    return 1.0, math.sqrt(1 / 2) + C / math.sqrt(m)


def _gap(
    sigma: Callable[[float], float], U: float, x: float, slope: float, m: int, same_sign: bool = False
) -> float:
    """|f − f_lin| where every pair has moved oppositely by 1/√m in U, for one token x; ``slope`` is that of σ at Ux."""
    step = x / math.sqrt(m)
    sign = 1 if same_sign else -1
    pair = (
        sigma(U * x + step)
        + sign * sigma(U * x - step)
        - (1 + sign) * sigma(U * x)
        - (1 - sign) * slope * step
    )
    return abs(math.sqrt(m) / 2 * pair)


def _gap_bound(R: float, m: int, sigma: Activation = TANH) -> float:
    """The second part of Theorem D for ρ = (0, 1, 0) and κ = κ' = 0."""
    L = tuple(float(of(R, sigma)) for of in (smoothness.L1, smoothness.L2_generic, smoothness.L3))
    return float(cancellation.gap_of_a_pair(L, INPUTS, 0.0, 0.0)) / (2 * m)


def jumping_curvature(kept: bool) -> tuple[float, float]:
    """|f − f_lin| and its bound, m = 10⁸, all U = 0, ρ = (0, 1, 0), pairs moved oppositely: σ″ is min(1, max(−1, Kz)) near 0 (kept) or sign z.

    For sign z σ = z|z|/2 and σ‴ is 0 but at 0 (the bound has σ₁ = σ₂ = σ₃ = 1); K = σ₃ = 1000.
    """
    m, K = 10**8, 1e3
    value = (lambda z: K * z**3 / 6) if kept else (lambda z: z * abs(z) / 2)  # for |z| ≤ 1/√m < 1/K
    return _gap(value, 0.0, 1.0, 0.0, m), _gap_bound(1e-4, m, stretched(SINE, K**0.5) if kept else SINE)


def long_token_of_pairs(kept: bool) -> tuple[float, float]:
    """|f − f_lin| and its bound for tanh, m = 10⁸, all U = 0, pairs moved oppositely by 1/√m in U: a token of length 1 (kept) or 100."""
    return _gap(math.tanh, 0.0, 1.0 if kept else 100.0, 1.0, 10**8), _gap_bound(1e-4, 10**8)


def long_query_of_pairs(kept: bool) -> tuple[float, float]:
    """|f − f_lin| and its bound for ρ = (0, 0, 1), m = 10⁸, U = 1, W = 0, tokens ±1, pairs moved oppositely in W: a query of length 1 (kept) or 100.

    A head is tanh tanh(qW), and only r² = ρ_u² + ρ_w² enters the bound.
    """
    twice = lambda z: math.tanh(math.tanh(z))
    return _gap(twice, 0.0, 1.0 if kept else 100.0, 1.0, 10**8), _gap_bound(1.0, 10**8)


def equal_readouts(kept: bool) -> tuple[float, float]:
    """|f − f_lin| and its bound for tanh, m = 10⁴, all U = 0.66, pairs moved oppositely: partners start at ±1 (kept) or both at 1."""
    U = 0.66
    return _gap(math.tanh, U, 1.0, 1 - math.tanh(U) ** 2, 10**4, same_sign=not kept), _gap_bound(
        U + 0.01, 10**4
    )


def unpaired_comparator(kept: bool) -> tuple[float, float]:
    """The turn and its bound for tanh, m = 10⁴, all U = 0.66, pairs moved by ±1/√m; the comparator's by ±1/√m (kept), or both by 1/√m."""
    m, U = 10**4, 0.66
    step, total = 1 / math.sqrt(m), 0.0
    slope = lambda z: 1 - math.tanh(z) ** 2
    for sign in (1, -1):
        here, far = sign * step, (sign if kept else 1) * step
        total += sign * (math.tanh(U + here) - math.tanh(U) + slope(U + here) * (far - here) - slope(U) * far)
    R = U + step
    L = tuple(float(of(R)) for of in (smoothness.L1, smoothness.L2_generic, smoothness.L3))
    return abs(math.sqrt(m) / 2 * total), float(cancellation.turn_of_a_pair(L, INPUTS, INPUTS, 0.0, 0.0)) / (
        2 * m
    )
