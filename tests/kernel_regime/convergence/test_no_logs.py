import math

import pytest
import torch

from shallowformer import activations, data
from shallowformer.kernel_regime.bounds import approximation, blocks, linearisation
from shallowformer.kernel_regime.convergence import change_of_features, no_logs
from shallowformer.kernel_regime.model import linear_model, parameters, transformer
from shallowformer.kernel_regime.neighbourhood import region

THREES, ONES = (3.0, 3.0, 3.0), (1.0, 1.0, 1.0)
SMALL = (0.4, 0.7, 0.2)


def start(m=16, d=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    X = data.clipped_gaussian(6, 5, d, generator)
    return X, parameters.symmetric(m, d, generator), generator


def test_the_turn_obeys_its_bounds_and_the_single_integral_is_the_smaller_one():
    X, phi0, generator = start()
    R = region.longest(phi0, 1.0)
    line, remainder = linearisation.B_lin(R, ONES), change_of_features.B_rem(R, ONES, ONES)
    bound = no_logs.turn_over_heads(R, ONES, ONES)
    assert bound < line + remainder
    for _ in range(5):
        phi, there = (region.random_boundary(phi0, ONES, generator) for _ in range(2))
        turn = linear_model.f_lin(X, there, phi) - linear_model.f_lin(X, there, phi0)
        assert turn.abs().max() <= bound
        gap = transformer.f(X, there) - linear_model.f_lin(X, there, phi0)
        assert gap.abs().max() <= line
        assert (gap - turn).abs().max() <= remainder


def test_readouts_alone_turn_the_tangent_by_the_bound():
    # Only c moves, and only θ of the comparator differs: δc ⟨∇h, δ̃θ⟩, at equal tokens and U = 0 equal to ρ_c ν̄_u per head.
    m, e = 4, torch.ones(1, 2, 1, dtype=torch.float64)
    zero = torch.zeros(m, 1, dtype=torch.float64)
    phi0 = parameters.Parameters(torch.tensor([1.0, 1, -1, -1]).double(), zero, zero[..., None])
    phi = parameters.Parameters(phi0.c + 0.5, phi0.U, phi0.W)
    there = parameters.Parameters(phi0.c, phi0.U + 0.5, phi0.W)
    turn = linear_model.f_lin(e, there, phi) - linear_model.f_lin(e, there, phi0)
    R = region.longest(phi0, 0.0)
    assert float(turn) == pytest.approx(
        float(no_logs.turn_over_heads(R, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))), rel=1e-12
    )


def test_the_leading_constant_and_the_orders_of_the_expansion():
    lead = {}
    for m in (100, 10_000):
        R = torch.full((m,), 3.0, dtype=torch.float64)
        lead[m] = no_logs.turn_without_dimension(R, THREES, ONES, 0.1)
    assert lead[100][0] * 10 == pytest.approx(no_logs.turn_leading(THREES, ONES) * (1 + math.sqrt(0.2)))
    assert float(lead[100][1]) == pytest.approx(100 * float(lead[10_000][1]))
    assert no_logs.turn_leading((0.0, 0.0, 0.0), ONES) == 0


def test_theorem_b_adds_approximation_and_turn():
    _, phi0, _ = start()
    R = region.longest(phi0, 3.0)
    both = approximation.rms_bernstein(ONES, 16, 0.1) + float(no_logs.turn_over_heads(R, THREES, ONES))
    assert no_logs.epsilon(R, THREES, ONES, 0.1) == pytest.approx(both)


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_the_turn_in_plain_loops(sigma):
    rho, nu, m = (0.5, 1.0, 2.0), (0.3, 0.7, 0.1), 4
    R = torch.tensor([0.5, 2.0, 3.0, 0.1], dtype=torch.float64)
    lines = rho[0] * blocks.G1(R, *nu[1:]) + (nu[0] + rho[0]) * blocks.G1(R, *rho[1:])
    bend = blocks.G2(R, *rho[1:], sigma, nu[1:]) + blocks.G2(R, *rho[1:], sigma) / 2
    by_hand = (sigma.bounds[1] * lines + 1.25 * bend).mean() / m**0.5
    assert float(no_logs.turn_over_heads(R, rho, nu, sigma)) == pytest.approx(float(by_hand), rel=1e-14)
