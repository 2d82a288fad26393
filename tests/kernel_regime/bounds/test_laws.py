"""The maximiser over laws against plain grids, against an upper bound by covering, and where its grids are coarse."""

import functools

import pytest
import torch

from checks import numbers
from shallowformer import activations
from shallowformer.activations import SINE, TANH
from shallowformer.kernel_regime.bounds import blocks, laws, smoothness

EVERY = (*activations.ALL, activations.stretched(TANH, 5.0), activations.stretched(SINE, 0.05))


@functools.lru_cache(1)
def curvatures(R, sigma):
    """The 2 × 2 matrices whose largest eigenvalue is L2, on a plain grid."""
    s = torch.linspace(0, 1, 401, dtype=torch.float64)[:, None]
    z = torch.linspace(-1, 1, 801, dtype=torch.float64)[None] * s * R
    s = s.expand_as(z)
    g = torch.stack([s, (1 - s**2) * R], -1)
    mixed = torch.zeros(*s.shape, 2, 2, dtype=torch.float64)
    mixed[..., 0, 1] = mixed[..., 1, 0] = 1 - s**2
    mixed[..., 1, 1] = 2 * s * (1 - s**2) * R
    A = sigma.second(z).abs()[..., None, None] * g[..., None] * g[..., None, :]
    return A + sigma.first(z).abs()[..., None, None] * mixed


def brute_force(R, sigma, r_u=None, r_w=None):
    """L2 or G2 on a plain grid."""
    A = curvatures(R, sigma)
    a, b, c = A[..., 0, 0], A[..., 0, 1], A[..., 1, 1]
    if r_u is None:
        return float(((a + c) / 2 + torch.hypot((a - c) / 2, b)).max())
    return float((r_u**2 * a + 2 * r_u * r_w * b + r_w**2 * c).max())


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("R", [0.0, 0.5, 2.0, 7.0])
def test_the_coupled_constants_are_the_maxima(R, sigma):
    grid = brute_force(R, sigma)
    assert grid * (1 - 1e-12) <= smoothness.L2(R, sigma) <= grid * (1 + 2e-4)
    for r_u, r_w in ((3.0, 3.0), (1.0, 0.2), (0.0, 2.0), (2.0, 0.0)):
        grid = brute_force(R, sigma, r_u, r_w)
        assert grid * (1 - 1e-12) <= blocks.G2(R, r_u, r_w, sigma) <= grid * (1 + 2e-4) + 1e-12


def test_a_ridge_between_the_axes_is_followed():
    R, r_u, r_w = 0.60046, 0.21294, 6.20943  # one grid alone stops 8e-6 short
    assert blocks.G2(R, r_u, r_w, activations.LOGISTIC) >= brute_force(R, activations.LOGISTIC, r_u, r_w) * (
        1 - 1e-12
    )
    assert blocks.G2(R, r_u, r_w, activations.LOGISTIC) > 5.06747


@functools.lru_cache(1)
def cells_of(R, sigma, cells=1500):
    """The ends of s, |σ″| ≤ |σ″(z)| + σ₃h and |σ′| ≤ |σ′(z)| + σ₂h on every cell of z, and which cells of both there are."""
    ends = torch.linspace(0, 1, cells + 1, dtype=torch.float64)
    low, high = ends[:-1, None], ends[1:, None]
    edges = torch.linspace(-1, 1, cells + 1, dtype=torch.float64) * R
    z, h = (edges[:-1] + edges[1:]) / 2, R / cells
    _, _, s2, s3 = sigma.bounds
    return low, high, sigma.second(z).abs() + s3 * h, sigma.first(z).abs() + s2 * h, z.abs() - h <= high * R


def cover(R, sigma, r_u, r_w):
    """At least G₂: on every cell of s and z a bound by the ends of s, and by |σ″| and |σ′| there."""
    low, high, second, first, inside = cells_of(R, sigma)
    step = r_u * high + r_w * (1 - low**2) * R
    mixed = (1 - low**2) * 2 * (r_u * r_w + r_w**2 * high * R)
    return float(torch.where(inside, second * step**2 + first * mixed, 0.0).max())


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("R", [0.3, 2.0, 7.0])
def test_nothing_is_missed_by_more_than_the_cells_of_a_cover(R, sigma):
    for r_u, r_w in ((3.0, 3.0), (1.0, 0.2), (0.0, 2.0), (2.0, 0.0)):
        found = blocks.G2(R, r_u, r_w, sigma)
        assert found <= cover(R, sigma, r_u, r_w) <= found * 1.015


@pytest.mark.parametrize("sigma", EVERY, ids=lambda sigma: sigma.name)
def test_finer_grids_and_more_peaks_find_nothing_higher(sigma, monkeypatch):
    generator = torch.Generator().manual_seed(0)
    R = 10 ** (4 * torch.rand(24, generator=generator, dtype=torch.float64) - 2)
    if sigma.name.startswith("sine"):
        R = R.clamp(max=50)
    radii = (10 ** (2 * torch.rand(5, 4, generator=generator, dtype=torch.float64) - 1)).tolist()
    find = lambda: torch.stack(
        [smoothness.L2(R, sigma), *(blocks.G2(R, *r[:2], sigma, tuple(r[2:])) for r in radii)]
    )
    found = find()
    monkeypatch.setattr(laws, "GRID", (401, 101))
    monkeypatch.setattr(laws, "PEAKS", 24)
    assert torch.allclose(find(), found, rtol=1e-12, atol=0)


@pytest.mark.parametrize("sigma", activations.ALL[:3], ids=lambda sigma: sigma.name)
def test_long_vectors_are_dominated_by_the_largest_curvature(sigma):
    # |σ″(z)|R²(1 − s²)² at the smallest s for z: a relative O(1/R) away from σ₂R²
    for R in (1e6, 1e8):
        assert smoothness.L2(R, sigma) == pytest.approx(sigma.bounds[2] * R**2, rel=10 / R)


def test_the_radii_may_come_in_any_order_and_twice():
    R = numbers(2.0, 0.5, 2.0, 7.0)
    one_by_one = torch.cat([blocks.G2(r[None], 1.0, 2.0) for r in R])
    assert torch.allclose(blocks.G2(R, 1.0, 2.0), one_by_one, rtol=1e-15, atol=0)


def test_the_second_order_is_differentiable_in_the_radius():
    R = numbers(0.5, 2.0, 7.0).requires_grad_()
    (slope,) = torch.autograd.grad(blocks.G2(R, 1.0, 2.0).sum(), R)
    difference = [(blocks.G2(r + 1e-5, 1.0, 2.0) - blocks.G2(r - 1e-5, 1.0, 2.0)) / 2e-5 for r in R.tolist()]  # fmt: skip
    assert torch.allclose(slope, numbers(*difference), rtol=1e-6)


def test_the_kind_and_the_shape_are_those_of_the_radii():
    square = lambda R, z, s: R * s**2 + 0 * z
    assert laws.largest(square, 3.0, TANH) == 3.0
    assert isinstance(laws.largest(square, 3.0, TANH), float)
    for shape in ((), (2,), (2, 3)):
        R = torch.full(shape, 3.0, dtype=torch.float64)
        assert torch.equal(laws.largest(square, R, TANH), R)
    assert laws.largest(square, numbers(1.0).float(), TANH).dtype == torch.float32


def test_on_the_edge_alone_z_is_sR():
    # With z free the largest −(|z| − R)²  would be 0 at |z| = R, s = 1; and −(|z| − sR)² everywhere on the edge.
    assert laws.largest(lambda R, z, s: -((z.abs() - s * R) ** 2), 2.0, TANH, free=False) == pytest.approx(
        0, abs=1e-20
    )
    inside = lambda R, z, s: s * R - z.abs()
    assert laws.largest(inside, 2.0, TANH) == pytest.approx(2.0)
    assert laws.largest(inside, 2.0, TANH, free=False) == pytest.approx(0, abs=1e-12)
