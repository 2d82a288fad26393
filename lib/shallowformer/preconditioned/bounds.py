"""What theorems say of descent on f_{1/2} with square factors: basin, step, rate, curvature, and the floor that a biased gradient leaves.

Numbers in, numbers out. ``s`` holds the singular values of M̃ = MΣ^½, all above 0, s₁ the largest and s_d the smallest. Theorems ask for
λ = ½ and square factors; ``f0`` is the value of f at the start.
"""

import math
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments


def basin(s: Float[Tensor, " d"]) -> float:
    """s_d²/16: from an f_0 of at most that, descent converges linearly.

    Args:
        s: singular values of M̃, above 0.

    Raises:
        ValueError: a singular value that is not above 0.
    """
    return _ends(s)[1] ** 2 / 16


def step(s: Float[Tensor, " d"]) -> float:
    """1/(2s₁ + 1.8s_d), the longest step of the theorem.

    Args:
        s: singular values of M̃, above 0.

    Raises:
        ValueError: a singular value that is not above 0.
    """
    largest, least = _ends(s)
    return 1 / (2 * largest + 1.8 * least)


def best_step(s: Float[Tensor, " d"]) -> float:
    """1/(s₁ + s_d), the step with the best factor in the end.

    Args:
        s: singular values of M̃, above 0.

    Raises:
        ValueError: a singular value that is not above 0.
    """
    return 1 / sum(_ends(s))


def contraction(s: Float[Tensor, " d"], eta: float) -> float:
    """1 − ηs_d, the theorem's factor of f a step.

    Args:
        s: singular values of M̃, above 0.
        eta: η, above 0.

    Raises:
        ValueError: an argument out of range.
    """
    return 1 - arguments.positive("eta", eta) * _ends(s)[1]


def asymptotic_factor(s: Float[Tensor, " d"], eta: float) -> float:
    """max{(1 − 2s_dη)², (1 − 2s₁η)²}, the factor of f a step near the optimum; ((κ − 1)/(κ + 1))² for the best step.

    Args:
        s: singular values of M̃, above 0.
        eta: η, above 0.

    Raises:
        ValueError: an argument out of range.
    """
    arguments.positive("eta", eta)
    return max((1 - 2 * each * eta) ** 2 for each in _ends(s))


def pl_constant(s: Float[Tensor, " d"], f0: float) -> float:
    """4(s_d − 2√f_0): ‖∇f‖² ≥ that · f wherever f ≤ f_0; 0 where it would be negative.

    Args:
        s: singular values of M̃, above 0.
        f0: at least 0.

    Raises:
        ValueError: an argument out of range.
    """
    return 4 * max(0.0, factor_range(s, f0)[0])


def factor_range(s: Float[Tensor, " d"], f0: float) -> tuple[float, float]:
    """s_d − 2√f_0 and s₁ + √(10f_0), between which squared singular values of U and V lie wherever f ≤ f_0.

    Args:
        s: singular values of M̃, above 0.
        f0: at least 0.

    Raises:
        ValueError: an argument out of range.
    """
    largest, least = _ends(s)
    # Below, ‖D‖ + ½‖C‖; above, ‖D‖ + ‖C‖; and ‖D‖² + ¼‖C‖² ≤ 2f_0.
    arguments.at_least("f0", f0, 0.0)
    return least - 2 * math.sqrt(f0), largest + math.sqrt(10 * f0)


def curvature(s: Float[Tensor, " d"], f0: float) -> float:
    """2s₁ + 5√(2f_0), above the largest eigenvalue of the Hessian wherever f ≤ f_0.

    Args:
        s: singular values of M̃, above 0.
        f0: at least 0.

    Raises:
        ValueError: an argument out of range.
    """
    return 2 * _ends(s)[0] + 5 * math.sqrt(2 * arguments.at_least("f0", f0, 0.0))


@dataclass(frozen=True)
class Biased:
    """f_t ≤ contraction^t f_0 + floor for steps along g_t with ‖g_t − ∇f‖ ≤ δ.

    Args:
        most_f0: f_0 may be at most that.
        most_eta: so may η.
        most_delta: so may δ.
        contraction: a step's factor.
        floor: what is left.
    """

    most_f0: float
    most_eta: float
    most_delta: float
    contraction: float
    floor: float

    def at(self, t: int, f0: float) -> float:
        """The bound on f_t.

        Args:
            t: steps made, at least 0.
            f0: at least 0, at most ``most_f0``.

        Raises:
            ValueError: an argument out of range.
        """
        arguments.at_most("f0", arguments.at_least("f0", f0, 0.0), "most_f0", self.most_f0)
        return self.contraction ** arguments.count("t", t, 0) * f0 + self.floor


def biased(s: Float[Tensor, " d"], eta: float, delta: float) -> Biased:
    """Biased descent: f_0 ≤ s_d²/32, η ≤ 1/(4s₁ + 5s_d), δ² ≤ s_d³/40 ⇒ f_t ≤ (1 − 0.58ηs_d)^t f_0 + δ²/(1.16s_d).

    Args:
        s: singular values of M̃, above 0.
        eta: η, above 0 and at most that.
        delta: δ, at least 0 and at most that.

    Raises:
        ValueError: an argument out of range.
    """
    largest, least = _ends(s)
    most_eta, most_delta = 1 / (4 * largest + 5 * least), (least**3 / 40) ** 0.5
    return _biased(eta, delta, (least**2 / 32, most_eta, most_delta), 0.58 * least)


def biased_sharper(s: Float[Tensor, " d"], eta: float, delta: float) -> Biased:
    """The same from better constants: f_0 ≤ s_d²/16, η ≤ 1/(2s₁ + 1.8s_d), δ² ≤ s_d³/60 ⇒ f_t ≤ (1 − ηs_d)^t f_0 + δ²/(2s_d).

    Where f ≤ s_d²/16, ‖∇f‖² ≥ 2s_d f, and a step gives f⁺ ≤ f − (η/2)‖∇f‖² + (η/2)δ², as long as 1/η bounds the Hessian on the way. On the
    way f exceeds s_d²/16 by ηδ²/2 ≤ s_d²/456 at most (η ≤ 1/(3.8s_d)), and there 5√(2f) < 1.8s_d.

    Args:
        s: singular values of M̃, above 0.
        eta: η, above 0 and at most that.
        delta: δ, at least 0 and at most that.

    Raises:
        ValueError: an argument out of range.
    """
    least = _ends(s)[1]
    return _biased(eta, delta, (basin(s), step(s), (least**3 / 60) ** 0.5), least)


def _biased(eta: float, delta: float, most: tuple[float, float, float], rate: float) -> Biased:
    arguments.at_most("eta", arguments.positive("eta", eta), "its limit", most[1])
    arguments.at_most("delta", arguments.at_least("delta", delta, 0.0), "its limit", most[2])
    return Biased(*most, 1 - eta * rate, delta**2 / (2 * rate))


def spectral_noise(m: int, d: int, sigma: float, n: int) -> float:
    """mdσ²/(2n), the noise's part of E f(U_0, V_0) at the spectral start, given the covariates.

    Args:
        m: dimension of a response, at least 1.
        d: dimension of a covariate, at least 1.
        sigma: σ, at least 0.
        n: samples, at least 1.

    Raises:
        ValueError: an argument out of range.
    """
    arguments.at_least("sigma", sigma, 0.0)
    return arguments.count("m", m) * arguments.count("d", d) * sigma**2 / (2 * arguments.count("n", n))


def spectral_covariance(s: Float[Tensor, " d"], d: int, n: int) -> float:
    """(d/2n)‖M̃‖_F², a bound (to first order in 1/n) on the covariates' part of E f(U_0, V_0), whatever κ(Σ) is.

    Args:
        s: singular values of M̃, above 0.
        d: dimension of a covariate, at least 1.
        n: samples, at least 1.

    Raises:
        ValueError: an argument out of range.
    """
    _ends(s)
    return arguments.count("d", d) * float(s.square().sum()) / (2 * arguments.count("n", n))


def _ends(s: Tensor) -> tuple[float, float]:
    """The largest and the smallest singular value."""
    least = float(arguments.floating("s", s, "d").min())
    if not least > 0:
        raise ValueError(f"s must hold singular values above 0, got {least:g} among them")
    return float(s.max()), least
