"""Least squares, what attention is to be compared with."""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, NonNegative, contract
from shallowformer.preconditioned.problems import Problem


def fit(X: Float[Tensor, "n d"], Y: Float[Tensor, "n m"]) -> Float[Tensor, "m d"]:
    """M̂, the minimiser of Σ_i ‖Mx_i − y_i‖²."""
    n, d = arguments.floating("X", X, "n d").shape
    arguments.shape("Y", Y, (n, arguments.floating("Y", Y, "n m").shape[1]), "[n, m], n as in X")
    arguments.same_kind("X", X, Y=Y)
    values = torch.linalg.svdvals(X)
    if n < d or not float(values[-1]) > max(n, d) * torch.finfo(X.dtype).eps * float(values[0]):
        raise ValueError(
            f"X must have rank d = {d}, got {n} rows with singular values down to {float(values[-1]):.3g}"
        )
    return torch.linalg.lstsq(X, Y).solution.T


def error(M_hat: Float[Tensor, "m d"], problem: Problem) -> Float[Tensor, ""]:
    """½‖(M̂ − M)Σ^½‖_F² = ½E‖M̂x − Mx‖², comparable with both 𝓔 and 𝓡_n."""
    arguments.shape("M_hat", arguments.floating("M_hat", M_hat, "m d"), tuple(problem.M.shape), "as M")
    return ((M_hat - problem.M) @ problem.root).square().sum() / 2


@contract
def expected_error(m: Count, d: Count, sigma: NonNegative, n: int) -> float:
    """mdσ²/(2(n − d − 1)), the mean of that of least squares. Source: The mean of an inverse Wishart matrix.

    Args:
        n: samples, at least d + 2: below, the mean is infinite.
    """
    arguments.count("n", n, d + 2)
    return m * d * sigma**2 / (2 * (n - d - 1))
