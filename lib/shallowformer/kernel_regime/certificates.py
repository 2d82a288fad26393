"""Certificates: Theorem A with numbers in it, at the size of the paper's experiments.

*A posteriori*: every quantity of the theorem is measured at every step of a run, in the pass that computes the gradient
(``follow``); the bound is then rigorous for that run. *A priori*: known before the first step (``prior``).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime import (
    cancellation,
    descent,
    model,
    pairs,
    self_bounding,
    tangent_kernel,
    width,
)
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.comparators import fixed_queries, moved, one_column
from shallowformer.kernel_regime.heads import Heads
from shallowformer.kernel_regime.loss import Loss
from shallowformer.kernel_regime.neighbourhood import radii
from shallowformer.kernel_regime.parameters import Parameters


@dataclass(frozen=True)
class Ridge:
    """A point of the ridge path, and what Theorem A needs to know of it at the start.

    Args:
        point: φ̃.
        lam: λ.
        epsilon: ε₀, root mean square of f_lin(X⁽ʲ⁾; φ̃) − y⁽ʲ⁾.
        V0: ‖φ̃ − φ⁽⁰⁾‖².
    """

    point: Parameters
    lam: float
    epsilon: float
    V0: float


def best_ridge(loss: Loss, phi0: Parameters, eta: float, steps: int, rounds: int = 6) -> Ridge:
    """The ridge comparator at which ℓ = (ε₀ + √(ε₀² + V₀/(ητ)))/2, Theorem A's bound before training, is stationary.

    That is where λ = ε₀/(2ℓητ). The equation is iterated from λ = 1/(2ητ): its right side is smaller there and grows with λ, so the
    iterates fall towards its only solution above 0, or towards 0 if there is none (interpolation is best for long runs).

    Args:
        loss: the data set, with labels for one student.
        phi0: the start φ⁽⁰⁾.
        eta: step size η, above 0.
        steps: number of steps τ, at least 1.
        rounds: how often the equation is iterated, at least 1; each solves an n × n system.

    Returns:
        The comparator.

    Raises:
        ValueError: an argument out of range, or labels for several students.
    """
    horizon = arguments.positive("eta", eta) * arguments.count("steps", steps)
    arguments.count("rounds", rounds)
    query = fixed_queries(loss)
    missing = one_column(loss) - model.f(loss.X, phi0, query, loss.sigma)
    K = tangent_kernel.finite(loss.X, phi0, query=query, sigma=loss.sigma).total
    following = 1 / (2 * horizon)
    for _ in range(rounds):
        lam, regular = following, K.clone()
        regular.diagonal().add_(loss.n * lam)
        alpha = torch.cholesky_solve(missing[:, None], torch.linalg.cholesky(regular))[:, 0]
        epsilon = float((loss.n * lam * alpha).square().mean().sqrt())
        V0 = float(alpha @ (missing - loss.n * lam * alpha))
        ell = self_bounding.bound(epsilon, V0, eta, steps, 0.0)
        following = epsilon / (2 * ell * horizon)
    return Ridge(moved(loss, phi0, alpha), lam, epsilon, V0)


class _Watched(Loss):
    """A loss that also measures, whenever its gradient is taken, the misfit of each comparator in the tangent model.

    Args:
        loss: what to watch.
        comparators: the φ̃.
    """

    def __init__(self, loss: Loss, comparators: Sequence[Parameters]) -> None:
        super().__init__(loss.X, one_column(loss), fixed_queries(loss), loss.sigma, loss.chunk)
        self._points = [Heads.of(point) for point in comparators]
        self.epsilon: list[Tensor] = []
        self.theta: list[Tensor] = []

    def of(self, heads: Heads, rows: Tensor | None = None) -> tuple[Tensor, Heads]:
        self._away = [point.map(torch.sub, heads) for point in self._points]
        self._squares = heads.c.new_zeros(len(self._points))
        losses, gradient = super().of(heads, rows)
        slope = sum(block.square().sum() for block in gradient.blocks)
        self.epsilon.append((self._squares / self.n).sqrt())
        self.theta.append(slope / (4 * losses[0]))
        return losses, gradient

    def _passing(self, heads: Heads, now: slice, sums: Tensor, weighted: Tensor) -> None:
        d, M = heads.U.shape
        q, norm = self.q[now], sums[:, -1].reciprocal()
        z = weighted[:, -1] * norm
        h, slope = self.sigma(z), self.sigma.first(z) * heads.c * norm
        residual = h @ heads.c / M**0.5 - self.y[now, 0]
        for k, away in enumerate(self._away):
            keys = torch.mm(q, away.W.view(d, d * M)).view(len(q), d, M)
            # ⟨a, δU⟩ + ⟨MU, δW q⟩, times the norm: left factors as in Lemma 1.
            along = (sums[:, :-1] * torch.addcmul(away.U, z[:, None], keys, value=-1)).sum(1)
            along += keys.mul_(weighted[:, :-1]).sum(1)
            tangent = (h @ away.c + (slope * along).sum(1)) / M**0.5
            self._squares[k] += (residual + tangent).square().sum()


@dataclass(frozen=True)
class Followed:
    """Theorem A measured along a run of τ steps, against k comparators.

    Args:
        eta: step size η.
        losses: L̂(φ⁽ˢ⁾) before each step, Float[Tensor, "τ"].
        epsilon: ε_s before each step, Float[Tensor, "τ k"].
        theta: η‖∇L̂‖²/(4L̂) before each step, Float[Tensor, "τ"].
        V0: ‖φ⁽⁰⁾ − φ̃‖², Float[Tensor, "k"].
        trace: largest mean of ‖∇f_j‖² at the recorded steps.
        run: what ``descent.run`` recorded.
    """

    eta: float
    losses: Tensor
    epsilon: Tensor
    theta: Tensor
    V0: Tensor
    trace: float
    run: descent.Run

    def certificate(self, steps: int | None = None) -> list[float]:
        """Theorem A's bound on the mean loss of the first t steps, for each comparator; infinite if θ ≥ 1 at one of them.

        Args:
            steps: t, from 1 to τ; τ if not given.

        Returns:
            One bound a comparator.

        Raises:
            ValueError: ``steps`` out of range.
        """
        t = len(self.losses) if steps is None else arguments.count("steps", steps)
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
    """Run projected gradient descent and measure Theorem A at every step, for less than the price of the run alone.

    ``self_bounding.follow`` measures more (every form of A², the drift itself), for problems that are small.

    Args:
        loss: the data set, with labels for one student.
        phi0: where to start.
        comparators: one or more φ̃ in Ω_ρ.
        eta: step size η, above 0.
        steps: number of steps τ, at least 1.
        rho: radii of Ω_ρ; without projection if None.
        progress: show a bar with the time left.

    Returns:
        What was measured.

    Raises:
        ValueError: an argument out of range, no comparator, or labels for several students.
        Diverged: a loss is not finite.
    """
    if not comparators:
        raise ValueError("comparators must be at least one set of parameters, got none")
    watched = _Watched(loss, comparators)
    query = fixed_queries(loss)

    def trace(step: int, students: tuple[Parameters, ...]) -> dict[str, Tensor]:
        return {"trace": tangent_kernel.diagonal(loss.X, students[0], query, loss.sigma).total.mean()}

    every = max(1, steps // 20)
    run = descent.run(
        watched, phi0, eta=eta, steps=steps, rho=rho, every=every, observe=trace, progress=progress
    )
    return Followed(
        eta=eta,
        losses=run.step_losses[:, 0],
        epsilon=torch.stack(watched.epsilon),
        theta=eta * torch.stack(watched.theta),
        V0=torch.stack([pairs.norm(pairs.difference(phi0, point)) ** 2 for point in comparators]),
        trace=max(float(seen["trace"]) for seen in run.observed),
        run=run,
    )


@dataclass(frozen=True)
class Prior:
    """Theorem E: what is known of a run before its first step.

    Args:
        A: bound on A over Ω_ρ.
        by_width: bound on ε from Theorem B, ε₀ plus the turn; it holds for any step size.
        by_pairs: bound on ε from Theorem D, infinite if it says nothing, as for ηA² ≥ 1.
        value: the bound on the mean loss, infinite if ηA² ≥ 1.
    """

    A: float
    by_width: float
    by_pairs: float
    value: float

    @property
    def epsilon(self) -> float:
        """The smaller of the two."""
        return min(self.by_width, self.by_pairs)


def prior(
    R: Tensor,
    A0: float,
    epsilon: float,
    V0: float,
    nu: Sequence[float],
    *,
    eta: float,
    steps: int,
    rho: Sequence[float],
    sigma: Activation = TANH,
) -> Prior:
    """A bound on the mean loss of projected gradient descent that is known before the first step (Theorem E).

    Args:
        R: the longest U_i of each head in Ω_ρ, Float[Tensor, "m"] (``linearisation.longest``).
        A0: A at the initialisation, in Gram or in trace form, or a bound on it, at least 0.
        epsilon: ε₀, what f_lin misses at the comparator.
        V0: squared distance of the comparator.
        nu: (ν̄_c, ν̄_u, ν̄_w), √m times the comparator's longest displacements, at most those of ``rho``; partners are displaced oppositely.
        eta: step size η, above 0.
        steps: number of steps τ, at least 1.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        sigma: the activation; for ``by_pairs`` |σ‴| ≤ σ₃ is used, which the paper does not assume.

    Returns:
        The certificate and its parts.

    Raises:
        ValueError: an argument out of range, or a radius of ``nu`` above that of ``rho``.
    """
    horizon = arguments.positive("eta", eta) * arguments.count("steps", steps)
    if any(far > near for far, near in zip(radii(nu, 1), radii(rho, 1), strict=True)):
        raise ValueError(f"nu must not exceed rho = {tuple(rho)}, got {tuple(nu)}")
    A = min(
        arguments.at_least("A0", A0, 0.0) + float(width.gradient_drift(R, rho, sigma)),
        float(width.gradient_over_heads(R, rho[0], sigma)) ** 0.5,
    )
    by_width = epsilon + float(width.turn(R, rho, nu, sigma))
    theta = eta * A**2
    if theta >= 1:
        return Prior(A, by_width, math.inf, math.inf)
    # The turn of Theorem D is affine in Γ, and the bound on Γ affine in ε.
    still = float(cancellation.turn(R, rho, nu, 0.0, sigma))
    per_travel = float(cancellation.turn(R, rho, nu, 1.0, sigma)) - still
    feedback = per_travel * horizon / (1 - theta)
    start = epsilon + still + per_travel * cancellation.travel(horizon, V0, 0.0, theta)
    by_pairs = start / (1 - feedback) if feedback < 1 else math.inf
    best = min(by_width, by_pairs)
    return Prior(A, by_width, by_pairs, self_bounding.bound(best, V0, eta, steps, theta) ** 2)
