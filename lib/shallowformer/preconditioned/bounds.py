"""What theorems say of descent on f_{1/2} with square factors: saddle-free sublevel set, basin, step, rate, curvature, flow; the spectral start.

Numbers in, numbers out. ``s`` holds the singular values of M̃ = MΣ^½, all above 0, s₁ the largest and s_d the smallest. Theorems ask for
λ = ½ and square factors; ``f0`` is the value of f at the start. What a biased gradient leaves is in ``biased``.
"""

import math

from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, NonNegative, Positive, contract


def saddle_free(s: Float[Tensor, " d"]) -> float:
    """s_d²/2, the least value of a saddle: below it descent converges linearly."""
    return _ends(s)[1] ** 2 / 2


def basin(s: Float[Tensor, " d"]) -> float:
    """s_d²/8: from an f_0 of at most that, the factor of f is at most 1 − ηs_d a step."""
    return _ends(s)[1] ** 2 / 8


def step(s: Float[Tensor, " d"], f0: float | None = None) -> float:
    """1/(2s₁ + 3√(2f_0)), the longest step of the theorem; 1/(2s₁ + 1.5s_d), that of the whole basin, if f_0 is not given."""
    return 1 / curvature(s, basin(s) if f0 is None else f0)


def best_step(s: Float[Tensor, " d"]) -> float:
    """1/(s₁ + s_d), the step with the best factor in the end."""
    return 1 / sum(_ends(s))


@contract
def contraction(s: Float[Tensor, " d"], eta: Positive, f: float | None = None) -> float:
    """1 − 2η(s_d − √(2f)), the theorem's factor of f ≤ ``saddle_free`` a step; 1 − ηs_d, that in the basin, if f is not given."""
    f = basin(s) if f is None else arguments.at_most("f", f, "saddle_free", saddle_free(s))
    return 1 - eta * pl_constant(s, f) / 2


@contract
def asymptotic_factor(s: Float[Tensor, " d"], eta: Positive) -> float:
    """max{(1 − 2s_dη)², (1 − 2s₁η)²}, the factor of f a step near the optimum; ((κ − 1)/(κ + 1))² for the best step."""
    return max((1 - 2 * each * eta) ** 2 for each in _ends(s))


@contract
def pl_constant(s: Float[Tensor, " d"], f0: NonNegative) -> float:
    """4(s_d − √(2f_0)): the infimum of ‖∇f‖²/f where 0 < f ≤ f_0; 0 from ``saddle_free`` on."""
    return 4 * max(0.0, _ends(s)[1] - math.sqrt(2 * f0))


@contract
def factor_range(s: Float[Tensor, " d"], f0: NonNegative) -> tuple[float, float]:
    """s_d − 2√f_0 and s₁ + √(10f_0), between which squared singular values of U and V lie wherever f ≤ f_0."""
    largest, least = _ends(s)
    # Below, ‖D‖ + ½‖C‖; above, ‖D‖ + ‖C‖; and ‖D‖² + ¼‖C‖² ≤ 2f_0.
    return least - 2 * math.sqrt(f0), largest + math.sqrt(10 * f0)


@contract
def curvature(s: Float[Tensor, " d"], f0: NonNegative) -> float:
    """2s₁ + 3√(2f_0), the largest eigenvalue that the Hessian has where f ≤ f_0."""
    return 2 * _ends(s)[0] + 3 * math.sqrt(2 * f0)


@contract
def envelope(s: Float[Tensor, " d"], f0: NonNegative, t: NonNegative) -> float:
    """½s_d²φ² with φ = φ_0/(φ_0 + (1 − φ_0)e^{2s_d t}), φ_0 = √(2f_0)/s_d: gradient flow is below it, and on it along a line.

    Args:
        f0: at most ``saddle_free``.
    """
    least = _ends(s)[1]
    arguments.at_most("f0", f0, "saddle_free", saddle_free(s))
    start = math.sqrt(2 * f0) / least
    decay = math.exp(-2 * least * t)
    return (least * start * decay / (start * decay + 1 - start)) ** 2 / 2 if start < 1 else f0


@contract
def spectral_noise(m: Count, d: Count, sigma: NonNegative, n: Count) -> float:
    """mdσ²/(2n), the noise's part of E f(U_0, V_0) at the spectral start, given the covariates."""
    return m * d * sigma**2 / (2 * n)


@contract
def spectral_covariance(s: Float[Tensor, " d"], d: Count, n: Count) -> float:
    """((d + 1)/2n)‖M̃‖_F², at least the covariates' part of E f(U_0, V_0); a quarter of it for large n. κ(Σ) is in neither.

    f aims at M̃Oᵀ with the orthogonal O of Σ̂^½ = Σ^½K^½Oᵀ, K the empirical covariance of Σ^{−½}x.
    """
    _ends(s)
    return (d + 1) * float(s.square().sum()) / (2 * n)


def _ends(s: Tensor) -> tuple[float, float]:
    """The largest and the smallest singular value."""
    least = float(arguments.floating("s", s, "d").min())
    if not least > 0:
        raise ValueError(f"s must hold singular values above 0, got {least:g} among them")
    return float(s.max()), least
