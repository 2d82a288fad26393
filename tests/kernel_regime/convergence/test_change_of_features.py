"""The error terms of Theorem 1's proof: the paper's bounds for a head by hand, and the joint remainder."""

import pytest
import torch
from torch import Generator

from checks import refused
from shallowformer import activations, data
from shallowformer.kernel_regime.bounds import blocks, smoothness
from shallowformer.kernel_regime.convergence import change_of_features
from shallowformer.kernel_regime.model import linear_model, parameters, transformer
from shallowformer.kernel_regime.neighbourhood import region

ONES = (1.0, 1.0, 1.0)


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_the_remainder_in_plain_loops(sigma):
    R, rho, nu, m = [0.5, 2.0, 3.0, 0.1], (1.0, 2.0, 0.5), (0.5, 1.0, 0.5), 4
    s1, loud = sigma.bounds[1], 1 + rho[0] / m**0.5
    u, w = rho[1] + nu[1], rho[2] + nu[2]
    per_head = [
        (rho[0] + nu[0]) * s1 * blocks.G1(r, u, w) + 0.5 * loud * blocks.G2(r, u, w, sigma) for r in R
    ]
    found = change_of_features.B_rem(torch.tensor(R, dtype=torch.float64), rho, nu, sigma)
    assert float(found) == pytest.approx(sum(per_head) / m**1.5, rel=1e-12)


def test_the_bounds_for_a_head_by_hand():
    B, rho, nu, m = 2.0, (1.0, 2.0, 2.0), (1.0, 0.0, 0.0), 16
    L1, L2, r = smoothness.L1_paper(B), smoothness.L2_paper(B), 8**0.5
    each = change_of_features.heads_paper(B, rho, nu, m)
    assert each.reach == pytest.approx((3 + 1) / 4)
    assert each.change == pytest.approx(((L1 + L2) * r + L1) / 16)
    assert each.change_c == pytest.approx(L1 * r / 16)
    assert each.gradient == pytest.approx((1 + 1.25 * L1) / 4)
    assert change_of_features.B_cof_paper(B, rho, nu, m) == pytest.approx(((L1 + L2) * r + L1) * 4 / 4)


def _slope(X, phi, step):
    output = lambda c, U, W: transformer.f(X, parameters.Parameters(c, U, W))
    return torch.autograd.functional.jvp(output, phi.blocks, step.blocks)[1]


def test_the_remainder_is_below_its_bound():
    generator = Generator().manual_seed(1)
    phi0 = parameters.symmetric(8, 3, generator)
    X = data.sphere(30, 4, 3, generator)
    bound = float(change_of_features.B_rem(region.longest(phi0, 1.0), ONES, (0.5, 0.5, 0.5)))
    largest = 0.0
    for _ in range(20):
        phi = region.random_boundary(phi0, ONES, generator)
        tilde = region.random_boundary(phi0, (0.5, 0.5, 0.5), generator)
        step = parameters.Parameters(*(b - a for a, b in zip(phi.blocks, tilde.blocks, strict=True)))
        rem = linear_model.head_errors(X, phi, step).sum(1)
        assert torch.allclose(
            rem, transformer.f(X, tilde) - transformer.f(X, phi) - _slope(X, phi, step), atol=1e-12
        )
        largest = max(largest, float(rem.abs().max()))
    assert 0 < largest <= bound


def test_a_mapping_that_leads_outside_is_refused():
    R = torch.ones(4, dtype=torch.float64)
    refused("nu_u", "2", "rho_u = 1", change_of_features.B_rem, R, ONES, (1.0, 2.0, 1.0))
    refused("nu_c", "2", "rho_c = 1", change_of_features.B_rem_closed, 1.0, 4, ONES, (2.0, 1.0, 1.0))
    change_of_features.require_inside(ONES, ONES)
