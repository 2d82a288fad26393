"""Bounds on gradients: against plain loops, against gradients in the neighbourhood, and at the start."""

import math

import pytest
import torch

from checks import refused
from shallowformer import activations, data
from shallowformer.kernel_regime.bounds import smoothness
from shallowformer.kernel_regime.convergence import gradient_norms
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model import gradients, parameters
from shallowformer.kernel_regime.neighbourhood import norm_event, region

THREES, ONES = (3.0, 3.0, 3.0), (1.0, 1.0, 1.0)


def start(m=16, d=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    X = data.clipped_gaussian(6, 5, d, generator)
    return X, parameters.symmetric(m, d, generator), generator


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_the_head_averages_in_plain_loops(sigma):
    R, rho_c, m = [0.5, 2.0, 3.0, 0.1], 1.0, 4
    s0, s1, _, _ = sigma.bounds
    lengths, loud = torch.tensor(R, dtype=torch.float64), 1 + rho_c / m**0.5
    squares = [(loud * s1 * max(1.0, r)) ** 2 for r in R]
    assert float(gradient_norms.A(lengths, rho_c, sigma)) ** 2 == pytest.approx(s0**2 + sum(squares) / m)
    readouts = 0 if sigma is activations.TANH else s0**2
    assert float(gradient_norms.gradient_over_heads(lengths, rho_c, sigma)) == pytest.approx(
        readouts + sum(squares) / m
    )


@pytest.mark.parametrize("rho", [ONES, THREES, (0.3, 2.0, 0.1)])
def test_the_gradient_bounds_hold_on_the_neighbourhood_and_are_in_order(rho):
    generator = torch.Generator().manual_seed(0)
    phi0 = parameters.symmetric(16, 3, generator)
    R = region.longest(phi0, rho[1])
    X = data.sphere(50, 4, 3, generator)
    bound = float(gradient_norms.A(R, rho[0]))
    for _ in range(5):
        phi = region.random_boundary(phi0, rho, generator)
        assert float(tangent_kernel.diagonal(X, phi).total.max()) <= bound**2
    assert norm_event.holds(phi0, 0.05)
    assert bound <= gradient_norms.A_paper(norm_event.B_U(16, 3, 0.05, rho[1]), rho[0], 16)


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_gradients_in_the_neighbourhood_obey_both_bounds(sigma):
    X, phi0, generator = start()
    R = region.longest(phi0, ONES[1])
    size = lambda blocks: sum(block.flatten(1).square().sum(1) for block in blocks)
    before = gradients.per_sample_gradient(X, phi0, sigma=sigma)
    for _ in range(5):
        phi = region.random_boundary(phi0, ONES, generator)
        after = gradients.per_sample_gradient(X, phi, sigma=sigma)
        assert size(after).max() <= gradient_norms.gradient_over_heads(R, ONES[0], sigma)
        moved = size([a - b for a, b in zip(after, before, strict=True)]).sqrt()
        assert moved.max() <= gradient_norms.gradient_drift(R, ONES, sigma)


def test_without_a_logarithm_by_hand():
    R = norm_event.root_mean_square_bound(64, 8, 1.5, 2.0)
    for sigma in (activations.TANH, activations.ERF):
        readouts = 0 if sigma is activations.TANH else sigma.bounds[0] ** 2
        by_hand = readouts + ((1 + 3 / 8) * sigma.bounds[1]) ** 2 * (1 + R**2)
        assert gradient_norms.gradient_no_log(64, 8, (3.0, 2.0, 1.0), 1.5, sigma) == pytest.approx(by_hand)


def test_the_gradient_at_the_start_is_below_its_bound():
    X, phi0, _ = start(m=64)
    assert float(tangent_kernel.diagonal(X, phi0).total.mean()) < gradient_norms.gradient_at_start(64, 3.0)
    assert gradient_norms.gradient_at_start(10**8, 1.0) == pytest.approx(1, abs=1e-3)
    assert gradient_norms.gradient_at_start(10**8, 1.0, activations.ERF) == pytest.approx(
        activations.ERF.bounds[0] ** 2 + activations.ERF.bounds[1] ** 2, abs=2e-3
    )


def test_the_gradient_at_the_start_by_hand():
    # tanh: the smaller of 1 + 1 + 2√(2x/m) + 4x/m and 1 + 2√(3x/m) + 4x/m
    assert gradient_norms.gradient_at_start(8, 1.0) == pytest.approx(1 + 2 * math.sqrt(3 / 8) + 0.5)
    s0, s1, _, _ = activations.ERF.bounds
    assert gradient_norms.gradient_at_start(8, 1.0, activations.ERF) == pytest.approx(
        s0**2 + s1**2 * (1 + 1 + 0.5)
    )


def test_the_change_of_a_head_by_hand():
    of_theta, of_c = gradient_norms.change_of_a_head(2.0, 3.0, (0.5, 3.0, 4.0))
    assert (of_theta, of_c) == (3 * 5 + 0.5 * 2, 2 * 5)
    R = torch.tensor([0.5, 2.0], dtype=torch.float64)
    L1, L2 = smoothness.L1(R), smoothness.L2(R)
    of_theta, _ = gradient_norms.change_of_a_head(L1, L2, ONES)
    first = torch.tensor([1.0625, 2.125], dtype=torch.float64)  # G₁(R; 1, 1)
    first[0] = 1.0  # s = 1
    by_hand = (of_theta**2 + first**2).mean() / 2
    assert float(gradient_norms.gradient_drift(R, ONES)) ** 2 == pytest.approx(float(by_hand))


def test_wrong_arguments_are_refused():
    R = torch.ones(4, dtype=torch.float64)
    refused("R", "-1", "at least 0", gradient_norms.A, -R, 1.0)
    refused("rho_c", "-1", "0", gradient_norms.A_paper, 1.0, -1.0, 4)
    with pytest.raises(ValueError, match="m must be even"):
        gradient_norms.gradient_at_start(3, 1.0)
    refused("R", "(1, 4)", "[m]", gradient_norms.gradient_over_heads, R[None], 1.0)
