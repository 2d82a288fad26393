"""What single tokens of a context that all queries share do to the gradient: T = E_x[x ẑ(bx)] − b for one-dimensional tokens and queries.

At A = 0 and B = b uuᵀ the difference of the gradients on data and in the limit is −M̃u T, up to O(n^{−1/2}).
"""

import math

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import log_ndtr, ndtri_exp
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Positive, contract

#: Queries for the mean over x: softmax averages are analytic in x, so an even spacing is enough.
_STEP, _FAR = 0.2, 7.0
#: Entries of a block of scores.
_BLOCK = 2**22


@contract
def influence(t: Float[Tensor, "..."], b: Positive) -> Float[Tensor, "..."]:
    """h(t) = b(1 + b²)^{−3/2}(t²/(1 + b²) − 1)e^{b²t²/(2(1 + b²))}: to first order T is the mean of h over the tokens."""
    room = 1 + b**2
    square = t.square() / room
    return b * room**-1.5 * (square - 1) * (b**2 * square / 2).exp()


@contract
def variance(b: Positive) -> float:
    """E h(t)² for t ∼ N(0, 1): 2b²(1 − b⁴)^{−3/2} + 3b⁶(1 − b⁴)^{−5/2}, infinite from b = 1 on."""
    room = 1 - b**4
    return 2 * b**2 * room**-1.5 + 3 * b**6 * room**-2.5 if room > 0 else math.inf


@contract
def exponent(b: Positive) -> float:
    """min{½, 1/(1 + b²)}: with shared or self contexts the gradient is off by n to minus this, up to n^{o(1)}, uniformly over ‖B̃‖₂ ≤ b."""
    return min(0.5, 1 / (1 + b**2))


@contract
def deviation(tokens: Float[Tensor, "contexts n"], b: Positive) -> Float[Tensor, " contexts"]:
    """T of several contexts, one a row with |x_j| ≤ 20, for b ≤ 3, all queries by quadrature; error about 1e-8."""
    arguments.floating("tokens", tokens, "contexts n")
    if not (b <= 3 and float(tokens.abs().max()) <= 20):
        raise ValueError(
            f"b must be at most 3 and tokens at most 20 in size, got {b} and {tokens.abs().max()}"
        )
    x = torch.arange(-_FAR, _FAR + _STEP / 2, _STEP, dtype=torch.float64)
    mass = (-x.square() / 2).exp() * x * _STEP / math.sqrt(2 * math.pi)
    found = []
    for part in tokens.split(max(1, _BLOCK // (len(x) * tokens.shape[1]))):
        scores = b * x[:, None] * part[:, None, :]
        # No shift is needed: scores are at most 420.
        weights = scores.exp_()
        z = torch.einsum("cqn,cn->cq", weights, part) / weights.sum(2)
        found.append(z @ mass)
    return torch.cat(found) - b


@contract
def among(tokens: Float[Tensor, " n"], b: Positive) -> Float[Tensor, ""]:
    """T where the queries are the tokens: n^{−1}Σ_i x_i ẑ(bx_i) − b."""
    p = torch.softmax(torch.outer(b * tokens, tokens), 1)
    return tokens @ (p @ tokens) / len(tokens) - b


def jump(b: float, log_n: float) -> tuple[float, float]:
    """The logarithm of the change of T when the largest token of a typical context moves from y to y + 1/y; and y.

    Of the n tokens all but the largest are spread like the normal law below y, where n Q(y) = 1.
    """
    if not (0 < b <= 10 and 3 <= log_n <= 1e4):
        raise ValueError(f"b must be in (0, 10] and log_n in [3, 1e4], got {b} and {log_n}")
    y = -float(ndtri_exp(-log_n))
    x = np.arange(-9.0, y + 9.0, 0.02)
    q = b * x
    # Of the others, in units of n e^{q²/2}: the logarithm of their weight, and their mean.
    others = log_ndtr(y - q)
    mean = q - np.exp(-((y - q) ** 2) / 2 - others) / math.sqrt(2 * math.pi)
    # The largest token's share of the weight times the density of x, in logarithms.
    shares = [-np.logaddexp(0, others - q * top + q**2 / 2 + log_n) - x**2 / 2 for top in (y, y + 1 / y)]
    most = max(each.max() for each in shares)
    before, after = (
        (np.exp(share - most) * x * (top - mean)).sum()
        for share, top in zip(shares, (y, y + 1 / y), strict=True)
    )
    change = (after - before) * 0.02 / math.sqrt(2 * math.pi)
    return math.log(change) + most, y
