"""The tangent model of a layer at its start, F(φ⁽⁰⁾) + J(φ − φ⁽⁰⁾): its kernel G = JJᵀ, and its run in the space of outputs, F ← F − ηG∇ℓ."""

import itertools
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.one_layer.layer import SLOPES, outputs
from companion.theory.one_layer.problem import Point, Problem
from shallowformer.preconditioned.moments import Moments


def jacobian(made: Problem, point: Point | None = None) -> Float[Tensor, "nk p"]:
    """The derivatives of all outputs in the trained blocks, α included."""
    point = made.start if point is None else point
    trained = {name: point[name] for name in made.switches.trained}
    alone = lambda X, q, trained: outputs(X[None], q[None], point | trained, made.switches)[0]
    # An output sees its own sample only.
    blocks = torch.vmap(torch.func.jacrev(alone, 2), (0, 0, None))(made.X, made.q, trained)
    return torch.cat([block.flatten(0, 1).flatten(1) for block in blocks.values()], 1)


def moved(made: Problem, delta: Float[Tensor, " p"]) -> Point:
    """The start, moved by δ in its trained blocks."""
    point, sizes = dict(made.start), [made.start[name].numel() for name in made.switches.trained]
    for name, part in zip(made.switches.trained, delta.split(sizes), strict=True):
        point[name] = point[name] + part.view_as(point[name])
    return point


def gram(made: Problem) -> Float[Tensor, "nk nk"]:
    """The tangent kernel at the start."""
    J = jacobian(made)
    return J @ J.T


def unit(made: Problem) -> float:
    """What a step of 1 is: n/(α²λ), λ the largest eigenvalue of the start's tangent kernel at α = 1; 1 for normalised; 1/(ŝ₁ + ŝ_r) for preconditioned."""
    if made.switches.rule == "normalised":
        return 1.0
    if made.switches.rule == "preconditioned":
        s = Moments.of(made.q, made.y).singular_values
        return 1 / float(s[0] + s[-1])
    return len(made.y) / float(torch.linalg.eigvalsh(gram(made))[-1])


def output_run(
    made: Problem, G: Float[Tensor, "s N N"], F0: Float[Tensor, "n k"], at: Sequence[int]
) -> tuple[Float[Tensor, "s n k"], list[Float[Tensor, " N"]]]:
    """Descent in the space of outputs under a kernel that is given at some steps, and between them on the line from one to the next.

    Args:
        at: these steps, increasing, from 0 on.

    Returns: outputs at these steps, and the weights w by which gradients of the start have been added up.
    """
    slopes, w, F = SLOPES[made.switches.loss], torch.zeros_like(F0).flatten(), F0
    kept = [(F, w)]
    for before, (step, after) in enumerate(itertools.pairwise(at)):
        for between in range(step, after):
            part = (between + 0.5 - step) / (after - step)
            slope = slopes(F, made.y).flatten() / len(made.y)
            change = torch.lerp(G[before] @ slope, G[before + 1] @ slope, part)
            length = made.eta
            if made.switches.rule == "normalised":
                length = length / (slope @ change).sqrt()
            F, w = F - (length * change).view_as(F), w - length * slope
        kept.append((F, w))
    return torch.stack([F for F, _ in kept]), [w for _, w in kept]
