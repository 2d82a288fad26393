"""What the hypotheses of Lemma 5, of this book's variants and of Remark 10 are for: instances without one of them, and with it.

Each function gives the two sides of the conclusion "left ≤ right"; all hypotheses but the named one hold at both instances. A conclusion
"with probability at least 1 − δ" is asked as "the probability of failing is at most δ", for the appendix's bound or another one.

Most instances have one token 0 and σ = cos, so that φ_c = 1; the third block is asked with σ nearly linear (sin(εz)/ε, ε → 0), where
g = U·M·q·v_w.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Real

import numpy as np
import torch
from torch import Tensor

from companion.theory.kernel_regime.hypotheses.on_a_line import apart, attention, mean, slopes, tail
from shallowformer.activations import SINE
from shallowformer.kernel_regime.bounds import approximation

Sides = tuple[Real, Real]
Bound = Callable[..., float]
UNEVEN = (1.0, 0.0)


def _fair_coins(N: int, level: float) -> float:
    """P(|mean of N fair signs| > level), exactly."""
    total = sum(math.comb(N, k) for k in range(N + 1) if abs(2 * k - N) > N * level)
    return float(Fraction(total, 2**N))


def _level(bound: Bound, nu: tuple[float, float, float], m: int, delta: float = 0.05) -> float:
    return bound(nu, 1, m, delta, SINE)


def heads_all_alike(kept: bool, bound: Bound = approximation.appendix) -> Sides:
    """P(|e| > bound) ≤ 0.05, v_c = sgn U, m = 1000: 500 independent heads, each twice (kept), or one, 1000 times: |e| = 1."""
    level = _level(bound, (1, 0, 0), 1000)
    return _fair_coins(500 if kept else 1, level), 0.05


def mapping_that_knows_the_heads(kept: bool, bound: Bound = approximation.appendix) -> Sides:
    """The same with independent heads: v_c = sgn U (kept), or v_c = 1 at the heads that were drawn and 0 elsewhere: f̃ = 0 and |e| = 1."""
    return heads_all_alike(True, bound) if kept else (float(_level(bound, (1, 0, 0), 1000) < 1), 0.05)


def mapping_of_a_mean_square(kept: bool, bound: Bound = approximation.appendix) -> Sides:
    """P(|e| > bound) ≤ 0.009, m = 2: v_c = sgn U (kept), or 10 on an event of U of probability 1/100 and else 0, so E v_c² = 1."""
    level, far = _level(bound, (1, 0, 0), 2, 0.009), 10 - 0.1
    return (_fair_coins(1, level) if kept else 0.01 * (far > level)), 0.009


def readouts_without_partners(kept: bool, bound: Bound = approximation.appendix) -> Sides:
    """P(|e| > bound) ≤ 0.05 for v = 0, where the bound is 0, m = 2: c₂ = −c₁ (kept), or independent signs: f(φ⁽⁰⁾) ≠ 0 half of the time."""
    signs = [(a, -a if kept else b) for a in (1, -1) for b in (1, -1)]
    return sum(abs(a + b) / math.sqrt(2) > _level(bound, (0, 0, 0), 2) for a, b in signs) / 4, 0.05


def _errors(kept: bool) -> Tensor:
    """Errors e in 100 draws of 20 heads in ℝ²⁰, v_c = 1, σ = tanh(10⁶z): at one token e₁ (kept), or at x with equal ⟨U_i, x⟩ > 0 for all i."""
    U = torch.randn(100, 20, 20, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    if kept:
        return torch.tanh(1e6 * U[:, :, 0]).mean(1)
    seen = torch.linalg.solve(U, torch.ones(100, 20, 1, dtype=torch.float64))
    return torch.tanh(1e6 * U @ (seen / seen.norm(dim=1, keepdim=True))).mean((1, 2))


def inputs_that_know_the_heads(kept: bool, bound: Bound = approximation.appendix) -> Sides:
    """P(|e| > bound) ≤ 0.05, d = 20, m = 40, in 100 draws: an input fixed before (kept), or one that all heads see alike."""
    return float((_errors(kept).abs() > _level(bound, (1, 0, 0), 40)).double().mean()), 0.05


def error_of_a_long_token(kept: bool, bound: Bound = approximation.appendix) -> Sides:
    """P(|e| > bound) ≤ 0.05, m = 2, one token, v_u = sgn U, σ = sin(10⁻⁶z)·10⁶, |e| ≈ ‖X‖: a token of length 1 (kept) or 100."""
    size = 1 if kept else 100
    return float(size * math.cos(1e-6 * size * 1000) > _level(bound, (0, 1, 0), 2)), 0.05


def _attention_error(level: float, scale: float = 1.0) -> float:
    """P(scale·|U|·sech²W > level): tokens ±1, v_w = 1, σ nearly linear."""
    return mean(lambda w: tail(level * np.cosh(w) ** 2 / scale))


def error_of_a_long_query(kept: bool, bound: Bound = approximation.appendix) -> Sides:
    """P(|e| > bound) ≤ 0.05, m = 2, tokens ±1, v_w = 1, σ nearly linear, |e| ≈ |U|‖q‖sech²W: a query of length 1 (kept) or 100."""
    return _attention_error(_level(bound, (0, 0, 1), 2), 1 if kept else 100), 0.05


def error_of_wild_heads(kept: bool, bound: Bound = approximation.appendix) -> Sides:
    """The same at δ = 1/20000, q = 1: U standard Gaussian (kept), or ±100 with probability 1/20000 each and else 0."""
    level = _level(bound, (0, 0, 1), 2, 5e-5)
    return (_attention_error(level) if kept else 1e-4 * (1 - tail(math.acosh(math.sqrt(100 / level))))), 5e-5


def rms_of_heads_all_alike(kept: bool) -> Sides:
    """E‖e‖² ≤ 2S²/m (Root mean square), v_c = sgn U, m = 1000: 500 independent heads, each twice (kept), or one, 1000 times."""
    return (Fraction(1, 500) if kept else 1), Fraction(2, 1000)


def rms_of_a_mapping_that_knows(kept: bool) -> Sides:
    """The same with independent heads: v_c = sgn U (kept), or 1 at the heads that were drawn and 0 elsewhere."""
    return (Fraction(1, 500) if kept else 1), Fraction(2, 1000)


def rms_of_inputs_that_know(kept: bool) -> Sides:
    """The same for d = 20, m = 40: an input fixed before, where E e² = 1/20 (kept), or the mean of e² over 100 draws at one chosen after."""
    return (Fraction(1, 20) if kept else float(_errors(False).square().mean())), Fraction(2, 40)


def rms_of_a_start_without_partners(kept: bool) -> Sides:
    """The same for v = 0, m = 2, σ = cos, one token 0: c₂ = −c₁ (kept), or independent signs: E f(φ⁽⁰⁾)² = 1."""
    return Fraction(sum((a + (-a if kept else b)) ** 2 for a in (1, -1) for b in (1, -1)), 8), 0


def rms_of_a_mean_square(kept: bool) -> Sides:
    """E g² ≤ S² = 1 for the attention block, tokens ±1, σ nearly linear: |v_w| ≤ 1 (kept: v_w = 1), or v_w = 1{|U| > 3}/√P(|U| > 3), E v_w² = 1."""
    spread = mean(lambda w: np.cosh(w) ** -4)
    far = 1 + 2 * 3 * math.exp(-4.5) / math.sqrt(2 * math.pi) / tail(3)  # E[U² given |U| > 3]
    return spread * (1 if kept else far), 1


def rms_of_a_long_token(kept: bool) -> Sides:
    """E‖e‖² ≤ 2S²/m, m = 2, one token, v_u = sgn U, σ nearly linear: a token of length 1 (kept) or 2."""
    return (1 if kept else 4), 1


def rms_of_a_long_query(kept: bool) -> Sides:
    """E g² ≤ S² = 1 for the attention block with v_w = 1, tokens ±1: a query of length 1 (kept) or 4."""
    q = 1 if kept else 4
    return q**2 * mean(lambda w: np.cosh(q * w) ** -4), 1


def features_of_longer_tokens(kept: bool) -> Sides:
    """‖φ_u‖ at T = 100 ≤ its bound 1 at T = 1 (Remark 10), U = 0: all tokens of length 1 (kept), or of length √T."""
    size = 1.0 if kept else 10.0
    return slopes((size,) * 100, 0, 0)[0], 1


def features_of_a_sum(kept: bool) -> Sides:
    """The same for tokens 1: averaged (kept), or added up."""
    return attention((1.0,) * 100, 0)[0] * (1 if kept else 100), 1


def _pooled(tokens: tuple[float, ...], q: float, then: tuple[float, ...], then_q: float) -> Sides:
    """How far pooled attention at W = 1 changes."""
    return apart(attention(tokens, q)[0], attention(then, then_q)[0], 1e-15), 0


def features_of_uneven_copies(kept: bool) -> Sides:
    """Repeating all tokens leaves pooled attention as it is (Remark 10), tokens 1, 0, q = 1: to 1, 1, 0, 0 (kept), or 1, 1, 0."""
    return _pooled(UNEVEN, 1, (1.0, 1.0, 0.0, 0.0) if kept else (1.0, 1.0, 0.0), 1)


def features_of_another_last_token(kept: bool) -> Sides:
    """The same with the last token as the query, tokens 0, 1: to 0, 0, 1, 1 (kept), or to 1, 1, 0, 0, whose last token is 0."""
    return (
        _pooled((0.0, 1.0), 1, (0.0, 0.0, 1.0, 1.0), 1)
        if kept
        else _pooled((0.0, 1.0), 1, (1.0, 1.0, 0.0, 0.0), 0)
    )
