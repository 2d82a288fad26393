"""Theorem 1, its display (38), its informal version, and Proposition 1, each without one hypothesis.

δ = δ' = 0.05. A bound that may fail with probability 0.1 is refuted where the loss exceeds it with more probability than that.
Where ρ_u = ρ_w = 0 only readouts move, and runs can be followed for any number of heads and steps.
"""

import math

import numpy as np
from scipy.stats import norm

from companion.theory.kernel_regime.hypotheses_theorems import one_token
from shallowformer.activations import SINE, TANH, Activation, stretched
from shallowformer.kernel_regime.bounds import approximation, envelopes, linearisation
from shallowformer.kernel_regime.convergence import change_of_features, gradient_norms, theorem_1
from shallowformer.kernel_regime.neighbourhood import norm_event

DELTA = 0.05
READOUTS, INPUTS, ATTENTION, ALL = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 1.0)
MANY, LONG = 10**10, 10**14  # heads and steps, so that little is left of the bound


def constants(m, rho, nu, n=1, sigma: Activation = TANH, d: int = 1) -> theorem_1.Constants:
    """The constants of Theorem 1, in one dimension unless said otherwise; ν̄ may exceed ρ."""
    B = norm_event.B_U(m, d, DELTA, rho[1])
    lin = linearisation.B_lin_paper(B, rho, m, sigma)
    return theorem_1.Constants(
        envelopes.f_max_paper(B, rho, sigma), envelopes.y_max_paper(d, nu, sigma),
        gradient_norms.A_paper(B, rho[0], m, sigma), approximation.appendix(nu, n, m, DELTA, sigma),
        lin, change_of_features.B_cof_paper(B, rho, nu, m, sigma), lin, sum(norm**2 for norm in nu),
    )  # fmt: skip


def outside_the_ball(kept: bool) -> tuple[float, float]:
    """Mean loss of one step, y² for a token of length 1 (kept) or 10⁴, and the bound; σ(u) = 10⁴ tanh(u/10⁴), v = (0, 1, 0)."""
    scale, length = 1e4, 1.0 if kept else 1e4
    y = length * one_token.expected(lambda u: one_token.sech2(length * u / scale))
    bound = constants(2, INPUTS, INPUTS, sigma=stretched(TANH, 1 / scale)).best(1 / scale, 1)
    return y**2, bound


def other_labels(kept: bool) -> tuple[float, float]:
    """Mean loss of a run of two heads with U = 1 whose label is E|tanh G|, of the class (kept), or 1000; the bound knows the class only."""
    y = one_token.expected(lambda u: abs(math.tanh(u))) if kept else 1e3
    return one_token.mean_loss(y, 1.0, 0.1, 100, ALL), constants(2, ALL, ALL).best(0.1, 100)


def near_fence(kept: bool) -> tuple[float, float]:
    """Mean loss for the label E tanh(G)², ν̄ = (1, 0, 0), and the bound, for ρ = ν̄ (kept) or a tenth, where |f| ≤ 0.1 on Ω_ρ."""
    rho = READOUTS if kept else (0.1, 0.0, 0.0)
    y = one_token.expected(lambda u: math.tanh(u) ** 2)
    left = one_token.readouts_alone(1e-5, LONG) if kept else (y - 0.1) ** 2
    return left, constants(MANY, rho, READOUTS).best(1e-5, LONG)


def no_projection(kept: bool) -> tuple[float, float]:
    """Mean loss of five steps of size 1000 for the label E|tanh G|, projected on Ω_ρ (kept) or not, and the bound.

    Without: the smallest at any |U| ≤ 1, probability 0.68. After one step |U| is above 200, both heads are ±1, and r becomes (1 − 2η)r.
    """
    y = one_token.expected(lambda u: abs(math.tanh(u)))
    losses = [one_token.mean_loss(y, u, 1e3, 5, ALL if kept else None) for u in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    return (max if kept else min)(losses), constants(2, ALL, ALL).best(1e3, 5)


def no_twins(kept: bool) -> tuple[float, float]:
    """Loss of every point of Ω_ρ for the label 0 (ν̄ = 0, ρ = (0.01, 0, 0)) and the bound, for twins (kept) or two independent heads.

    Twins start with f = 0 and stay. Without them |f| ≥ 0.1 at the start with probability 0.86, and f moves by at most 0.01.
    """
    first = 0.0 if kept else 0.1
    fence = (0.01, 0.0, 0.0)
    return max(first - 0.01, 0.0) ** 2, constants(2, fence, (0.0, 0.0, 0.0)).best(1e-3, 10**6)


def kinks(kept: bool) -> tuple[float, float]:
    """The least loss of any network, and the bound, for σ the zigzag of slope ±1 and height 1/K; the largest for sin(Ku)/K (kept); K = 10⁶.

    ρ = ν̄ = (0, 1, 0), v = (0, σ'(U), 0): the label is E σ'², 1 for the zigzag and ½ for the sine; all |f| ≤ √m/K = 0.1. The zigzag's σ″
    is 0 but at kinks; the bound has σ₂ = 1.
    """
    rate = 1e6
    y, largest = (0.5 if kept else 1.0), MANY**0.5 / rate
    sigma = stretched(SINE, rate) if kept else SINE
    return (y + largest if kept else y - largest) ** 2, constants(MANY, INPUTS, INPUTS, sigma=sigma).best(
        1e-6, LONG
    )


def not_normal(kept: bool) -> tuple[float, float]:
    """Mean loss for the label E tanh(G)², ρ = ν̄ = (1, 0, 0), and the bound, for U standard normal (kept), or 0 in all heads: f stays 0."""
    y = one_token.expected(lambda u: math.tanh(u) ** 2)
    left = one_token.readouts_alone(1e-5, LONG) if kept else y**2
    return left, constants(MANY, READOUTS, READOUTS).best(1e-5, LONG)


def copies(kept: bool) -> tuple[float, float]:
    """The same for independent pairs (kept), or 10¹⁰ copies of one head and its partner, where |f| ≤ |tanh U| on Ω_ρ.

    |U| ≤ 0.2 has the probability 0.158, and there |f| is at most tanh 0.2.
    """
    y = one_token.expected(lambda u: math.tanh(u) ** 2)
    left = one_token.readouts_alone(1e-5, LONG) if kept else (y - math.tanh(0.2)) ** 2
    return left, constants(MANY, READOUTS, READOUTS).best(1e-5, LONG)


def _attended() -> float:
    """Mean loss for the tokens ±1, q = 1, v_w = ½ sgn U, where only W moves, each within 1/√m, on the tangent, for as many heads as there are.

    In the time t = ηs each δW = δ/√m follows δ' = −2rφ, |δ| ≤ 1, with φ = ∂h/∂W; there are 10¹² heads, so means over them are expectations.
    """
    g = norm.ppf((np.arange(200) + 0.5) / 200)
    U, s = g[:, None], np.tanh(g)
    features = (1 - np.tanh(U * s) ** 2) * (1 - s**2) * U
    y, step, delta, total = float(np.abs(features).mean()) / 2, 0.1, np.zeros_like(features), 0.0
    for _ in range(1000):
        r = float((features * delta).mean()) - y
        total += step * r**2
        delta = np.clip(delta - 2 * step * r * features, -1, 1)
    return total / (1e-7 * LONG) + r**2


def long_query(kept: bool) -> tuple[float, float]:
    """Mean loss and the bound, tokens ±1, ρ = ν̄ = (0, 0, 1), v_w = ½ sgn U, m = 10¹², η = 10⁻⁷: a query of length 1 (kept) or 10³⁰.

    The long one saturates all heads but with probability below 10⁻¹⁰: unless |W| < 10⁻²⁴ the gradient is 0 in all digits, and f stays 0.
    With s = tanh(qW) the label is ½E ∫ sech²(Us)|U| ds over |s| ≤ 1 and the density of W at 0, which is E tanh|U|/√(2π).
    """
    y = one_token.expected(lambda u: math.tanh(abs(u))) / math.sqrt(2 * math.pi)
    return (_attended() if kept else y**2), constants(10**12, ATTENTION, ATTENTION).best(1e-7, LONG)


def seen_inputs(kept: bool) -> tuple[float, float]:
    """Mean loss for one input that is made for other heads (kept), or for those that were drawn, and the bound; m = 10¹⁰, d = 10⁴, ρ = ν̄ = (1, 0, 0).

    Its tokens are 10¹⁶ copies of e, and one for each pair i: W_i q without its part along U_i, divided by its length r_i. A head that
    they were made for gives its own token the logit r_i, and no other one more than 11: all r_i ≥ √(d − 2) − 10 but with probability
    10⁻¹¹, and all other logits ≤ 11 but with 10⁻⁸. So it hardly sees anything but a token at a right angle to U_i: |h_i| ≤ |U_i| 2s with s
    below 10⁻¹⁷, and |U_i| ≤ 200. Fresh heads see e: the others' share is at most 5·10⁹e²/10¹⁶ on average (E e^{⟨X_t − e, Wq⟩} ≤ e²),
    and the label of v_c = tanh⟨U, e⟩ is E tanh² up to 2√d times that.
    """
    pairs, many, d, eta = MANY / 2, 1e16, 10**4, 1e-9
    away = 2 * math.sqrt(d) * pairs * math.exp(2) / many
    y = one_token.expected(lambda u: math.tanh(u) ** 2) - away
    share = (many + pairs) * math.exp(11 - (math.sqrt(d - 2) - 10))
    left = (one_token.readouts_alone(eta, LONG) ** 0.5 + 2 * away) ** 2 if kept else (y - 400 * share) ** 2
    return left, constants(MANY, READOUTS, READOUTS, d=d).best(eta, LONG)


def only_readouts_move(kept: bool) -> tuple[float, float]:
    """L̄ at τ = 10¹⁶ over its order, and a hundred times that quotient at τ = 1, for ρ_θ = 1 (kept) or 0; ν̄ = 0, two heads."""
    c = constants(2, (1.0, 1.0 if kept else 0.0, 0.0), (0.0, 0.0, 0.0))
    return _quotient(c, 10**16), 100 * _quotient(c, 1)


def _quotient(c: theorem_1.Constants, steps: int) -> float:
    """L̄ over L₁⁴/√τ + L₁(B_app + B_lin), in one dimension with two heads and η = 1/√τ."""
    L1 = math.hypot(1, norm_event.B_U(2, 1, DELTA, 0.0))
    return c.best(steps**-0.5, steps) / (L1**4 / steps**0.5 + L1 * (c.app + c.lin))


def flat_activation(kept: bool) -> tuple[float, float]:
    """L̄ at τ = 1 and a thousand times its order, for tanh (kept) or σ ≡ 1, where L₁ = 0, F = ρ_c and A_m = 1; ρ = (1, 1, 0), ν̄ = 0."""
    if not kept:
        F, A, L1 = 1.0, 1.0, 0.0
        return (F * A) ** 2, 1e3 * L1**4
    return _quotient(constants(2, (1.0, 1.0, 0.0), (0.0, 0.0, 0.0)), 1), 1e3


def _grows(radius: float, slope: float) -> tuple[float, float]:
    """Twice F at d = 8, and F at d = 8192, for ρ = ν̄ = (1, ρ_θ, 0), 256 heads, σ₀ = 1 and σ₁ = slope."""
    rho = (1.0, radius, 0.0)
    B = lambda d: norm_event.B_U(256, d, DELTA, radius)
    of_inputs = lambda d: envelopes.f_max_paper(B(d), rho) + envelopes.y_max_paper(d, rho) - 2
    return 2 * (2 + slope * of_inputs(8)), 2 + slope * of_inputs(8192)


def only_readouts_in_F(kept: bool) -> tuple[float, float]:
    """Twice F at d = 8, and F at d = 8192 (a quotient that is not bounded grows): ρ = ν̄ = (1, ρ_θ, 0) with ρ_θ = 1 (kept) or 0, 256 heads."""
    return _grows(1.0 if kept else 0.0, 1.0)


def flat_in_F(kept: bool) -> tuple[float, float]:
    """The same for ρ_θ = 1 and σ₁ = 1 (kept) or 0."""
    return _grows(1.0, 1.0 if kept else 0.0)


def _two_tokens(kept: bool, stays: float) -> tuple[float, float]:
    """Expected mean loss on the tokens 0 and 1 with the labels 0 and E tanh², and the bound; only readouts move.

    Fresh fair samples multiply f(1) − y by 1 − 2ηM with probability ½ (kept). Without: a share of the first loss stays for ever.
    """
    M, eta = one_token.expected(lambda u: math.tanh(u) ** 2), 1e-5
    left = one_token.geometric(M**2 / 2, (1 + (1 - 2 * eta * M) ** 2) / 2, LONG) if kept else stays * M**2 / 2
    return left, constants(MANY, READOUTS, READOUTS, n=2).best(eta, LONG)


def repeated_sample(kept: bool) -> tuple[float, float]:
    """Expected mean loss on the tokens 0 and 1, labels 0 and E tanh², and the bound: fresh samples (kept), or the first draw for ever.

    With probability ½ that is the token 0, whose head is 0 and whose label is fitted: nothing moves.
    """
    return _two_tokens(kept, 0.5)


def not_uniform(kept: bool) -> tuple[float, float]:
    """The same for fresh samples (kept), or the token 0 for ever."""
    return _two_tokens(kept, 1.0)
