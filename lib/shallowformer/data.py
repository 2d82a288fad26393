"""Token sequences in the unit ball: the paper's clipped Gaussian, the uniform law on the sphere, and two camps."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Whole, contract


@contract
def _gaussian(n: Count, T: Count, d: Count, generator: Generator, dtype: torch.dtype) -> Tensor:
    return torch.randn(n, T, d, generator=generator, dtype=dtype, device=generator.device)


def clipped_gaussian(
    n: int, T: int, d: int, generator: Generator, dtype: torch.dtype = torch.float64
) -> Float[Tensor, "n T d"]:
    """Standard Gaussian tokens; those outside the unit ball are projected onto it.

    For d = 8 a Gaussian token has norm below 1 with probability 0.0018, so nearly all tokens end on the sphere.

    Source: Arda, Cayci, Eryilmaz 2026, section 6.1.
    """
    X = _gaussian(n, T, d, generator, dtype)
    return X / torch.linalg.vector_norm(X, dim=-1, keepdim=True).clamp(min=1)


def sphere(
    n: int, T: int, d: int, generator: Generator, dtype: torch.dtype = torch.float64
) -> Float[Tensor, "n T d"]:
    """Independent tokens, uniform on the unit sphere."""
    return torch.nn.functional.normalize(_gaussian(n, T, d, generator, dtype), dim=-1)


@contract
def two_camps(direction: Float[Tensor, " d"], T: int, camp: Whole | None = None) -> Float[Tensor, "1 T d"]:
    """One sample whose tokens are +e (the first ``camp``) and −e (the rest): the worst case of most bounds here.

    Args:
        direction: not 0; e is its unit vector.
        camp: how many tokens are +e, from 0 to T; half of them (rounded down) if not given.
    """
    arguments.floating("direction", direction, "d")
    if not direction.abs().max() > 0:
        raise ValueError("direction must not be the zero vector, got norm 0")
    arguments.count("T", T, 2)
    camp = T // 2 if camp is None else camp
    if camp > T:
        raise ValueError(f"camp must be at most T = {T}, got {camp}")
    direction = direction / direction.abs().max()
    signs = torch.ones(T, dtype=direction.dtype, device=direction.device)
    signs[camp:] = -1
    return (signs[:, None] * direction / direction.norm())[None]


@contract
def repeated(X: Float[Tensor, "n T d"], copies: Count) -> Float[Tensor, "n {copies}*T d"]:
    """Every token so many times, side by side: no head can tell, and the last token stays the last."""
    arguments.floating("X", X, "n T d")
    return X.repeat_interleave(copies, dim=1)
