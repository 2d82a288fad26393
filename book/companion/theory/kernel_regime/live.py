"""What the panel of the page *A run against its certificate, live* starts from: the same draws as ``book/_static/live_worker.js`` makes.

A small generator with a formula for every number, so that a page and the package can draw alike.
"""

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.contracts import Count, Even, Positive, Whole, contract
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model.parameters import Parameters

#: Dimension of a token, inputs and heads that make the labels.
D, ANCHORS, TEACHERS = 8, 8, 128


@contract
def gaussians(seed: Whole, stream: Whole, count: Count) -> Float[Tensor, " count"]:
    """Standard Gaussians by Box and Muller, from the uniform numbers of mulberry32 at (1000 seed + stream) · 2654435761."""
    k = np.arange(1, 2 * count + 1, dtype=np.uint64)
    start = (1000 * seed + stream) * 2654435761 % 2**32
    state = (np.uint64(start) + k * np.uint64(0x6D2B79F5)).astype(np.uint32)
    t = (state ^ state >> np.uint32(15)) * (state | np.uint32(1))
    t = (t + (t ^ t >> np.uint32(7)) * (t | np.uint32(61))) ^ t
    uniform = ((t ^ t >> np.uint32(14)).astype(np.float64) + 0.5) / 2**32
    found = np.sqrt(-2 * np.log(uniform[::2])) * np.cos(2 * math.pi * uniform[1::2])
    return torch.from_numpy(found)


def tokens(seed: int, stream: int, n: int, T: int) -> Float[Tensor, "n T d"]:
    """Gaussian tokens, those outside of the unit ball projected on it."""
    X = gaussians(seed, stream, n * T * D).view(n, T, D)
    return X / X.norm(dim=-1, keepdim=True).clamp(min=1)


def heads(
    seed: int, stream: int, N: int, more: int = 0
) -> tuple[Float[Tensor, "N more"], Float[Tensor, "N d"], Float[Tensor, "N d d"]]:
    """Gaussian U and W of N heads, after so many numbers more a head, which come first."""
    rows = gaussians(seed, stream, N * (more + D + D * D)).view(N, -1)
    return rows[:, :more], rows[:, more : more + D], rows[:, more + D :].reshape(N, D, D)


@contract
def start(
    m: Even, n: Count, T: Count, size: Positive, seed: Whole
) -> tuple[Float[Tensor, "n T d"], Float[Tensor, " n"], Parameters]:
    """Tokens, labels of root mean square ``size`` (the mean of kernel sections at a few inputs more), and a symmetric φ⁽⁰⁾ of m heads."""
    X, (_, U, W) = tokens(seed, 0, n, T), heads(seed, 2, TEACHERS)
    teacher = Parameters(torch.ones_like(U[:, 0]), U, W)
    y = tangent_kernel.finite(X, teacher, tokens(seed, 1, ANCHORS, T)).total.mean(1)
    c, U, W = heads(seed, 3, m // 2, 1)
    sign = torch.where(c[:, 0] < 0, -1.0, 1.0).to(U.dtype)
    phi0 = Parameters(torch.cat([sign, -sign]), U.repeat(2, 1), W.repeat(2, 1, 1))
    return X, size * y / y.square().mean().sqrt(), phi0
