"""Many residual coefficients side by side on one problem, under three rules for the step, and what their spectra are at the start."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer.residual import curvature, model, starts
from shallowformer.residual.descent import Regression
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.spectra import condition, smallest, spectrum
from shallowformer.training import descent
from shallowformer.training.points import Point

#: (g, g_f): attention's skip connection from none to four times the paper's, and neither of both.
COEFFICIENTS = (
    (0.0, 1.0), (0.25, 1.0), (0.5, 1.0), (0.75, 1.0), (1.0, 1.0), (1.5, 1.0), (2.0, 1.0), (4.0, 1.0), (0.0, 0.0),
)  # fmt: skip
#: One step for all; 1/λ_max of everyone's own start; the same from starts whose outputs have all the size of the targets.
RULES = ("fixed", "own", "level")
#: Steps at which losses are stored.
AT = (0, 100, 300, 1000, 3000)
#: A network whose loss exceeds its first one so many times is stopped: its steps are too long.
STOPPED = 1e6


@dataclass(frozen=True)
class OwnSteps(Regression):
    """Networks side by side, each with a step of its own: the gradient comes multiplied by it, for a run with η = 1."""

    mu: Float[Tensor, " s"]
    limit: Float[Tensor, " s"]

    def losses_and_gradient(
        self, point: Point, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, " s"], Point]:
        """Φ and μ∇Φ of every network; 0 for those that are stopped."""
        losses, gradient = super().losses_and_gradient(point, rows)
        steps = (self.mu * (losses < self.limit))[:, None, None]
        return losses, tuple(torch.where(steps > 0, steps * block, 0.0) for block in gradient)


def tolerance(config: object, stored: Mapping) -> dict[str, float]:
    """What another machine may change.

    Where a loss rises again and again, its steps are at the edge of stability, and a rounding error grows.
    """
    allowed = {f"{rule}.rises": math.inf for rule in RULES}
    for rule in RULES:
        edge = max(stored[rule]["rises"]) > 0.005
        allowed |= {f"{rule}.{name}": math.inf if edge else 0.02 for name in ("loss", "hidden_end")}
    return allowed


def level(
    X: Float[Tensor, "P N d"], Y: Float[Tensor, "P N K"], theta: Parameters, setting: Setting
) -> Parameters:
    """The same start, W_U times what makes the outputs as large as the targets, ‖F̄‖_F = ‖Ȳ‖_F."""
    return starts.scaled(theta, W_U=float(Y.norm() / model.outputs(X, theta, setting).norm()))


def sweep(
    X: Float[Tensor, "P N d"],
    Y: Float[Tensor, "P N K"],
    theta: Parameters,
    mu: float,
    steps: int,
    coefficients: Sequence[tuple[float, float]] = COEFFICIENTS,
) -> dict:
    """Descend with every coefficient (g, g_f) under every rule, all from θ⁽⁰⁾, the fixed step being μ.

    Returns: ``condition_X``: geometric mean of κ(X_p); ``unembedding``: σ_min(W_U). At the start, one number a pair: ``condition``
    (geometric mean of κ(Z_p)), ``smallest`` (least σ_min(Z_p)), ``hidden`` (σ_min(Ā)), ``curvature`` (‖∇²Φ‖). By rule: ``loss`` (a list a
    pair, at ``AT``), ``rises`` (share of the steps that made the loss larger), ``stopped``, ``hidden_end``.
    """
    settings = [Setting(*pair) for pair in coefficients]
    seen = [spectrum(X, theta, setting) for setting in settings]
    levels = [level(X, Y, theta, setting) for setting in settings]
    sharpness = [curvature.largest(X, Y, theta, setting) for setting in settings]
    begins = {"fixed": [theta] * len(settings), "own": [theta] * len(settings), "level": levels}
    lengths = {
        "fixed": [mu] * len(settings),
        "own": [1 / size for size in sharpness],
        "level": [1 / curvature.largest(X, Y, *start) for start in zip(levels, settings, strict=True)],
    }
    found = {
        "condition_X": float(condition(X).log().mean().exp()),
        "unembedding": float(smallest(theta.W_U)),
        "condition": [float(one.condition_Z.log().mean().exp()) for one in seen],
        "smallest": [float(one.smallest_Z.min()) for one in seen],
        "hidden": [float(one.sigma_A) for one in seen],
        "curvature": sharpness,
    }
    pairs = torch.tensor(coefficients, dtype=X.dtype)
    for rule in RULES:
        found[rule] = _run(X, Y, begins[rule], pairs, torch.tensor(lengths[rule], dtype=X.dtype), steps)
    return found


def _run(X: Tensor, Y: Tensor, begins: Sequence[Parameters], pairs: Tensor, mu: Tensor, steps: int) -> dict:
    s = len(pairs)
    X, Y = X.expand(s, *X.shape), Y.expand(s, *Y.shape)
    setting = Setting(pairs[:, 0].contiguous(), pairs[:, 1].contiguous())
    start = starts.side_by_side(begins)
    limit = STOPPED * Regression(X, Y, setting).losses(start)
    done = descent.run(OwnSteps(X, Y, setting, mu, limit), start, eta=1.0, steps=steps, every=steps)
    losses = torch.cat([done.step_losses, done.losses[-1:]])
    end = Parameters(*done.end)
    stopped = losses[-1] >= limit
    return {
        "loss": losses[[step for step in AT if step <= steps]].T.tolist(),
        "rises": (losses[1:] > losses[:-1] * (1 + 1e-12)).to(losses).mean(0).tolist(),
        "stopped": stopped.tolist(),
        "hidden_end": spectrum(X, end, setting).sigma_A.tolist(),
    }
