"""What the hypotheses of Facts 1 to 4, Definition 1 and Remarks 1 and 2 are for: instances without one of them, and with it.

Each function gives the two sides of the conclusion "left ≤ right"; all hypotheses but the named one hold at both instances.
"""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Real

from companion.theory.kernel_regime.hypotheses.on_a_line import TANH, tail
from shallowformer.kernel_regime.neighbourhood import norm_event
from shallowformer.probability import gaussian_norms

Sides = tuple[Real, Real]
HALVES = (Fraction(1, 2), Fraction(1, 2))


def _reaction(alpha: Sequence[Real]) -> Real:
    """‖diag α − ααᵀ‖_{∞→1}, over all sign vectors."""
    best = 0
    for signs in itertools.product((-1, 1), repeat=len(alpha)):
        along = sum(p * u for p, u in zip(alpha, signs, strict=True))
        best = max(best, sum(abs(p * (u - along)) for p, u in zip(alpha, signs, strict=True)))
    return best


def _mean(alpha: Sequence[Real], tokens: Sequence[Sequence[Real]]) -> list[Real]:
    return [sum(p * x for p, x in zip(alpha, row, strict=True)) for row in zip(*tokens, strict=True)]


def _square(x: Sequence[Real]) -> Real:
    return sum(entry**2 for entry in x)


def _trace(alpha: Sequence[Real], tokens: Sequence[Sequence[Real]]) -> Real:
    """The trace Σ α_t ‖X_t‖² − ‖a‖²."""
    return sum(p * _square(x) for p, x in zip(alpha, tokens, strict=True)) - _square(_mean(alpha, tokens))


def weights_of_any_sum(kept: bool) -> Sides:
    """‖J‖_{∞→1} ≤ 2 (Fact 1) for the weights ½, ½ (kept), or 2, 2: exponentials that are not divided by their sum."""
    return _reaction(HALVES if kept else (2, 2)), 2


def weights_of_any_sign(kept: bool) -> Sides:
    """‖J‖_{∞→1} ≤ 2 (Fact 1) for weights that sum to 1: ⅔, ⅓ (kept), or 2, −1."""
    return _reaction((Fraction(2, 3), Fraction(1, 3)) if kept else (2, -1)), 2


def half_mass_with_any_sign(kept: bool) -> Sides:
    """‖J‖_{∞→1} ≤ 1 (Half-mass lemma) for the same weights."""
    return weights_of_any_sign(kept)[0], 1


def half_mass_with_any_sum(kept: bool) -> Sides:
    """‖J‖_{∞→1} ≤ 1 (Half-mass lemma) for the weights ½, ½ (kept), or 2, 2."""
    return weights_of_any_sum(kept)[0], 1


def half_mass_of_one_token(kept: bool) -> Sides:
    """Some z reaches 1 (Half-mass lemma): the distance of the largest norm from 1, for T = 2 (kept) or T = 1, where α = 1 whatever z is."""
    return 1 - _reaction(HALVES if kept else (1,)), 0


def mean_of_long_tokens(kept: bool) -> Sides:
    """‖a‖² ≤ 1 (Fact 2) for one token of length 1 (kept) or 2."""
    return _square(_mean((1,), [(1 if kept else 2,)])), 1


def mean_with_weights_of_any_sum(kept: bool) -> Sides:
    """‖a‖² ≤ 1 (Fact 2) for two tokens e and the weights ½, ½ (kept) or 1, 1."""
    return _square(_mean(HALVES if kept else (1, 1), [(1,), (1,)])), 1


def mean_with_weights_of_any_sign(kept: bool) -> Sides:
    """‖a‖² ≤ 1 (Fact 2) for tokens e, −e and weights that sum to 1: ⅔, ⅓ (kept) or 2, −1."""
    return _square(_mean((Fraction(2, 3), Fraction(1, 3)) if kept else (2, -1), [(1,), (-1,)])), 1


def equality_in_a_saturated_head(kept: bool) -> Sides:
    """All tokens are equal if ‖a‖ = 1 (Fact 2): how far apart tokens 1, 0 are if |a| = 1; weights ½, ½ (kept), or 1, 0 (an infinite logit)."""
    a = _mean(HALVES if kept else (1, 0), [(1,), (0,)])[0]
    return (1 if a == 1 else 0), 0


def equality_in_the_maximum_norm(kept: bool) -> Sides:
    """The same for the Euclidean unit ball (kept; tokens (⅗, ±⅘)) and for that of the maximum norm (tokens (1, ±1))."""
    x, y = (Fraction(3, 5), Fraction(4, 5)) if kept else (1, 1)
    a = _mean(HALVES, [(x, y), (x, -y)])
    long = _square(a) == 1 if kept else max(map(abs, a)) == 1
    return (2 * y if long else 0), 0


def spread_of_long_tokens(kept: bool) -> Sides:
    """The trace of M ≤ 1 (Fact 3) for tokens ±1 (kept) or ±2 of equal weight."""
    size = 1 if kept else 2
    return _trace(HALVES, [(size,), (-size,)]), 1


def spread_in_the_maximum_norm(kept: bool) -> Sides:
    """The trace of M ≤ 1 (Fact 3) for tokens ±(⅗, ⅘) in the Euclidean ball (kept), or ±(1, 1) in that of the maximum norm."""
    x, y = (Fraction(3, 5), Fraction(4, 5)) if kept else (1, 1)
    return _trace(HALVES, [(x, y), (-x, -y)]), 1


def spread_with_weights_of_any_sign(kept: bool) -> Sides:
    """−M ≤ 0 (Fact 3: M is positive semidefinite) on a line, tokens 0 and 1, weights ⅔, ⅓ (kept) or 2, −1."""
    return -_trace((Fraction(2, 3), Fraction(1, 3)) if kept else (2, -1), [(0,), (1,)]), 0


def spread_with_weights_of_any_sum(kept: bool) -> Sides:
    """Σ α_t X_t² − a² = Σ α_t (X_t − a)² (Fact 3), the difference: tokens 1 and 0, weights ½, ½ (kept) or 1, 1."""
    alpha = HALVES if kept else (1, 1)
    a = alpha[0]
    return abs(_trace(alpha, [(1,), (0,)]) - (alpha[0] * (1 - a) ** 2 + alpha[1] * a**2)), 0


def mean_norm_off_centre(kept: bool) -> Sides:
    """E‖G‖ ≤ √d (Fact 4), d = 1: a Gaussian number of variance 1 and mean 0 (kept) or 2."""
    mu = 0 if kept else 2
    return math.sqrt(2 / math.pi) * math.exp(-(mu**2) / 2) + mu * math.erf(mu / math.sqrt(2)), 1


def _away(scale: float, t: float) -> float:
    """P(|‖G‖ − E‖G‖| ≥ t) where ‖G‖ = scale·|g|, t ≥ E‖G‖."""
    return tail(t / scale + math.sqrt(2 / math.pi))


def tail_of_a_larger_variance(kept: bool) -> Sides:
    """P(|‖G‖ − E‖G‖| ≥ 4) ≤ 2e^{−8} (Fact 4), d = 1: standard deviation 1 (kept) or 2."""
    return _away(1 if kept else 2, 4), 2 * math.exp(-8)


def tail_of_dependent_coordinates(kept: bool) -> Sides:
    """The same at t = 6 for two uncorrelated standard Gaussian numbers: independent (kept), or g and εg with a fair sign ε, of norm √2·|g|."""
    if kept:
        mean = gaussian_norms.mean_norm(2)
        return gaussian_norms.tail(mean + 6, 2), 2 * math.exp(-18)
    return _away(math.sqrt(2), 6), 2 * math.exp(-18)


def tail_of_another_law(kept: bool) -> Sides:
    """The same at t = 24/5 for a number of mean 0 and variance 1: Gaussian (kept), or ±5 with probability 1/50 each and else 0."""
    t = Fraction(24, 5)
    return (_away(1, float(t)) if kept else Fraction(1, 25)), 2 * math.exp(-(t**2) / 2)


def event_of_longer_vectors(kept: bool) -> Sides:
    """P(max ‖U_i‖ above the radius) ≤ δ′ = 0.05 (Definition 1), m = 2, d = 1: U of standard deviation 1 (kept) or 2."""
    return tail(norm_event.paper_radius(2, 1, 0.05) / (1 if kept else 2)), 0.05


def keys_of_a_smaller_dimension(kept: bool) -> Sides:
    """|det W| ≤ 0 for every W = βW_KᵀW_Q with key dimension 1 in ℝ²: W = e₁e₁ᵀ (kept), or the identity, of rank 2 (Remark 1, converse)."""
    (a, b), (c, d) = ((1, 0), (0, 0)) if kept else ((1, 0), (0, 1))
    return abs(a * d - b * c), 0


def logits_scaled_to_nothing(kept: bool) -> Sides:
    """|W − βW_K W_Q| ≤ 0 for some W_K, W_Q (Remark 1, converse) at W = 1, d = k = 1: β = ½ (kept) or 0."""
    beta = Fraction(1, 2) if kept else 0
    W_K, W_Q = (1 / beta if beta else 1), 1
    return abs(1 - beta * W_K * W_Q), 0


def _moment(k: int, beta: Real, values: Sequence[int], tied: bool, power: int) -> Real:
    """E (β Σ_j K_j Q_j)^power, the K_j and Q_j uniform on the values; Q = K if tied."""
    draws = list(itertools.product(values, repeat=k if tied else 2 * k))
    entry = lambda x: beta * sum(a * b for a, b in zip(x[:k], x if tied else x[k:], strict=True))
    return Fraction(sum(Fraction(entry(x)) ** power for x in draws)) / len(draws)


def entries_at_another_scale(kept: bool) -> Sides:
    """|Var W₁₁ − 1| ≤ 0 (Remark 1) with k = 4: β = 1/√k (kept) or 1/k. Only variances enter: the entries of the keys may be ±1."""
    return abs(_moment(4, Fraction(1, 2 if kept else 4), (-1, 1), False, 2) - 1), 0


def entries_of_tied_keys(kept: bool) -> Sides:
    """|E W₁₁| ≤ 0 (Remark 1), k = 1: independent W_K, W_Q (kept), or W_K = W_Q."""
    return abs(_moment(1, 1, (-1, 1), not kept, 1)), 0


def entries_of_few_keys(kept: bool) -> Sides:
    """|E W₁₁²W₁₂² − 1| ≤ 0.01 (Remark 1: entries nearly independent) for k = 1000 (kept) or 1: E‖K‖⁴/k² − 1 = 2/k, K Gaussian in ℝᵏ."""
    k = 1000 if kept else 1
    return Fraction(k**2 + 2 * k, k**2) - 1, Fraction(1, 100)


def _neuron(V: Sequence[float]) -> float:
    """First neuron of a layer on the outputs a(X; W₁) = ½ and a(X; W₂) = ¼ of two heads."""
    return TANH[0](V[0] / 2 + V[1] / 4)


def layer_that_mixes_heads(kept: bool) -> Sides:
    """|σ(VA)₁ − h(X; θ₁)| ≤ 0 (Remark 2), d = 1, U₁ = 1: first row of V (1, 0) (kept), or (1, 1)."""
    return abs(_neuron((1, 0 if kept else 1)) - TANH[0](0.5)), 0
