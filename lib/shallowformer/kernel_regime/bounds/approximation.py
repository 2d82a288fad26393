"""How well m heads approximate: the paper's two versions of Lemma 5, the sharper one, and two that do not know n.

All of them bound f_lin(X; φ̃) − f̃(X; v) at the transported point of a symmetric initialisation of m heads, for a mapping with sup norms
ν̄ = (ν̄_c, ν̄_u, ν̄_w) and n inputs, both fixed before the initialisation is drawn; each but ``main_text`` holds with probability 1 − δ.
``everywhere`` holds for all inputs at once, also for those chosen after a look at the heads.
"""

import math

from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, Even, Level, Triple, contract
from shallowformer.formulas import Number, log

#: Upper end of a certificate for s_⋆ (see ``dominated.certificate``); its value is 1.268355 to six digits.
S_STAR = 1.268380


@contract
def amplitude(
    nu: Triple, sigma: Activation = TANH, w_factor: float = 1.0, slope: float | None = None
) -> float:
    """σ₀ν̄_c + σ₁ν̄_u + w_factor · slope · ν̄_w, the size of a head's contribution; S for the defaults, where the slope is σ₁."""
    c, u, w = nu
    slope = sigma.bounds[1] if slope is None else slope
    return sigma.bounds[0] * c + sigma.bounds[1] * u + w_factor * slope * w


@contract
def _union(n: Count, m: Even, delta: Level) -> float:
    """√(2 log(2n/δ)/m)."""
    return (2 * log(2 * n / delta) / m) ** 0.5


@contract
def main_text(nu: Triple, n: Count, m: Even, delta: Level, sigma: Activation = TANH) -> float:
    """2 (σ₀ν̄_c + σ₁ν̄_u + σ₂ν̄_w) √(2 log(2n/δ)/m): B_app as printed in section 5.4. False in general: see the chapter."""
    return 2 * amplitude(nu, sigma, slope=sigma.bounds[2]) * _union(n, m, delta)


@contract
def appendix(nu: Triple, n: Count, m: Even, delta: Level, sigma: Activation = TANH) -> float:
    """2 (σ₀ν̄_c + σ₁ν̄_u + σ₁ν̄_w) √(2 log(2n/δ)/m): B_app as in appendix A.6. True, and implied by ``sharp``."""
    return 2 * amplitude(nu, sigma) * _union(n, m, delta)


@contract
def sharp(nu: Triple, n: Count, m: Even, delta: Level, sigma: Activation = TANH) -> float:
    """√2 (σ₀ν̄_c + σ₁ν̄_u + s_⋆σ₁ν̄_w) √(2 log(2n/δ)/m), with ``S_STAR`` for s_⋆: ``kr-lemma-5-sharp``, the sharper Lemma 5 of the book."""
    return math.sqrt(2) * amplitude(nu, sigma, S_STAR) * _union(n, m, delta)


@contract
def rms_bernstein(nu: Triple, m: Even, delta: Level, sigma: Activation = TANH) -> float:
    """2S √(L/m) + 3S L/m with L = log(2/δ): root mean square over any set of inputs, by an exponential inequality in Hilbert space; no n."""
    level = log(2 / delta) / m
    return amplitude(nu, sigma) * (2 * level**0.5 + 3 * level)


@contract
def slope_in_inputs(r: Number, w: Number, nu: Triple, sigma: Activation = TANH) -> Number:
    """(1 + 2w) [σ₁ν̄_c r + (σ₁ + σ₂r) ν̄_u + σ₂ν̄_w r²] + (5 + 6w) σ₁ν̄_w r: how fast a head's contribution can change with the tokens.

    A Lipschitz constant of g(X) for max_t ‖X_t − X′_t‖, if r = ‖U‖, w = ‖W‖ and the query is fixed or the last token.
    """
    v_c, v_u, v_w = nu
    _, s1, s2, _ = sigma.bounds
    at_tokens = s1 * v_c * r + (s1 + s2 * r) * v_u + s2 * v_w * r**2
    return (1 + 2 * w) * at_tokens + (5 + 6 * w) * s1 * v_w * r


@contract
def everywhere(nu: Triple, d: Count, T: Count, m: Even, delta: Level, sigma: Activation = TANH) -> float:
    """√2 (σ₀ν̄_c + σ₁ν̄_u + s_⋆σ₁ν̄_w) √(2 [dT log(1 + 2m/δ) + log(4/δ)]/m) + 3Λ/m, Λ = slope_in_inputs(√d, 2√d).

    The largest error over all inputs of T tokens at once: no n. For a query that is fixed or the last token.
    """
    entropy = d * T * math.log(1 + 2 * m / delta) + math.log(4 / delta)
    slope = slope_in_inputs(math.sqrt(d), 2 * math.sqrt(d), nu, sigma)
    return math.sqrt(2) * amplitude(nu, sigma, S_STAR) * math.sqrt(2 * entropy / m) + 3 * slope / m
