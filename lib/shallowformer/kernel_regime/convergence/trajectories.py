"""Theorem A along runs of this model: the misfit of a comparator, and every quantity of the theorem at every step.

The theorem itself, its bound and its three forms of A² are in ``training.self_bounding``.
"""

from collections.abc import Mapping, Sequence

from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.kernel_regime.convergence import descent
from shallowformer.kernel_regime.model.gradients import features
from shallowformer.kernel_regime.model.linear_model import Tangent
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters, difference
from shallowformer.queries import Query, last_token
from shallowformer.training import self_bounding
from shallowformer.training.points import Point


def misfit(
    X: Float[Tensor, "n T d"],
    y: Float[Tensor, " n"],
    phi: Parameters,
    comparator: Parameters,
    query: Query = last_token,
    sigma: Activation = TANH,
) -> Float[Tensor, " n"]:
    """e_j = f(X⁽ʲ⁾; φ) + ⟨∇f(X⁽ʲ⁾; φ), φ̃ − φ⟩ − y⁽ʲ⁾: what the tangent model at φ makes of the comparator φ̃, less the label.

    ε is the root mean square of these misfits.
    """
    arguments.shape("y", arguments.floating("y", y, "n"), (len(X),), "[n] as in X")
    tangent = Tangent(features(X, phi, query, sigma), phi.c, y)
    away = difference(comparator, phi).blocks
    return self_bounding.misfit(tangent, tuple(block[None] for block in away))[0]


def observer(loss: Loss, comparators: Sequence[Parameters]) -> descent.Observer:
    """What ``descent.run`` is to record of one student for Theorem A with one or more φ̃: ``training.self_bounding.Trajectory`` lists it."""
    y = loss.labels

    def tangent(point: Point) -> Tangent:
        phi = Parameters(*point)
        return Tangent(features(loss.X, phi, loss.query, loss.sigma), phi.c, y)

    watch = self_bounding.observer(tangent, [point.blocks for point in comparators])

    def observe(step: int, students: tuple[Parameters, ...]) -> Mapping[str, Float[Tensor, "..."]]:
        (phi,) = students
        return watch(step, phi.blocks)

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
) -> self_bounding.Trajectory:
    """Run projected gradient descent and measure the quantities of Theorem A at every iterate.

    ``certificates.follow`` measures less, for problems that are large.

    Args:
        comparators: one or more φ̃; those outside Ω_ρ make no claim about a projected run.
        batch: samples a step, drawn with replacement; all of them, each once, if None.
    """
    watch = observer(loss, comparators)
    run = descent.run(
        loss, phi0, eta=eta, steps=steps, rho=rho, batch=batch, seed=seed, every=1, observe=watch
    )
    return self_bounding.Trajectory.of(run, eta)
