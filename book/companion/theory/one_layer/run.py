"""A run of the layer: what theories predict, measured."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.one_layer.layer import LOSSES, outputs
from companion.theory.one_layer.problem import Point, Problem, checkpoints
from shallowformer.preconditioned import algorithm
from shallowformer.preconditioned.moments import Moments


def run(problem: Problem) -> Float[Tensor, " s"]:
    """What is left of the trivial loss at the ``checkpoints``; infinite from where a run diverges."""
    return run_many([problem])[0]


def run_many(made: Sequence[Problem], at: Sequence[int] | None = None) -> Float[Tensor, "r s"]:
    """The same for problems of one shape, whose switches are equal up to α, side by side; at other steps if these are given."""
    at = set(at or checkpoints(made[0].steps))
    if made[0].switches.rule == "preconditioned":
        return torch.stack([preconditioned(problem, at) for problem in made])
    left = [share for step, (share, _) in enumerate(descent(made)) if step in at]
    return torch.stack(left, 1).nan_to_num(torch.inf, torch.inf)


def descent(made: Sequence[Problem]) -> Iterator[tuple[Float[Tensor, " r"], Point]]:
    """What is left of the trivial loss and the trained blocks of all runs, before every step and after the last; the next step moves these blocks."""
    switches = made[0].switches
    stack = lambda values: torch.stack(list(values))
    X, q, y = (stack(getattr(problem, name) for problem in made) for name in ("X", "q", "y"))
    start = {name: stack(problem.start[name] for problem in made) for name in "CUW"}
    point = {name: start[name].clone().requires_grad_() for name in switches.trained}
    alpha = torch.tensor([problem.switches.alpha for problem in made], dtype=X.dtype)[:, None, None]
    eta = torch.tensor([problem.eta for problem in made], dtype=X.dtype)
    value, unit = LOSSES[switches.loss], replace(switches, alpha=1.0)
    trivial = value(torch.zeros_like(y), y).mean(-1)
    for step in range(made[0].steps + 1):
        F = alpha * outputs(X, q, start | point, unit)
        loss = value(F, y).mean(-1)
        yield (loss / trivial).detach(), {name: block.detach() for name, block in point.items()}
        if step == made[0].steps:
            return
        slopes = torch.autograd.grad(loss.sum(), list(point.values()))
        length = eta
        if switches.rule == "normalised":
            size = torch.stack([slope.square().flatten(1).sum(1) for slope in slopes]).sum(0).sqrt()
            # 0 where softmax is saturated: no direction is left.
            length = torch.where(size > 0, eta / size, 0.0)
        with torch.no_grad():
            for block, slope in zip(point.values(), slopes, strict=True):
                block -= length.view(-1, *[1] * (slope.dim() - 1)) * slope


def factors(
    problem: Problem,
) -> tuple[algorithm.Algorithm, tuple[Float[Tensor, "k d"], Float[Tensor, "d d"]]]:
    """The structure-aware algorithm on the problem's data, and the start in its whitened coordinates: of equal norm, as only their product counts."""
    switches, eye = problem.switches, torch.eye(problem.m, dtype=problem.X.dtype)
    shared = bool((problem.q == problem.X).all())
    if (switches.heads, switches.activation, switches.loss, switches.skip) != (
        "shared",
        "identity",
        "squared",
        0.0,
    ):
        raise ValueError(
            f"the preconditioned rule needs shared heads, identity, squared loss and no skip, got {switches}"
        )
    if (
        set(switches.trained) != set("UW")
        or not torch.equal(problem.start["C"], problem.m**0.5 * eye)
        or not shared
    ):
        raise ValueError(
            "the preconditioned rule needs C = √m I, U and W trained, and the queries as the context of each"
        )
    A, B = switches.alpha * problem.start["U"], problem.start["W"][0].T
    root = Moments.of(problem.q, problem.y).root
    U, V = A @ root, root @ B @ root
    radius = float(torch.linalg.matrix_norm(V, 2))
    c = float((U.norm() / V.norm()).sqrt())
    return algorithm.Algorithm(problem.q, problem.y, radius=radius, allow_large_radius=True), (U / c, c * V)


def preconditioned(problem: Problem, at: set[int]) -> Float[Tensor, " s"]:
    """The structure-aware algorithm of part four at some steps; its radius is that of the start."""
    objective, point = factors(problem)
    trivial, left = 0.5 * problem.y.square().sum(-1).mean(), []
    for step in range(problem.steps + 1):
        loss, slope = objective.losses_and_gradient(point)
        if not loss.isfinite():
            break
        if step in at:
            left.append(loss[0] / trivial)
        point = tuple(block - problem.eta * each for block, each in zip(point, slope, strict=True))
    return torch.stack(left + [torch.full_like(trivial, torch.inf)] * (len(at) - len(left)))
