"""A run of the layer: what theories predict, measured."""

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.one_layer.layer import LOSSES
from companion.theory.one_layer.problem import Problem, checkpoints, moves
from shallowformer.preconditioned import algorithm
from shallowformer.preconditioned.moments import Moments


def run(problem: Problem) -> Float[Tensor, " s"]:
    """What is left of the trivial loss at the ``checkpoints``; infinite from where a run diverges."""
    rule = preconditioned if problem.switches.rule == "preconditioned" else stepped
    return rule(problem)


def stepped(problem: Problem) -> Float[Tensor, " s"]:
    """Plain or normalised descent on the mean loss."""
    point = {name: block.clone().requires_grad_() for name, block in moves(problem).items()}
    value, left = LOSSES[problem.switches.loss], []
    at = set(checkpoints(problem.steps))
    for step in range(problem.steps + 1):
        F = problem.outputs(problem.start | point)
        if step in at:
            left.append(problem.loss(F.detach()))
        loss = value(F, problem.y).mean()
        if not loss.isfinite():
            break
        slopes = torch.autograd.grad(loss, list(point.values()))
        length = problem.eta
        if problem.switches.rule == "normalised":
            size = float(torch.stack([slope.square().sum() for slope in slopes]).sum().sqrt())
            length = length / size if size > 0 else 0.0  # softmax is saturated: there is no direction left
        with torch.no_grad():
            for block, slope in zip(point.values(), slopes, strict=True):
                block -= length * slope
    return torch.stack(left + [left[0] + torch.inf] * (len(at) - len(left))).nan_to_num(torch.inf, torch.inf)


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
    return algorithm.Algorithm(problem.q, problem.y, radius=radius), (U / c, c * V)


def preconditioned(problem: Problem) -> Float[Tensor, " s"]:
    """The structure-aware algorithm of part four; its radius is that of the start."""
    objective, start = factors(problem)
    done = algorithm.run(objective, start, problem.steps, eta=problem.eta)
    trivial = 0.5 * problem.y.square().sum(-1).mean()
    return done.loss[checkpoints(problem.steps)] / trivial
