"""What the hypotheses of Lemma 4, of its variance, and of Remarks 8 and 9 are for: instances on a line without one of them, and with it.

Each function gives the two sides of the conclusion "left ≤ right"; all hypotheses but the named one hold at both instances. Means over heads
are integrals, right to 1e-6; those that are compared for equality are found by one and the same rule.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from companion.theory.kernel_regime.hypotheses.on_a_line import (
    COSINE,
    FLAT,
    TANH,
    Bent,
    Value,
    apart,
    attention,
    mean,
    mean_of_two,
    slopes,
)

Sides = tuple[float, float]
CAMPS = (1.0, -1.0)
UNEVEN = (1.0, 0.0)
#: C of the kernel's variance, for tanh.
C = math.sqrt(3)


def _head_kernel(u: Value, w: Value, tokens=UNEVEN, q: float = 1.0, c: float = 1.0) -> Value:
    """κ(X, X) of one head with readout c: h² + c²(∂h/∂U)² + c²(∂h/∂W)²."""
    in_u, in_w = slopes(tokens, u, w, q)
    return np.tanh(u * attention(tokens, w * q)[0]) ** 2 + c**2 * (in_u**2 + in_w**2)


KERNEL = mean_of_two(_head_kernel)


def _limit(law: Callable[[Callable[[float, float], float]], float], c: float = 1.0) -> Sides:
    """How far the limit of K_m, the mean over the law of a head, is from K."""
    return apart(law(lambda u, w: _head_kernel(u, w, c=c)), KERNEL, 1e-9), 0


def kernel_of_another_law(kept: bool) -> Sides:
    """The limit of K_m is K (Lemma 4), tokens 1, 0, q = 1, tanh: U standard Gaussian (kept), or ±1 with equal probability."""
    signs = lambda function: (mean(lambda w: function(1, w)) + mean(lambda w: function(-1, w))) / 2
    return _limit(mean_of_two if kept else signs)


def kernel_of_another_attention(kept: bool) -> Sides:
    """The same: W standard Gaussian (kept), or ±1 with equal probability."""
    signs = lambda function: (mean(lambda u: function(u, 1)) + mean(lambda u: function(u, -1))) / 2
    return _limit(mean_of_two if kept else signs)


def kernel_of_dependent_blocks(kept: bool) -> Sides:
    """The same: U and W independent (kept), or W = U."""
    return _limit(mean_of_two if kept else lambda function: mean(lambda g: function(g, g)))


def kernel_of_large_readouts(kept: bool) -> Sides:
    """The same: readouts ±1 (kept) or ±2."""
    return _limit(mean_of_two, 1 if kept else 2)


@cache
def _variance(tokens=UNEVEN, q: float = 1.0, c: float = 1.0) -> float:
    centre = mean_of_two(lambda u, w: _head_kernel(u, w, tokens, q, c))
    return mean_of_two(lambda u, w: (_head_kernel(u, w, tokens, q, c) - centre) ** 2)


def kernel_of_copies(kept: bool) -> Sides:
    """E(K_m − K)² ≤ 2C²/m, which tends to 0 (Lemma 4), m = 1000: 500 independent heads, each twice (kept), or one head, 1000 times."""
    return _variance() / (500 if kept else 1), 2 * C**2 / 1000


def variance_of_copies(kept: bool) -> Sides:
    """E(K_m − K)² ≤ (2/m) Var κ (Kernel variance), m = 4: two independent heads, each twice (kept), or one, four times."""
    of = lambda u: np.tanh(u) ** 2 + (1 - np.tanh(u) ** 2) ** 2  # one token 1
    K = mean(of)
    pair = mean_of_two(lambda u, v: ((of(u) + of(v if kept else u)) / 2 - K) ** 2)
    return pair, mean(lambda u: (of(u) - K) ** 2) / 2 * (1 + 1e-9)


def variance_of_an_input_that_knows(kept: bool) -> Sides:
    """|E(K_m − K)| ≤ 0 at X (Kernel variance), m = 2, one token x: x = 1 (kept), or x = 1/(1 + U²), chosen after U."""
    of = lambda u, x: np.tanh(u * x) ** 2 + (1 - np.tanh(u * x) ** 2) ** 2 * x**2
    token = (lambda u: 1.0) if kept else (lambda u: 1 / (1 + u**2))
    return apart(mean(lambda u: of(u, token(u))), mean_of_two(lambda u, v: of(v, token(u))), 1e-9), 0


def variance_of_long_tokens(kept: bool) -> Sides:
    """Var κ ≤ C² (Kernel variance), tanh: one token of length 1 (kept) or 3."""
    return _variance((1.0,) if kept else (3.0,)), C**2


def variance_of_a_long_query(kept: bool) -> Sides:
    """The same for tokens ±1: a query of length 1 (kept) or 3."""
    return _variance(CAMPS, 1 if kept else 3), C**2


def variance_of_large_readouts(kept: bool) -> Sides:
    """The same for a query of length 1: readouts ±1 (kept) or ±3."""
    return _variance(CAMPS, 1, 1 if kept else 3), C**2


def variance_of_another_law(kept: bool) -> Sides:
    """|E K_m − K| ≤ 0 (Kernel variance): U standard Gaussian (kept), or ±1 with equal probability."""
    return kernel_of_another_law(kept)


def _attention_block(
    tokens=CAMPS, q: float = 1.0, bent: Bent = TANH, u_scale: float = 1.0, w_scale: float = 1.0
) -> Sides:
    """10⁻⁶ ≤ K_w(X, X): what "K_w > 0" is asked as."""
    return 1e-6, mean_of_two(lambda u, w: slopes(tokens, u_scale * u, w_scale * w, q, bent)[1] ** 2)


def block_of_a_flat_activation(kept: bool) -> Sides:
    """K_w(X, X) > 0 (Remark 8), tokens ±1, q = 1: tanh (kept), or a constant."""
    return _attention_block(bent=TANH if kept else FLAT)


def block_of_no_query(kept: bool) -> Sides:
    """The same: q = 1 (kept) or 0."""
    return _attention_block(q=1 if kept else 0)


def block_of_equal_tokens(kept: bool) -> Sides:
    """The same: tokens 1, −1 (kept), or 1, 1."""
    return _attention_block(CAMPS if kept else (1.0, 1.0))


def block_of_a_still_attention(kept: bool) -> Sides:
    """The same for σ = cos: W standard Gaussian (kept), or W = 0, where a = 0 and σ′(0) = 0."""
    return _attention_block(bent=COSINE, w_scale=1 if kept else 0)


def block_of_no_readin(kept: bool) -> Sides:
    """The same for tanh: U standard Gaussian (kept), or U = 0."""
    return _attention_block(u_scale=1 if kept else 0)


def section_of_large_readouts(kept: bool) -> Sides:
    """|K(X, X) − E⟨φ, φ⟩| ≤ 0 (Remark 9), K the limit of ⟨∇f, ∇f⟩: readouts ±1 (kept) or ±2."""
    return kernel_of_large_readouts(kept)
