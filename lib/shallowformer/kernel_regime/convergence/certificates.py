"""Certificates: Theorem A with numbers in it, at the size of the paper's experiments.

*A posteriori*: every quantity of the theorem is measured at every step of a run, in the pass that computes the gradient
(``follow``); the bound is then rigorous for that run. *A priori*: known before the first step (``prior``).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, NonNegative, Positive, contract
from shallowformer.kernel_regime.convergence import cancellation, descent, gradient_norms, no_logs
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters, squared_distance
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.neighbourhood.region import radii
from shallowformer.training import points, self_bounding


class _Watched:
    """A loss that also measures, whenever its gradient is taken, the misfit of each comparator in the tangent model.

    The directional derivatives come from the pass that computes the gradient, for speed, and not from ``linear_model.slopes``.
    """

    def __init__(self, loss: Loss, comparators: Sequence[Parameters]) -> None:
        self.n, self.losses, self._loss, self._labels = loss.n, loss.losses, loss, loss.labels
        self._points = [Students.of(point) for point in comparators]
        self.epsilon: list[Float[Tensor, " k"]] = []
        self.square: list[Float[Tensor, ""]] = []

    def losses_and_gradient(self, student: Students, rows: None) -> tuple[Tensor, Students]:
        away = [point.map(torch.sub, student) for point in self._points]
        losses, gradient, f, along = self._loss.with_slopes(student, away)
        self.epsilon.append((f - self._labels + along).square().mean(1).sqrt())
        # A loss of 0 is a minimum: the gradient vanishes with it, and so does the quotient.
        squared = points.inner(gradient.blocks, gradient.blocks)
        self.square.append(torch.where(losses[0] > 0, squared / (4 * losses[0]), torch.zeros_like(squared)))
        return losses, gradient


@dataclass(frozen=True)
class Followed:
    """Theorem A measured along a run of τ steps, against k comparators."""

    eta: float  # step size η
    losses: Float[Tensor, " τ"]  # L̂(φ⁽ˢ⁾) before each step
    epsilon: Float[Tensor, "τ k"]  # ε_s before each step
    theta: Float[Tensor, " τ"]  # η‖∇L̂‖²/(4L̂) before each step
    V0: Float[Tensor, " k"]  # ‖φ⁽⁰⁾ − φ̃‖²
    trace: float  # largest mean of ‖∇f_j‖² at the recorded steps
    run: descent.Run  # what ``descent.run`` recorded

    @contract
    def certificate(self, steps: Count | None = None) -> list[float]:
        """Theorem A's bound on the mean loss of the first t steps, τ if not given, for each comparator; infinite if θ ≥ 1 at one of them."""
        t = len(self.losses) if steps is None else steps
        if t > len(self.losses):
            raise ValueError(f"steps must be at most {len(self.losses)}, got {t}")
        theta = float(self.theta[:t].max())
        if theta >= 1:
            return [math.inf] * len(self.V0)
        return [
            self_bounding.bound(float(self.epsilon[:t, k].max()), float(self.V0[k]), self.eta, t, theta) ** 2
            for k in range(len(self.V0))
        ]


def follow(
    loss: Loss,
    phi0: Parameters,
    comparators: Sequence[Parameters],
    *,
    eta: float,
    steps: int,
    rho: Sequence[float] | None,
    progress: bool = False,
) -> Followed:
    """Run projected gradient descent and measure Theorem A at every step, for one or more φ̃ in Ω_ρ, in the passes that the run makes anyway.

    ``trajectories.follow`` measures more (every form of A², the drift itself), for problems that are small.
    """
    if not comparators:
        raise ValueError("comparators must be at least one set of parameters, got none")
    watched = _Watched(loss, comparators)

    def trace(step: int, students: tuple[Parameters, ...]) -> dict[str, Float[Tensor, ""]]:
        return {"trace": tangent_kernel.diagonal(loss.X, students[0], loss.query, loss.sigma).total.mean()}

    every = max(1, steps // 20)
    run = descent.run(
        watched, phi0, eta=eta, steps=steps, rho=rho, every=every, observe=trace, progress=progress
    )
    return Followed(
        eta=eta,
        losses=run.step_losses[:, 0],
        epsilon=torch.stack(watched.epsilon),
        theta=eta * torch.stack(watched.square),
        V0=torch.stack([squared_distance(phi0, point) for point in comparators]),
        trace=max(float(seen["trace"]) for seen in run.observed),
        run=run,
    )


@dataclass(frozen=True)
class Prior:
    """Theorem E: what is known of a run before its first step."""

    A: float  # bound on A over Ω_ρ
    by_width: float  # bound on ε from Theorem B, ε₀ plus the turn; it holds for any step size
    by_pairs: float  # bound on ε from Theorem D, infinite if it says nothing, as for ηA² ≥ 1
    value: float  # the bound on the mean loss, infinite if ηA² ≥ 1

    @property
    def epsilon(self) -> float:
        """The smaller of the two."""
        return min(self.by_width, self.by_pairs)


@contract
def prior(
    R: Float[Tensor, " m"],
    A0: NonNegative,
    epsilon: float,
    V0: float,
    nu: Sequence[float],
    *,
    eta: Positive,
    steps: Count,
    rho: Sequence[float],
    sigma: Activation = TANH,
) -> Prior:
    """A bound on the mean loss of projected gradient descent that is known before the first step (Theorem E).

    Args:
        R: the longest U_i of each head in Ω_ρ (``region.longest``).
        A0: A at the initialisation, in Gram or in trace form, or a bound on it.
        epsilon: ε₀, what f_lin misses at the comparator.
        V0: squared distance of the comparator.
        nu: (ν̄_c, ν̄_u, ν̄_w), √m times the comparator's longest displacements, at most those of ``rho``; partners are displaced oppositely.
        sigma: the activation; for ``by_pairs`` |σ‴| ≤ σ₃ is used, which the paper does not assume.
    """
    horizon = eta * steps
    if any(far > near for far, near in zip(radii(nu, 1), radii(rho, 1), strict=True)):
        raise ValueError(f"nu must not exceed rho = {tuple(rho)}, got {tuple(nu)}")
    L = cancellation.constants(R, sigma)
    A = min(
        A0 + float(gradient_norms.gradient_drift(R, rho, sigma, L[1])),
        float(gradient_norms.gradient_over_heads(R, rho[0], sigma)) ** 0.5,
    )
    by_width = epsilon + float(no_logs.turn_over_heads(R, rho, nu, sigma))
    theta = eta * A**2
    if theta >= 1:
        return Prior(A, by_width, math.inf, math.inf)
    # The turn of Theorem D is affine in Γ, and the bound on Γ affine in ε.
    still = float(cancellation.turn_of_pairs(R, rho, nu, 0.0, sigma, L))
    per_travel = float(cancellation.turn_of_pairs(R, rho, nu, 1.0, sigma, L)) - still
    feedback = per_travel * horizon / (1 - theta)
    start = epsilon + still + per_travel * cancellation.travel(horizon, V0, 0.0, theta)
    by_pairs = start / (1 - feedback) if feedback < 1 else math.inf
    best = min(by_width, by_pairs)
    return Prior(A, by_width, by_pairs, self_bounding.bound(best, V0, eta, steps, theta) ** 2)
