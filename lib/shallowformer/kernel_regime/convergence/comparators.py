"""Comparators φ̃ of the convergence proofs: points near the start that fit the labels; here those of the ridge path.

The paper compares with the transported point, ``transportation.transported``. Any other point of Ω_ρ will do. The ridge path
(``training.comparators``) needs no transportation mapping and no target that one could represent: it is computed from the data and the
features at the start.
"""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from shallowformer.contracts import Count, NonNegative, Positive, contract
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model import transformer
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters, plus
from shallowformer.training import comparators


@dataclass(frozen=True)
class Ridge:
    """A point of the ridge path, and what Theorem A needs to know of it at the start."""

    point: Parameters  # φ̃
    lam: float  # λ
    epsilon: float  # ε₀, root mean square of f_lin(X⁽ʲ⁾; φ̃) − y⁽ʲ⁾
    V0: float  # ‖φ̃ − φ⁽⁰⁾‖²


@contract
def weights(loss: Loss, phi0: Parameters, lam: NonNegative) -> Float[Tensor, " n"]:
    """The α with (K_m + nλI) α = y − f(φ⁽⁰⁾), K_m the tangent kernel at φ⁽⁰⁾; for λ = 0 that of least norm, where there is one."""
    return comparators.weights(*_to_fit(loss, phi0), lam)


def ridge(loss: Loss, phi0: Parameters, lam: float) -> Parameters:
    """The point φ̃ that minimises (1/n) Σ_j (f_lin(X⁽ʲ⁾; φ̃) − y⁽ʲ⁾)² + λ‖φ̃ − φ⁽⁰⁾‖²; for λ = 0 the nearest that fits as well as any.

    φ̃ = φ⁽⁰⁾ + Σ_j α_j ∇f(X⁽ʲ⁾; φ⁽⁰⁾) with the ``weights`` α. At a symmetric start partners move oppositely in U and W, and alike in c.
    """
    return moved(loss, phi0, weights(loss, phi0, lam))


@contract
def best_ridge(loss: Loss, phi0: Parameters, eta: Positive, steps: Count, rounds: Count = 6) -> Ridge:
    """The ridge comparator at which Theorem A's bound before training is stationary (``training.comparators.best_ridge``).

    Args:
        rounds: how often its equation is iterated; each solves an n × n system.
    """
    horizon = eta * steps
    best = comparators.best_ridge(*_to_fit(loss, phi0), horizon, rounds)
    return Ridge(moved(loss, phi0, best.alpha), best.lam, best.epsilon, best.V0)


def moved(loss: Loss, phi0: Parameters, alpha: Float[Tensor, " n"]) -> Parameters:
    """φ⁽⁰⁾ + Σ_j α_j ∇f(X⁽ʲ⁾; φ⁽⁰⁾)."""
    # The gradient of a mean squared loss with residuals nα/2 is Σ_j α_j ∇f_j.
    labels = transformer.f(loss.X, phi0, loss.query, loss.sigma) - loss.n / 2 * alpha
    return plus(phi0, Loss(loss.X, labels, loss.query, loss.sigma, loss.chunk)(phi0)[1])


def _to_fit(loss: Loss, phi0: Parameters) -> tuple[Float[Tensor, "n n"], Float[Tensor, " n"]]:
    """The tangent kernel at the start, and what the outputs there miss of the labels."""
    missing = loss.labels - transformer.f(loss.X, phi0, loss.query, loss.sigma)
    return tangent_kernel.finite(loss.X, phi0, query=loss.query, sigma=loss.sigma).total, missing
