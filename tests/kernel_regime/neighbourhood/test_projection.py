"""Ω_ρ around students side by side: the projection of each is its own, and displacements are in the units of ρ."""

import pytest
import torch
from torch import Generator

from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.neighbourhood import region
from shallowformer.kernel_regime.neighbourhood.projection import Projection, longest_displacements

RHO = (1.0, 2.0, 0.5)


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
