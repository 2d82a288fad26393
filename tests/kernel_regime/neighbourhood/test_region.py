"""Ω_ρ: membership, projection, random and adversarial points. Students side by side."""

import math

import pytest
import torch
from torch import Generator

from checks import refused
from shallowformer.kernel_regime.model import pairs, parameters
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.neighbourhood import region
from shallowformer.kernel_regime.neighbourhood.projection import Projection, longest_displacements

RHO = (1.0, 2.0, 0.5)


def centre(m=6, d=3, dtype=torch.float64, seed=0):
    return parameters.symmetric(m, d, Generator().manual_seed(seed), dtype)


def away(phi0, scale, seed=1):
    other = parameters.random(phi0.m, phi0.d, Generator().manual_seed(seed), phi0.c.dtype)
    return Parameters(*(a + scale * b for a, b in zip(phi0.blocks, other.blocks, strict=True)))


def equal(a, b):
    return all(x.equal(y) for x, y in zip(a.blocks, b.blocks, strict=True))


def test_radii_of_a_head():
    assert region.radii((2, 4, 0), 16) == (0.5, 1.0, 0.0)


def test_displacement_by_loops():
    phi0 = centre()
    phi = away(phi0, 0.3)
    c, U, W = region.displacement(phi, phi0)
    for i in range(6):
        assert float(c[i]) == pytest.approx(abs(float(phi.c[i] - phi0.c[i])), rel=1e-14)
        assert float(U[i]) == pytest.approx(math.dist(phi.U[i].tolist(), phi0.U[i].tolist()), rel=1e-14)
        entries = (phi.W[i] - phi0.W[i]).flatten().tolist()
        assert float(W[i]) == pytest.approx(math.sqrt(sum(e * e for e in entries)), rel=1e-14)


def test_the_centre_is_inside_and_has_no_displacement():
    phi0 = centre()
    assert region.contains(phi0, phi0, (0, 0, 0))
    assert all(not part.any() for part in region.displacement(phi0, phi0))


@pytest.mark.parametrize("name", ["c", "U", "W"])
def test_one_block_outside_is_enough(name):
    phi0 = centre(m=4)
    blocks = {key: getattr(phi0, key).clone() for key in "cUW"}
    blocks[name][2] += 10
    assert not region.contains(Parameters(**blocks), phi0, (1.0, 1.0, 1.0))


def test_the_tolerance_widens_the_ball():
    phi0 = parameters.random(1, 1, Generator()).map(torch.zeros_like)
    phi = Parameters(phi0.c + 1.1, phi0.U, phi0.W)
    assert not region.contains(phi, phi0, RHO)
    assert not region.contains(phi, phi0, RHO, tolerance=0.09)
    assert region.contains(phi, phi0, RHO, tolerance=0.11)
    assert not region.contains(Parameters(phi0.c + 1 + 1e-9, phi0.U, phi0.W), phi0, RHO)
    assert region.contains(Parameters(phi0.c + 1, phi0.U, phi0.W), phi0, RHO, tolerance=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("m", "d"), [(2, 1), (6, 3), (8, 40)])
@pytest.mark.parametrize("scale", [0.1, 1.0, 1e6])
def test_a_projected_point_is_inside_and_stays(dtype, m, d, scale):
    phi0 = centre(m, d, dtype)
    once = region.project(away(phi0, scale), phi0, RHO)
    assert region.contains(once, phi0, RHO)
    assert equal(region.project(once, phi0, RHO), once)


def test_what_is_inside_is_returned_bit_for_bit():
    phi0 = centre()
    phi = away(phi0, 1e-3)
    assert equal(region.project(phi, phi0, RHO), phi)


def test_the_projection_is_radial():
    phi0 = centre(m=4)
    phi = away(phi0, 100.0)
    inside = region.project(phi, phi0, RHO)
    for before, after, start, radius in zip(
        phi.blocks, inside.blocks, phi0.blocks, region.radii(RHO, 4), strict=True
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
    inside = region.project(phi, phi0, RHO)
    for length, radius in zip(region.displacement(inside, phi0), region.radii(RHO, 6), strict=True):
        assert torch.allclose(length, torch.tensor(radius), rtol=1e-5)


def test_a_frozen_block_stays():
    phi0 = centre()
    inside = region.project(away(phi0, 1.0), phi0, (0.0, 1.0, 1.0))
    assert inside.c.equal(phi0.c)
    assert not inside.U.equal(phi0.U)


def test_the_projection_keeps_dtype_and_inputs():
    phi0 = centre(dtype=torch.float32)
    phi = away(phi0, 1.0)
    copy = phi.map(torch.clone)
    assert region.project(phi, phi0, RHO).W.dtype == torch.float32
    assert equal(phi, copy)


def test_random_points_have_their_radii():
    phi0 = centre(m=2000, d=2)
    radii = region.radii(RHO, 2000)
    boundary = region.random_boundary(phi0, RHO, Generator().manual_seed(0))
    for length, radius in zip(region.displacement(boundary, phi0), radii, strict=True):
        assert torch.allclose(length, torch.full_like(length, radius), rtol=1e-9)
    interior = region.random_interior(phi0, RHO, Generator().manual_seed(0))
    assert region.contains(interior, phi0, RHO)
    for length, radius, dimension in zip(region.displacement(interior, phi0), radii, (1, 2, 4), strict=True):
        # (length/radius)^dimension is uniform: mean 1/2, variance 1/12; five standard errors
        uniform = (length / radius) ** dimension
        assert abs(float(uniform.mean()) - 0.5) < 5 * (1 / 12 / 2000) ** 0.5
        assert abs(float((uniform - 0.5).square().mean()) - 1 / 12) < 5 * (1 / 180 / 2000) ** 0.5


@pytest.mark.parametrize("draw", [region.random_boundary, region.random_interior])
def test_random_directions_are_isotropic_and_seeded(draw):
    phi0 = centre(m=4000, d=2)
    one, two = (parameters.difference(draw(phi0, RHO, Generator().manual_seed(5)), phi0) for _ in range(2))
    assert equal(one, two)
    assert 0.45 < float((one.c > 0).double().mean()) < 0.55
    direction = torch.nn.functional.normalize(one.U, dim=-1)
    assert direction.mean(0).norm() < 5 / 4000**0.5
    assert torch.allclose(direction.T @ direction / 4000, torch.eye(2, dtype=torch.float64) / 2, atol=0.04)


def test_no_point_beats_the_adversarial_one():
    phi0 = centre()
    g = parameters.random(6, 3, Generator().manual_seed(4))
    value = lambda phi: sum(
        float((a * b).sum()) for a, b in zip(g.blocks, parameters.difference(phi, phi0).blocks, strict=True)
    )
    best = region.adversarial(g, phi0, RHO)
    assert region.contains(best, phi0, RHO)
    assert value(best) == pytest.approx(float(region.reach(g, RHO)), rel=1e-12)
    generator = Generator().manual_seed(0)
    assert all(value(region.random_boundary(phi0, RHO, generator)) < value(best) for _ in range(200))


def test_a_zero_gradient_leaves_the_centre():
    phi0 = centre()
    assert equal(region.adversarial(phi0.map(torch.zeros_like), phi0, RHO), phi0)


def test_another_shape_is_refused():
    refused("phi.W", "(4, 3, 3)", "(6, 3, 3)", region.project, centre(m=4), centre(), RHO)


def test_projecting_may_wipe_out_the_part_in_which_partners_differ():
    zero = lambda *shape: torch.zeros(shape, dtype=torch.float64)
    phi0 = Parameters(zero(2), zero(2, 1), zero(2, 1, 1))
    phi = Parameters(zero(2), torch.tensor([[10.0], [1.0]], dtype=torch.float64), zero(2, 1, 1))
    before = [float(parameters.norm(part)) for part in pairs.parts(phi, phi0)]
    projected = region.project(phi, phi0, (1.0, 2**0.5, 1.0))
    after = [float(parameters.norm(part)) for part in pairs.parts(projected, phi0)]
    assert before == pytest.approx([5.5 * 2**0.5, 4.5 * 2**0.5])
    assert after == pytest.approx([2**0.5, 0.0], abs=1e-15)


def test_a_projected_antisymmetric_step_is_antisymmetric():
    generator = Generator().manual_seed(0)
    phi0, other = parameters.symmetric(6, 3, generator), parameters.random(6, 3, generator)
    apart = pairs.parts(other, phi0)[1]
    point = Parameters(*(a + b for a, b in zip(phi0.blocks, apart.blocks, strict=True)))
    together = pairs.parts(region.project(point, phi0, (0.5, 0.5, 0.5)), phi0)[0]
    assert float(parameters.norm(together)) < 1e-14


def test_the_boundary_is_reached_in_every_block_of_every_head():
    direction = parameters.random(9, 3, Generator().manual_seed(0))
    delta = region.on_boundary(direction, (1.0, 2.0, 3.0))
    for radius, block, along in zip((1, 2, 3), delta.blocks, direction.blocks, strict=True):
        assert torch.allclose(
            block.reshape(9, -1).norm(dim=1), torch.full((9,), radius / 3, dtype=torch.float64)
        )
        assert torch.nn.functional.cosine_similarity(block.reshape(9, -1), along.reshape(9, -1)).min() > 1 - 1e-12  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_boundary_is_reached_along_the_shortest_direction(dtype):
    tiny = parameters.random(4, 3, Generator().manual_seed(0)).map(lambda block: (1e-30 * block).to(dtype))
    delta = region.on_boundary(tiny, (1.0, 2.0, 3.0))
    for radius, block in zip((1, 2, 3), delta.blocks, strict=True):
        assert torch.allclose(block.reshape(4, -1).norm(dim=1), torch.full((4,), radius / 2, dtype=dtype))


def test_a_block_without_direction_stays():
    direction = parameters.random(6, 3, Generator().manual_seed(0))
    still = Parameters(direction.c, torch.zeros_like(direction.U), direction.W)
    assert region.on_boundary(still, (1, 1, 1)).U.abs().max() == 0


@pytest.mark.parametrize("k", range(3))
def test_a_radius_that_is_not_above_zero_is_refused(k):
    direction = parameters.random(6, 3, Generator().manual_seed(0))
    radius = [1.0, 1.0, 1.0]
    radius[k] = 0.0
    with pytest.raises(ValueError, match=rf"radius\[{k}\] must be a finite number above 0, got 0.0"):
        region.on_boundary(direction, tuple(radius))


def test_the_longest_is_reached():
    phi0 = parameters.symmetric(4, 3, Generator().manual_seed(0))
    stretched = phi0.U * (1 + 0.5 / phi0.U.norm(dim=-1, keepdim=True))
    assert torch.allclose(region.longest(phi0, 1.0), stretched.norm(dim=-1))


def students(dtype=torch.float64, scale=0.5):
    generator = Generator().manual_seed(0)
    starts = [parameters.symmetric(m, 3, generator, dtype) for m in (4, 8, 2)]
    moved = [parameters.plus(phi0, parameters.random(phi0.m, 3, generator, dtype), scale) for phi0 in starts]
    return starts, moved


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1e-3, 0.5, 100.0])
def test_each_student_is_projected_around_its_own_start(dtype, scale):
    starts, moved = students(dtype, scale)
    together = Students.of(*moved)
    blocks, shares = Projection(Students.of(*starts), RHO)(together.blocks)
    found = Students(*blocks, together.widths).apart()
    for k, (phi, phi0) in enumerate(zip(moved, starts, strict=True)):
        alone = region.project(phi, phi0, RHO)
        for a, b, share, before in zip(found[k].blocks, alone.blocks, shares[k], phi.blocks, strict=True):
            assert torch.allclose(a, b, rtol=0, atol=4 * torch.finfo(dtype).eps * max(1.0, scale))
            changed = (a != before).flatten(1).any(1) if a.ndim > 1 else a != before
            assert float(share) == pytest.approx(float(changed.double().mean()))


def test_displacements_are_in_the_units_of_rho():
    starts, moved = students()
    found = longest_displacements(Students.of(*starts), Students.of(*moved).blocks)
    for row, phi, phi0 in zip(found, moved, starts, strict=True):
        expected = [float(part.max()) * phi0.m**0.5 for part in region.displacement(phi, phi0)]
        assert row.tolist() == pytest.approx(expected)
