"""Theorem A: the mean loss of projected gradient descent, against any comparator, with a gradient bounded by the loss itself.

With x_s² = L̂(φ⁽ˢ⁾), V_s = ‖φ⁽ˢ⁾ − φ̃‖² and ε_s the error of the comparator in the tangent model at φ⁽ˢ⁾,
V_{s+1} − V_s ≤ −4η[(1 − ηA_s²) x_s² − ε_s x_s]. ``follow`` runs gradient descent and measures all of this at every step.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime import descent, gradients, pairs
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.comparators import fixed_queries, one_column
from shallowformer.kernel_regime.loss import Loss
from shallowformer.kernel_regime.parameters import Parameters
from shallowformer.kernel_regime.queries import Query, last_token
from shallowformer.kernel_regime.transportation import pairing

#: The three ways to bound ‖∇L̂‖² ≤ 4A²L̂, from the one that is measured along the gradient itself to the loosest.
FORMS = ("along", "gram", "trace")


def bound(epsilon: float, V0: float, eta: float, steps: int, theta: float) -> float:
    """Theorem A: a bound on the root of the mean loss, ((1/τ) Σ_{s<τ} L̂(φ⁽ˢ⁾))^{1/2}.

    [ε + √(ε² + (1 − θ)V₀/(ητ))] / (2(1 − θ)).

    Args:
        epsilon: ε, at least 0, the largest error of the comparator along the run.
        V0: ‖φ⁽⁰⁾ − φ̃‖², at least 0.
        eta: step size η, above 0.
        steps: number of steps τ, at least 1.
        theta: θ ≥ ηA_s² for all s < τ, at least 0 and below 1.

    Returns:
        The bound.

    Raises:
        ValueError: an argument out of range.
    """
    arguments.at_least("epsilon", epsilon, 0.0)
    arguments.at_least("V0", V0, 0.0)
    arguments.positive("eta", eta)
    arguments.count("steps", steps)
    if arguments.at_least("theta", theta, 0.0) >= 1:
        raise ValueError(f"theta must be at least 0 and below 1, got {theta!r}")
    rest = 1 - theta
    return (epsilon + math.sqrt(epsilon**2 + rest * V0 / (eta * steps))) / (2 * rest)


def misfit(
    X: Tensor,
    y: Tensor,
    phi: Parameters,
    comparator: Parameters,
    query: Query = last_token,
    sigma: Activation = TANH,
) -> Tensor:
    """e_j = f(X⁽ʲ⁾; φ) + ⟨∇f(X⁽ʲ⁾; φ), φ̃ − φ⟩ − y⁽ʲ⁾: what the tangent model at φ makes of the comparator, less the label.

    Args:
        X: tokens in the unit ball, Float[Tensor, "n T d"].
        y: labels, Float[Tensor, "n"].
        phi: the iterate φ.
        comparator: φ̃, with the same shapes.
        query: how q_X is made.
        sigma: the activation.

    Returns:
        Float[Tensor, "n"]; ε is its root mean square.

    Raises:
        ValueError: as ``model.validated``; shapes, dtypes or devices differ.
    """
    arguments.shape("y", arguments.floating("y", y, "n"), (len(X),), "[n] as in X")
    return _misfit(gradients.features(X, phi, query, sigma), y, phi, comparator)


def _misfit(feature: gradients.Features, y: Tensor, phi: Parameters, comparator: Parameters) -> Tensor:
    delta = pairs.difference(comparator, phi)
    turned = Parameters(delta.c, phi.c[:, None] * delta.U, phi.c[:, None, None] * delta.W)
    return (feature.c @ phi.c + pairing(feature, turned).sum(1)) / phi.m**0.5 - y


def jacobian_gram(feature: gradients.Features, c: Tensor) -> Tensor:
    """The Gram matrix ⟨∇f_j, ∇f_k⟩ from features that are at hand.

    Args:
        feature: features of n samples and m heads.
        c: readouts, Float[Tensor, "m"].

    Returns:
        Float[Tensor, "n n"].
    """
    left = (c[:, None] * feature.w_left).flatten(1)
    right = (c[:, None] * feature.u).flatten(1)
    gram = feature.c @ feature.c.T + right @ right.T + (left @ left.T) * (feature.q @ feature.q.T)
    return gram / len(c)


def forms(gram: Tensor, residual: Tensor) -> dict[str, Tensor]:
    """The three A² with ‖∇L̂‖² ≤ 4A²L̂, from the Gram matrix of the gradients and the residuals r.

    Args:
        gram: ⟨∇f_j, ∇f_k⟩, Float[Tensor, "n n"].
        residual: r_j = f_j − y_j, Float[Tensor, "n"].

    Returns:
        ``along``: rᵀGr/(n‖r‖²), with equality (0 if r = 0); ``gram``: the largest eigenvalue over n; ``trace``: the mean of ‖∇f_j‖².
    """
    n, square = len(residual), residual @ residual
    along = residual @ gram @ residual / (n * square) if square > 0 else square
    return {
        "along": along,
        "gram": torch.linalg.eigvalsh(gram)[-1] / n,
        "trace": gram.diagonal().mean(),
    }


@dataclass(frozen=True)
class Trajectory:
    """The quantities of Theorem A at every iterate s = 0, …, τ of one run, against k comparators.

    Args:
        eta: step size.
        losses: L̂(φ⁽ˢ⁾), Float[Tensor, "τ+1"].
        V: ‖φ⁽ˢ⁾ − φ̃‖², Float[Tensor, "τ+1 k"].
        epsilon: ε_s, Float[Tensor, "τ+1 k"].
        gain: ⟨r, e⟩/n of residuals and misfits, at most x_s ε_s, Float[Tensor, "τ+1 k"].
        along: A_s² along the gradient, Float[Tensor, "τ+1"].
        gram: A_s² as an eigenvalue, Float[Tensor, "τ+1"].
        trace: A_s² as a trace, Float[Tensor, "τ+1"].
        run: what ``descent.run`` recorded.
    """

    eta: float
    losses: Tensor
    V: Tensor
    epsilon: Tensor
    gain: Tensor
    along: Tensor
    gram: Tensor
    trace: Tensor
    run: descent.Run

    @property
    def steps(self) -> int:
        """Number of steps τ."""
        return len(self.losses) - 1

    def theta(self, form: str = "gram") -> Tensor:
        """ηA_s² before each step.

        Args:
            form: ``along``, ``gram`` or ``trace``.

        Returns:
            Float[Tensor, "τ"].

        Raises:
            ValueError: another form.
        """
        if form not in FORMS:
            raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}")
        return self.eta * getattr(self, form)[:-1]

    def drift_bound(self, form: str = "gram") -> Tensor:
        """−4η[(1 − θ_s) x_s² − ε_s x_s], which V_{s+1} − V_s does not exceed.

        Args:
            form: ``along``, ``gram`` or ``trace``.

        Returns:
            Float[Tensor, "τ k"].

        Raises:
            ValueError: another form.
        """
        x = self.losses[:-1, None].sqrt()
        return -4 * self.eta * ((1 - self.theta(form)[:, None]) * x**2 - self.epsilon[:-1] * x)

    def mean_losses(self) -> Tensor:
        """(1/t) Σ_{s<t} L̂(φ⁽ˢ⁾) for t = 1, …, τ, Float[Tensor, "τ"]."""
        return self.losses[:-1].cumsum(0) / torch.arange(1, self.steps + 1, dtype=self.losses.dtype)

    def certificate(self, form: str = "gram") -> Tensor:
        """Theorem A's bound on ``mean_losses`` with everything measured, for every t; infinite from where θ ≥ 1.

        Args:
            form: ``along``, ``gram`` or ``trace``.

        Returns:
            Float[Tensor, "τ k"].

        Raises:
            ValueError: another form.
        """
        t = torch.arange(1, self.steps + 1, dtype=self.losses.dtype)[:, None]
        rest = 1 - self.theta(form).cummax(0).values[:, None]
        epsilon = self.epsilon[:-1].cummax(0).values
        root = epsilon + (epsilon**2 + rest.clamp(min=0) * self.V[0] / (self.eta * t)).sqrt()
        return torch.where(rest > 0, (root / (2 * rest)) ** 2, math.inf)

    def averaged_certificate(self, form: str = "gram") -> Tensor:
        """The bound before maxima over s are taken: the mean of ε_s x_s plus V₀/(4ηt), over 1 − θ.

        Args:
            form: ``along``, ``gram`` or ``trace``.

        Returns:
            A bound on ``mean_losses``, Float[Tensor, "τ k"].

        Raises:
            ValueError: another form.
        """
        t = torch.arange(1, self.steps + 1, dtype=self.losses.dtype)[:, None]
        rest = 1 - self.theta(form).cummax(0).values[:, None]
        pull = (self.epsilon[:-1] * self.losses[:-1, None].sqrt()).cumsum(0) / t
        return torch.where(rest > 0, (pull + self.V[0] / (4 * self.eta * t)) / rest, math.inf)


def observer(loss: Loss, comparators: Sequence[Parameters]) -> descent.Observer:
    """What ``descent.run`` is to record of a single student for Theorem A.

    Args:
        loss: the data set, with labels for one student.
        comparators: one or more φ̃.

    Returns:
        The observer; its entries are those of ``Trajectory``.

    Raises:
        ValueError: no comparator, or labels for several students.
    """
    if not comparators:
        raise ValueError("comparators must be at least one set of parameters, got none")
    y, query = one_column(loss), fixed_queries(loss)

    def observe(step: int, students: tuple[Parameters, ...]) -> Mapping[str, Tensor]:
        (phi,) = students
        feature = gradients.features(loss.X, phi, query, loss.sigma)
        residual = feature.c @ phi.c / phi.m**0.5 - y
        errors = torch.stack([_misfit(feature, y, phi, point) for point in comparators])
        return {
            "losses": residual.square().mean(),
            "V": torch.stack([pairs.norm(pairs.difference(phi, point)) ** 2 for point in comparators]),
            "epsilon": errors.square().mean(1).sqrt(),
            "gain": errors @ residual / loss.n,
            **forms(jacobian_gram(feature, phi.c), residual),
        }

    return observe


def follow(
    loss: Loss,
    phi0: Parameters,
    comparators: Sequence[Parameters],
    *,
    eta: float,
    steps: int,
    rho: Sequence[float] | None,
    batch: int | None = None,
    seed: int = 0,
) -> Trajectory:
    """Run projected gradient descent and measure the quantities of Theorem A at every iterate.

    Args:
        loss: the data set, with labels for one student.
        phi0: where to start.
        comparators: one or more φ̃; those outside Ω_ρ make no claim about a projected run.
        eta: step size η, above 0.
        steps: number of steps τ, at least 1.
        rho: radii of Ω_ρ; without projection if None.
        batch: samples a step, drawn with replacement; all of them, each once, if None.
        seed: seeds the batches.

    Returns:
        The trajectory.

    Raises:
        ValueError: an argument out of range.
        Diverged: a loss is not finite.
    """
    watch = observer(loss, comparators)
    run = descent.run(
        loss, phi0, eta=eta, steps=steps, rho=rho, batch=batch, seed=seed, every=1, observe=watch
    )
    names = run.observed[0].keys()
    return Trajectory(
        eta=eta, run=run, **{name: torch.stack([seen[name] for seen in run.observed]) for name in names}
    )
