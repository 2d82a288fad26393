"""At and above the threshold: what the risk of a finite context does where it is not of order 1/n."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.preconditioned import noise


def exponent(b: float) -> float:
    """α(b) = (√(1 + 4/b²) − 1)/2: for b = ‖B̃‖₂ ≥ 2^{−1/2} the risk of a fresh query is n^{−α(b)} up to powers of log n; α(2^{−1/2}) = 1."""
    arguments.at_least("b", b, noise.THRESHOLD * (1 - 1e-12))
    return (math.sqrt(1 + 4 / b**2) - 1) / 2


def at_threshold(A_tilde: Float[Tensor, "m d"], B_tilde: Float[Tensor, "d d"]) -> tuple[float, float]:
    """The law of the risk at ‖B̃‖₂ = 2^{−1/2}: n·E‖A(ẑ_n(x) − ΣBᵀx)‖² is asymptotically constant · (log n)^power.

    Returns: constant = ‖ÃV₁‖_F² (4/3)^{1 + k/2} / (2^{k/2} Γ(k/2) k(k + 2) √det(I − 2K₂)), and power = 1 + k/2.

    Args:
        B_tilde: B̃ of norm 2^{−1/2}, to 1e-9 and rounding; singular values as near to that count as equal to it.
    """
    d = arguments.floating("B_tilde", B_tilde, "d d").shape[0]
    m = arguments.floating("A_tilde", A_tilde, "m d").shape[0]
    arguments.shape("A_tilde", A_tilde, (m, d), "[m, d], d as in B_tilde")
    _, b, right = torch.linalg.svd(B_tilde)
    near = arguments.tolerance(1e-9, b)
    if abs(float(b[0]) - noise.THRESHOLD) > near:
        raise ValueError(f"B_tilde must have the norm 2^(-1/2), got {float(b[0])}")
    top = b > noise.THRESHOLD - near
    k = int(top.sum())
    energy = float((A_tilde @ right[top].T).square().sum())
    rest = float((1 - 2 * b[~top].square()).rsqrt().prod())
    scale = 2 ** (k / 2) * math.gamma(k / 2) * k * (k + 2)
    return energy * (4 / 3) ** (1 + k / 2) / scale * rest, 1 + k / 2
