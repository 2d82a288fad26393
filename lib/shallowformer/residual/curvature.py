"""The Hessian of the loss without forming it: products with a direction, its extreme eigenpairs by Lanczos, and the step size they allow."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float
from scipy.sparse.linalg import LinearOperator, eigsh
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Positive, Whole, contract
from shallowformer.residual import gradients, model
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.training import points


def flat(theta: Parameters) -> Float[Tensor, " D"]:
    """All entries of parameters, or of a direction in their space, block by block and row by row."""
    return torch.cat([W.flatten() for W in theta])


def folded(vector: Float[Tensor, " D"], like: Parameters) -> Parameters:
    """The inverse of ``flat``; ``like`` has the shapes."""
    parts = vector.split([W.numel() for W in like])
    return Parameters(*(part.reshape(W.shape) for part, W in zip(parts, like, strict=True)))


def product(
    X: Float[Tensor, "P N d"], Y: Float[Tensor, "P N K"], theta: Parameters, setting: Setting
) -> Callable[[Parameters], Parameters]:
    """δ ↦ ∇²Φ(θ)δ, the derivative of the closed-form gradient along δ. For ReLU the Hessian that there is away from kinks."""
    model.check(X, theta, setting, Y)
    blocks = Parameters(*(W.detach().requires_grad_() for W in theta))
    # The Hessian is symmetric, so the gradient's graph, recorded once and run backwards, gives every product.
    with torch.enable_grad():
        slope = gradients.unchecked(X, Y, blocks, setting).gradients
    run_back = lambda step: torch.autograd.grad(
        slope, blocks, step, retain_graph=True, materialize_grads=True
    )
    return lambda step: Parameters(*run_back(step))


def operator(
    X: Float[Tensor, "P N d"], Y: Float[Tensor, "P N K"], theta: Parameters, setting: Setting
) -> LinearOperator:
    """∇²Φ(θ) as an operator of scipy on flat vectors."""
    times, size, kind = product(X, Y, theta, setting), sum(W.numel() for W in theta), theta.W_Q

    def applied(vector: np.ndarray) -> np.ndarray:
        step = torch.from_numpy(np.array(vector).reshape(-1)).to(kind)
        return flat(times(folded(step, theta))).double().cpu().numpy()

    return LinearOperator((size, size), matvec=applied, dtype=np.float64)


@contract
def eigenpairs(
    X: Float[Tensor, "P N d"], Y: Float[Tensor, "P N K"], theta: Parameters, setting: Setting, k: Count = 1
) -> tuple[Float[Tensor, " {k}"], list[Parameters]]:
    """The k eigenvalues of ∇²Φ(θ) that are largest in size, the largest first, with unit eigenvectors, by Lanczos to machine precision."""
    H = operator(X, Y, theta, setting)
    arguments.at_most("k", k, "the number of parameters less one", H.shape[0] - 1)
    # A fixed start: random, so that no eigenvector is orthogonal to it, and the same in every call.
    start = np.random.default_rng(0).standard_normal(H.shape[0])
    if not H.matvec(start).any():
        raise ValueError("theta must have a Hessian other than 0 to find eigenvectors of, got norm 0")
    values, vectors = eigsh(H, k=k, which="LM", v0=start)
    order = np.argsort(-np.abs(values))
    found = [folded(torch.from_numpy(vectors[:, i].copy()).to(theta.W_Q), theta) for i in order]
    return torch.from_numpy(values[order]).to(theta.W_Q), found


def largest(
    X: Float[Tensor, "P N d"], Y: Float[Tensor, "P N K"], theta: Parameters, setting: Setting
) -> float:
    """‖∇²Φ(θ)‖, the largest |eigenvalue|."""
    return abs(float(eigenpairs(X, Y, theta, setting)[0][0]))


@contract
def largest_on_ball(
    X: Float[Tensor, "P N d"],
    Y: Float[Tensor, "P N K"],
    theta: Parameters,
    setting: Setting,
    radius: Positive,
    generator: Generator,
    extreme: Count = 4,
    random: Whole = 4,
) -> float:
    """The largest ‖∇²Φ‖ *found* at the centre of a ball and at chosen points of its sphere: a sample, no certificate.

    The points are θ ± radius·δ, δ the ``extreme`` eigenvectors of the largest |eigenvalues| at the centre, and ``random`` unit directions.
    """
    values, directions = eigenpairs(X, Y, theta, setting, extreme)
    for _ in range(random):
        drawn = [torch.randn(W.shape, generator=generator, dtype=W.dtype, device=W.device) for W in theta]
        size = points.norm(tuple(drawn))
        directions.append(Parameters(*(W / size for W in drawn)))
    found = [abs(float(values[0]))]
    for direction in directions:
        for sign in (1, -1):
            there = Parameters(*points.plus(theta, direction, sign * radius))
            found.append(largest(X, Y, there, setting))
    return max(found)


def step_size(
    X: Float[Tensor, "P N d"],
    Y: Float[Tensor, "P N K"],
    theta: Parameters,
    setting: Setting,
    margin: float = 1.05,
) -> float:
    """μ = 1/(margin · ‖∇²Φ(θ)‖); at most 1/L, as the theorems ask, wherever the Hessian stays below margin times that norm."""
    arguments.at_least("margin", margin, 1.0)
    return 1 / (margin * largest(X, Y, theta, setting))
