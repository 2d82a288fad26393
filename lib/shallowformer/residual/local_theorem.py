"""Theorem A+ with the constants of the ball itself: no block has to be other than 0, and no factor is given away by halving.

Let r > 0 and α(r) = (σ_A − ℓ_A(r) r)²(σ_U − r)², both brackets positive, ℓ_A(r) the Lipschitz constant of Ā on the ball of radius r. If
Φ(θ⁽⁰⁾) ≤ α(r) r²/8 and μ ≤ 1/L_r, then descent stays in that ball, Φ(θ⁽ᵗ⁾) ≤ (1 − μα(r))ᵗ Φ(θ⁽⁰⁾), and ‖θ⁽ᵗ⁾ − θ*‖ ≤ 2√(2Φ(θ⁽ᵗ⁾)/α(r)).
The proof is that of Theorem A+: on the ball σ_min(Ā) ≥ σ_A − ℓ_A(r) r and σ_min(W_U) ≥ σ_U − r by Weyl, so ‖∇Φ‖² ≥ 2α(r)Φ, and a path
along which √Φ falls by (√(2α(r))/4) a unit of length is at most 2√(2Φ(θ⁽⁰⁾)/α(r)) ≤ r long.
"""

import math
from dataclasses import dataclass

from jaxtyping import Float
from scipy.optimize import minimize_scalar
from torch import Tensor

from shallowformer import arguments
from shallowformer.residual import model
from shallowformer.residual.local_bounds import local
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.spectra import check_pl_2, smallest, stacked


@dataclass(frozen=True)
class Guarantee:
    """What the theorem says of one ball.

    Args:
        r: its radius.
        alpha: α(r); 0 if a bracket is not positive.
        lipschitz_A: ℓ_A(r).
    """

    r: float
    alpha: float
    lipschitz_A: float

    @property
    def loss(self) -> float:
        """The largest Φ(θ⁽⁰⁾) that this ball admits, α(r) r²/8."""
        return self.alpha * self.r**2 / 8

    def radius(self, loss: float) -> float:
        """A bound 2√(2Φ/α(r)) on how far the limit is from a point of the run with loss Φ.

        Args:
            loss: Φ, at least 0.

        Raises:
            ValueError: ``loss`` is not a finite number of at least 0, or α(r) = 0.
        """
        arguments.positive("alpha", self.alpha)
        return 2 * math.sqrt(2 * arguments.at_least("loss", loss, 0.0) / self.alpha)


def guarantee(X: Float[Tensor, "P N d"], theta: Parameters, setting: Setting, radius: float) -> Guarantee:
    """The theorem on a ball around a starting point.

    Args:
        X: tokens.
        theta: θ⁽⁰⁾; blocks may be 0.
        setting: coefficients, activation, temperature.
        radius: r, above 0.

    Raises:
        ValueError: as ``local_bounds.local``; PN > d_1 or K > d; ``radius`` not above 0.
    """
    r = arguments.positive("radius", radius)
    now = model.forward(X, theta, setting)
    check_pl_2(X, theta)
    ell = local(X, theta, setting, r).lipschitz_A
    of_A = max(float(smallest(stacked(now.A))) - ell * r, 0.0)
    of_U = max(float(smallest(theta.W_U)) - r, 0.0)
    return Guarantee(r, (of_A * of_U) ** 2, ell)


def best(X: Float[Tensor, "P N d"], theta: Parameters, setting: Setting) -> Guarantee:
    """The ball that admits the largest loss, as far as a search over its radius finds it; what is returned holds in any case.

    Args:
        X: tokens.
        theta: θ⁽⁰⁾; blocks may be 0.
        setting: coefficients, activation, temperature.

    Raises:
        ValueError: as ``guarantee``; no ball admits any loss, as Ā or W_U has no full rank.
    """
    at_most = float(smallest(theta.W_U))
    ell = guarantee(X, theta, setting, max(at_most, 1e-300) * 1e-9).lipschitz_A
    at_most = min(at_most, float(smallest(stacked(model.forward(X, theta, setting).A))) / ell)
    if not at_most > 1e-12:
        raise ValueError(
            f"theta must have a hidden layer A and a W_U of full rank, got room for a radius of {at_most:.3g} only"
        )
    loss = lambda share: -guarantee(X, theta, setting, share * at_most).loss / at_most**2
    found = minimize_scalar(loss, bounds=(1e-3, 1.0), method="bounded", options={"xatol": 1e-4})
    return guarantee(X, theta, setting, float(found.x) * at_most)
