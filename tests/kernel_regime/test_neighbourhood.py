"""Ω_ρ: membership, projection, random and adversarial points."""

import math

import pytest
import torch
from torch import Generator

from checks import refused
from shallowformer.kernel_regime import neighbourhood, pairs, parameters
from shallowformer.kernel_regime.parameters import Parameters

RHO = (1.0, 2.0, 0.5)


def centre(m=6, d=3, dtype=torch.float64, seed=0):
    return parameters.symmetric(m, d, Generator().manual_seed(seed), dtype)


def away(phi0, scale, seed=1):
    other = parameters.random(phi0.m, phi0.d, Generator().manual_seed(seed), phi0.c.dtype)
    return Parameters(*(a + scale * b for a, b in zip(phi0.blocks, other.blocks, strict=True)))


def equal(a, b):
    return all(x.equal(y) for x, y in zip(a.blocks, b.blocks, strict=True))


def test_radii_of_a_head():
    assert neighbourhood.radii((2, 4, 0), 16) == (0.5, 1.0, 0.0)


def test_displacement_by_loops():
    phi0 = centre()
    phi = away(phi0, 0.3)
    c, U, W = neighbourhood.displacement(phi, phi0)
    for i in range(6):
        assert float(c[i]) == pytest.approx(abs(float(phi.c[i] - phi0.c[i])), rel=1e-14)
        assert float(U[i]) == pytest.approx(math.dist(phi.U[i].tolist(), phi0.U[i].tolist()), rel=1e-14)
        entries = (phi.W[i] - phi0.W[i]).flatten().tolist()
        assert float(W[i]) == pytest.approx(math.sqrt(sum(e * e for e in entries)), rel=1e-14)


def test_the_centre_is_inside_and_has_no_displacement():
    phi0 = centre()
    assert neighbourhood.contains(phi0, phi0, (0, 0, 0))
    assert all(not part.any() for part in neighbourhood.displacement(phi0, phi0))


@pytest.mark.parametrize("name", ["c", "U", "W"])
def test_one_block_outside_is_enough(name):
    phi0 = centre(m=4)
    blocks = {key: getattr(phi0, key).clone() for key in "cUW"}
    blocks[name][2] += 10
    assert not neighbourhood.contains(Parameters(**blocks), phi0, (1.0, 1.0, 1.0))


def test_the_tolerance_widens_the_ball():
    phi0 = parameters.random(1, 1, Generator()).map(torch.zeros_like)
    phi = Parameters(phi0.c + 1.1, phi0.U, phi0.W)
    assert not neighbourhood.contains(phi, phi0, RHO)
    assert not neighbourhood.contains(phi, phi0, RHO, tolerance=0.09)
    assert neighbourhood.contains(phi, phi0, RHO, tolerance=0.11)
    assert not neighbourhood.contains(Parameters(phi0.c + 1 + 1e-9, phi0.U, phi0.W), phi0, RHO)
    assert neighbourhood.contains(Parameters(phi0.c + 1, phi0.U, phi0.W), phi0, RHO, tolerance=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("m", "d"), [(2, 1), (6, 3), (8, 40)])
@pytest.mark.parametrize("scale", [0.1, 1.0, 1e6])
def test_a_projected_point_is_inside_and_stays(dtype, m, d, scale):
    phi0 = centre(m, d, dtype)
    once = neighbourhood.project(away(phi0, scale), phi0, RHO)
    assert neighbourhood.contains(once, phi0, RHO)
    assert equal(neighbourhood.project(once, phi0, RHO), once)


def test_what_is_inside_is_returned_bit_for_bit():
    phi0 = centre()
    phi = away(phi0, 1e-3)
    assert equal(neighbourhood.project(phi, phi0, RHO), phi)


def test_the_projection_is_radial():
    phi0 = centre(m=4)
    phi = away(phi0, 100.0)
    inside = neighbourhood.project(phi, phi0, RHO)
    for before, after, start, radius in zip(
        phi.blocks, inside.blocks, phi0.blocks, neighbourhood.radii(RHO, 4), strict=True
    ):
        for i in range(4):
            x, y = (before[i] - start[i]).flatten(), (after[i] - start[i]).flatten()
            assert float(y.norm()) == pytest.approx(radius, rel=1e-12)
            assert float(x @ y) == pytest.approx(float(x.norm() * y.norm()), rel=1e-12)


@pytest.mark.parametrize("size", [1e25, 1e38])
def test_a_diverged_point_is_projected_too(size):
    """The square of such an entry overflows in float32."""
    phi0 = centre(dtype=torch.float32)
    phi = phi0.map(lambda block: torch.full_like(block, size))
    inside = neighbourhood.project(phi, phi0, RHO)
    for length, radius in zip(
        neighbourhood.displacement(inside, phi0), neighbourhood.radii(RHO, 6), strict=True
    ):
        assert torch.allclose(length, torch.tensor(radius), rtol=1e-5)


def test_a_frozen_block_stays():
    phi0 = centre()
    inside = neighbourhood.project(away(phi0, 1.0), phi0, (0.0, 1.0, 1.0))
    assert inside.c.equal(phi0.c)
    assert not inside.U.equal(phi0.U)


def test_the_projection_keeps_dtype_and_inputs():
    phi0 = centre(dtype=torch.float32)
    phi = away(phi0, 1.0)
    copy = phi.map(torch.clone)
    assert neighbourhood.project(phi, phi0, RHO).W.dtype == torch.float32
    assert equal(phi, copy)


def test_random_points_have_their_radii():
    phi0 = centre(m=2000, d=2)
    radii = neighbourhood.radii(RHO, 2000)
    boundary = neighbourhood.random_boundary(phi0, RHO, Generator().manual_seed(0))
    for length, radius in zip(neighbourhood.displacement(boundary, phi0), radii, strict=True):
        assert torch.allclose(length, torch.full_like(length, radius), rtol=1e-9)
    interior = neighbourhood.random_interior(phi0, RHO, Generator().manual_seed(0))
    assert neighbourhood.contains(interior, phi0, RHO)
    for length, radius, dimension in zip(
        neighbourhood.displacement(interior, phi0), radii, (1, 2, 4), strict=True
    ):
        # (length/radius)^dimension is uniform: mean 1/2, variance 1/12; five standard errors
        uniform = (length / radius) ** dimension
        assert abs(float(uniform.mean()) - 0.5) < 5 * (1 / 12 / 2000) ** 0.5
        assert abs(float((uniform - 0.5).square().mean()) - 1 / 12) < 5 * (1 / 180 / 2000) ** 0.5


@pytest.mark.parametrize("draw", [neighbourhood.random_boundary, neighbourhood.random_interior])
def test_random_directions_are_isotropic_and_seeded(draw):
    phi0 = centre(m=4000, d=2)
    one, two = (pairs.difference(draw(phi0, RHO, Generator().manual_seed(5)), phi0) for _ in range(2))
    assert equal(one, two)
    assert 0.45 < float((one.c > 0).double().mean()) < 0.55
    direction = torch.nn.functional.normalize(one.U, dim=-1)
    assert direction.mean(0).norm() < 5 / 4000**0.5
    assert torch.allclose(direction.T @ direction / 4000, torch.eye(2, dtype=torch.float64) / 2, atol=0.04)


def test_no_point_beats_the_adversarial_one():
    phi0 = centre()
    g = parameters.random(6, 3, Generator().manual_seed(4))
    value = lambda phi: sum(
        float((a * b).sum()) for a, b in zip(g.blocks, pairs.difference(phi, phi0).blocks, strict=True)
    )
    best = neighbourhood.adversarial(g, phi0, RHO)
    assert neighbourhood.contains(best, phi0, RHO)
    assert value(best) == pytest.approx(float(neighbourhood.reach(g, RHO)), rel=1e-12)
    generator = Generator().manual_seed(0)
    assert all(value(neighbourhood.random_boundary(phi0, RHO, generator)) < value(best) for _ in range(200))


def test_a_zero_gradient_leaves_the_centre():
    phi0 = centre()
    assert equal(neighbourhood.adversarial(phi0.map(torch.zeros_like), phi0, RHO), phi0)


@pytest.mark.parametrize(
    ("rho", "given"),
    [((1.0, -1.0, 1.0), "-1.0"), ((1.0, 1.0), "(1.0, 1.0)"), (1.0, "1.0"), ((1.0, math.nan, 1.0), "nan"),
     ((1.0, math.inf, 1.0), "inf"), ("abc", "abc")],
)  # fmt: skip
@pytest.mark.parametrize("use", ["contains", "project", "adversarial"])
def test_bad_radii_are_refused(rho, given, use):
    phi0 = centre()
    with refused("rho", given, "at least 0"):
        getattr(neighbourhood, use)(phi0, phi0, rho)


def test_a_negative_tolerance_and_a_bad_width_are_refused():
    phi0 = centre()
    with refused("tolerance", "-0.1", "at least 0"):
        neighbourhood.contains(phi0, phi0, RHO, tolerance=-0.1)
    with refused("m", "0", "at least 1"):
        neighbourhood.radii(RHO, 0)


def test_another_shape_is_refused():
    with refused("phi.W", "(4, 3, 3)", "(6, 3, 3)"):
        neighbourhood.project(centre(m=4), centre(), RHO)
