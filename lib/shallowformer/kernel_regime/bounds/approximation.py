"""How well m heads approximate: the paper's two versions of Lemma 5, the sharper one, and three that do not know n.

All of them bound f_lin(X; φ̃) − f̃(X; v) at the transported point of a symmetric initialisation of m heads, for a mapping with
sup norms ν̄ and data X⁽¹⁾, …, X⁽ⁿ⁾, both fixed before the initialisation is drawn; each but ``main_text`` holds with probability
1 − δ. ``everywhere`` holds for all inputs at once, also for those chosen after a look at the heads.
"""

import math

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.formulas import Number, log

#: Upper end of a certificate for s_⋆ (see ``dominated.certificate``); its value is 1.268355 to six digits.
S_STAR = 1.268380

Norms = tuple[float, float, float]


def amplitude(
    nu: Norms, sigma: Activation = TANH, w_factor: float = 1.0, slope: float | None = None
) -> float:
    """σ₀ν̄_c + σ₁ν̄_u + w_factor · slope · ν̄_w, the size of a head's contribution; S for the defaults.

    Args:
        nu: sup norms ν̄ = (ν̄_c, ν̄_u, ν̄_w), each finite and at least 0.
        w_factor: what multiplies the attention term.
        slope: σ₁ if not given.
    """
    c, u, w = arguments.triple("nu", nu)
    slope = sigma.bounds[1] if slope is None else slope
    return sigma.bounds[0] * c + sigma.bounds[1] * u + w_factor * slope * w


def _union(n: int, m: int, delta: float) -> float:
    """√(2 log(2n/δ)/m)."""
    arguments.count("n", n)
    arguments.even("m", m)
    return (2 * log(2 * n / arguments.probability("delta", delta)) / m) ** 0.5


def main_text(nu: Norms, n: int, m: int, delta: float, sigma: Activation = TANH) -> float:
    """B_app as printed in the main text, with σ₂ν̄_w. This is false in general: see the chapter.

    Returns: 2 (σ₀ν̄_c + σ₁ν̄_u + σ₂ν̄_w) √(2 log(2n/δ)/m). Source: Arda, Cayci, Eryilmaz 2026, Lemma 5 in section 5.4.
    """
    return 2 * amplitude(nu, sigma, slope=sigma.bounds[2]) * _union(n, m, delta)


def appendix(nu: Norms, n: int, m: int, delta: float, sigma: Activation = TANH) -> float:
    """B_app as in the appendix, with σ₁ν̄_w: true, and implied by ``sharp``. Returns: 2 (σ₀ν̄_c + σ₁ν̄_u + σ₁ν̄_w) √(2 log(2n/δ)/m).

    Source: Arda, Cayci, Eryilmaz 2026, Lemma 5 in appendix A.6.
    """
    return 2 * amplitude(nu, sigma) * _union(n, m, delta)


def sharp(nu: Norms, n: int, m: int, delta: float, sigma: Activation = TANH) -> float:
    """The sharper Lemma 5 of the book: √2 in place of 2, and s_⋆ in front of the attention term.

    Returns: √2 (σ₀ν̄_c + σ₁ν̄_u + s_⋆σ₁ν̄_w) √(2 log(2n/δ)/m), with ``S_STAR`` for s_⋆.
    """
    return math.sqrt(2) * amplitude(nu, sigma, S_STAR) * _union(n, m, delta)


def rms_second_moment(nu: Norms, m: int, delta: float, sigma: Activation = TANH) -> float:
    """Root mean square over any set of inputs, by Markov's inequality: no n. Returns: S √(2/(mδ))."""
    arguments.even("m", m)
    return amplitude(nu, sigma) * math.sqrt(2 / (m * arguments.probability("delta", delta)))


def rms_bernstein(nu: Norms, m: int, delta: float, sigma: Activation = TANH) -> float:
    """Root mean square over any set of inputs, by an exponential inequality in Hilbert space: no n.

    Returns: 2S √(L/m) + 3S L/m with L = log(2/δ).
    """
    arguments.even("m", m)
    level = log(2 / arguments.probability("delta", delta)) / m
    return amplitude(nu, sigma) * (2 * level**0.5 + 3 * level)


def slope_in_inputs(r: Number, w: Number, nu: Norms, sigma: Activation = TANH) -> Number:
    """How fast a head's contribution g(X) can change with the tokens: a Lipschitz constant for max_t ‖X_t − X′_t‖.

    For a query that is fixed or the last token. Returns: (1 + 2w) [σ₁ν̄_c r + (σ₁ + σ₂r) ν̄_u + σ₂ν̄_w r²] + (5 + 6w) σ₁ν̄_w r.

    Args:
        r: ‖U‖ of the head, at least 0.
        w: largest singular value of W, at least 0.
    """
    v_c, v_u, v_w = arguments.triple("nu", nu)
    _, s1, s2, _ = sigma.bounds
    at_tokens = s1 * v_c * r + (s1 + s2 * r) * v_u + s2 * v_w * r**2
    return (1 + 2 * w) * at_tokens + (5 + 6 * w) * s1 * v_w * r


def everywhere(nu: Norms, d: int, T: int, m: int, delta: float, sigma: Activation = TANH) -> float:
    """Largest error over all inputs of T tokens at once: no n.

    For a query that is fixed or the last token.

    Returns: √2 (σ₀ν̄_c + σ₁ν̄_u + s_⋆σ₁ν̄_w) √(2 [dT log(1 + 2m/δ) + log(4/δ)]/m) + 3Λ/m, Λ = slope_in_inputs(√d, 2√d).
    """
    arguments.count("d", d)
    arguments.count("T", T)
    arguments.even("m", m)
    arguments.probability("delta", delta)
    entropy = d * T * math.log(1 + 2 * m / delta) + math.log(4 / delta)
    slope = slope_in_inputs(math.sqrt(d), 2 * math.sqrt(d), nu, sigma)
    return math.sqrt(2) * amplitude(nu, sigma, S_STAR) * math.sqrt(2 * entropy / m) + 3 * slope / m
