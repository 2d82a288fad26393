"""Runs of the simulator in gap coordinates, recorded at chosen steps.

The loop is its own and not ``training.descent``'s: there a step is a gradient times a rate, and gradients here have no representable
size (e^{−2580}); runs side by side each have their own rate, momentum has a state, and records are spaced logarithmically. Plain
descent on the real model, by autograd or closed form, does go through ``training.descent`` and is what tests compare this with.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer import arguments
from shallowformer.token_selection.gaps import Problem
from shallowformer.token_selection.rules import Momentum, Rule, recorded_steps
from shallowformer.training.descent import Diverged


@dataclass(frozen=True)
class Alignment:
    """How a matrix W lies to W_mm, without cancellation: 1 − corr = ρ²/(‖W‖(‖W‖ + ⟨W, Ŵ⟩)) with the residual ρ."""

    norm: Float[np.ndarray, "*s"] | np.floating  # ‖W‖
    along: Float[np.ndarray, "*s"] | np.floating  # ⟨W, W_mm/‖W_mm‖⟩
    residual: Float[np.ndarray, "*s"] | np.floating  # ρ = ‖W − ⟨W, Ŵ⟩Ŵ‖
    #: 1 − ⟨W/‖W‖, Ŵ⟩; 1 at W = 0 and where W_mm does not exist
    one_minus_corr: Float[np.ndarray, "*s"] | np.floating


def alignment(
    z: Float[np.ndarray, "*s r"], target: Float[np.ndarray, "*s r"], rest: Float[np.ndarray, "*s"] | float
) -> Alignment:
    """How coordinates lie to a unit vector, or 0 if there is none; ``rest`` is the norm of what is orthogonal to all coordinates."""
    along = (z * target).sum(-1)
    residual = np.hypot(np.linalg.norm(z - along[..., None] * target, axis=-1), rest)
    norm = np.hypot(along, residual)
    size = np.where(norm > 0, norm, 1.0)
    apart = np.where(along > 0, residual * (residual / size) / (size + np.abs(along)), 1 - along / size)
    return Alignment(norm, along, residual, np.where(norm > 0, apart, 1.0))


@dataclass(frozen=True)
class Trajectory:
    """What was recorded of a run at k steps; *s are problems side by side."""

    steps: Int[Tensor, " k"]  # t, the number of steps made
    log_excess: Float[Tensor, " k *s"]  # log(L − L*)
    log_norm: Float[Tensor, " k *s"]  # log ‖∇L‖
    log_off: Float[Tensor, " k *s n"]  # log(1 − φ_{i,opt})
    log_best: Float[Tensor, " k *s n"]  # log φ_{i,opt}
    gaps: Float[Tensor, " k *s n others"]  # h_{i,t}
    norm: Float[Tensor, " k *s"]  # ‖W‖
    along: Float[Tensor, " k *s"]  # ⟨W, W_mm/‖W_mm‖⟩
    residual: Float[Tensor, " k *s"]  # ‖W − ⟨W, Ŵ⟩Ŵ‖
    one_minus_corr: Float[Tensor, " k *s"]  # 1 − ⟨W/‖W‖, W_mm/‖W_mm‖⟩; 1 at W = 0
    length: Float[Tensor, " k *s"]  # of the step that follows, without momentum
    pull: Float[Tensor, " k *s"]  # ⟨−∇L/‖∇L‖, W_mm/‖W_mm‖⟩
    z: Float[Tensor, " k *s r"]  # coordinates; ``problem.matrix`` makes W of them


def run(problem: Problem, rule: Rule, steps: int, at: Sequence[int] | None = None) -> Trajectory:
    """W ← W − s_t ∇L/‖∇L‖, s_t from a rule of ``rules``, for one problem or several side by side (``gaps.stacked``).

    Args:
        at: the steps to record, from 0 to ``steps``; 20 a decade, with the first and the last, if not given.
    """
    wanted = set(recorded_steps(steps) if at is None else (arguments.count("at", each, 0) for each in at))
    if not wanted or max(wanted) > steps:
        raise ValueError(f"at must hold steps from 0 to steps = {steps}, got {sorted(wanted)}")
    beta = rule.beta if isinstance(rule, Momentum) else 0.0
    z, velocity, kept = problem.z0.copy(), 0.0, []
    for t in range(steps + 1):
        now = problem.slope(z)
        length = rule.length(t, now.log_norm, now.log_excess)
        if not np.isfinite(length).all():
            raise Diverged(
                f"the step length is {float(length[~np.isfinite(length)][0])} at step {t}: {rule} grows without bound where the loss stays "
                "above its infimum and its gradient vanishes, because optimal tokens have lost their weight; cap the length"
            )
        if t in wanted:
            where = alignment(z, problem.target, problem.rest)
            kept.append({
                "steps": np.array(t), "log_excess": now.log_excess, "log_norm": now.log_norm, "log_off": now.weights.log_off,
                "log_best": now.weights.log_best, "gaps": problem.gaps(z), **vars(where), "length": length,
                "pull": (now.direction * problem.target).sum(-1), "z": z,
            })  # fmt: skip
        velocity = beta * velocity + length[..., None] * now.direction
        z = z + velocity
    return Trajectory(**{name: torch.from_numpy(np.stack([one[name] for one in kept])) for name in kept[0]})
