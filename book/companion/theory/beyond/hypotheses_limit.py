"""Theorem Z, limit kernel, without one hypothesis at a time: one unit token, Gaussian integrals."""

import torch

from companion.theory.beyond import bottleneck, one_token

F64 = torch.float64


def _source(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def narrow(kept: bool) -> tuple[float, float]:
    """E(K_m − K)² for m → ∞, and a thousandth: 1000 draws with a stream of 4096 (kept), or the floor with one of 8."""
    if not kept:
        return one_token.floor(8), 1e-3
    K = one_token.draws(4096, 1000, _source(1))
    return float((K - one_token.limit()).square().mean()), 1e-3


def few_heads(kept: bool) -> tuple[float, float]:
    """Variance of the block of c for N → ∞, of 4096 heads a network (kept), or of one; and a thousandth."""
    h = torch.tanh((1 + bottleneck.NU) ** 0.5 * bottleneck._NODES)
    variance = bottleneck.mean(h**4) - bottleneck.mean(h**2) ** 2
    return float(variance) / (4096 if kept else 1), 1e-3


def chosen_later(kept: bool) -> tuple[float, float]:
    """|Q̂ − ν| of 64 heads at a unit token in 65 dimensions, drawn by itself (kept), or at right angles to all U'_j; four standard deviations."""
    U = torch.randn(64, 65, generator=_source(2), dtype=F64)
    x = torch.randn(65, generator=_source(3), dtype=F64)
    x = x / x.norm() if kept else torch.linalg.svd(U).Vh[-1]
    squares = torch.tanh(bottleneck._NODES) ** 2
    deviation = ((bottleneck.mean(squares**2) - bottleneck.NU**2) / 64).sqrt()
    return abs(float(torch.tanh(U @ x).square().mean()) - bottleneck.NU), 4 * float(deviation)


def long_token(kept: bool) -> tuple[float, float]:
    """Variance of σ'(z)²‖ξ‖² of one head for N → ∞, and 4, at a token of length 1 (kept), or 1000."""
    length = 1.0 if kept else 1000.0
    # over z itself, as σ' is narrow beside the law of z
    z = torch.linspace(-20, 20, 4001, dtype=F64)
    read = float(one_token.reading(torch.tensor(length**2, dtype=F64)))
    t = length**2 + read
    density = torch.exp(-(z**2) / (2 * t)) / (2 * torch.pi * t) ** 0.5 * 0.01
    moment = lambda power: float((density / torch.cosh(z) ** (4 * power)).sum()) * t**power
    return moment(2) - moment(1) ** 2, 4.0


def signs(kept: bool) -> tuple[float, float]:
    """|E σ(U'x)² − ν| for d = x = 1, U' Gaussian (kept), or a sign; and a hundredth."""
    one = torch.ones((), dtype=F64)
    read = one_token.reading(one) if kept else torch.tanh(one) ** 2
    return abs(float(read) - bottleneck.NU), 1e-2
