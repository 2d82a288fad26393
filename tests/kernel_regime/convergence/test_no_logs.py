"""What turns the tangent, and Theorem D: asymmetries of pairs, and bounds that pairs obey."""

import math

import pytest
import torch

from shallowformer import activations, data
from shallowformer.kernel_regime.bounds import approximation, blocks, linearisation, smoothness
from shallowformer.kernel_regime.convergence import cancellation, change_of_features, no_logs
from shallowformer.kernel_regime.kernel import mappings, transportation
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


def test_partners_that_move_oppositely_have_no_asymmetry():
    _, phi0, _ = start()
    there = transportation.transported(phi0, mappings.zero_target(SMALL))
    p, p_c = cancellation.asymmetries(there, phi0)
    assert p.shape == p_c.shape == (8,)
    assert float(p.max()) < 1e-15
    assert float(p_c.max()) < 1e-15
    c, U, W = (block.clone() for block in phi0.blocks)
    c[0] += 0.3
    U[1, 0] += 3.0
    W[9, 0, 0] += 4.0  # the partner of head 1
    p, p_c = cancellation.asymmetries(parameters.Parameters(c, U, W), phi0)
    assert p_c.tolist() == pytest.approx([0.3] + 7 * [0.0])
    assert p.tolist() == pytest.approx([0.0, 5.0] + 6 * [0.0])


def test_without_drift_the_gap_is_that_of_paired_points():
    R = torch.full((16,), 2.0, dtype=torch.float64)
    r, L2, L3 = math.sqrt(2), smoothness.L2(2.0), smoothness.L3(2.0)
    want = (L3 * r**3 / 6 + L2 * r**2 / 2) / 16
    assert float(cancellation.gap_of_pairs(R, ONES, 0.0)) == pytest.approx(want, rel=1e-12)
    assert cancellation.gap_of_pairs(R, ONES, 0.0) >= linearisation.B_lin_pairs(R, ONES)


def test_with_a_comparator_at_the_iterate_the_turn_without_drift_covers_the_gap():
    R = torch.full((16,), 2.0, dtype=torch.float64)
    assert cancellation.turn_of_pairs(R, ONES, ONES, 0.5) >= cancellation.gap_of_pairs(R, ONES, 0.5)
    assert float(cancellation.turn_of_pairs(R, (0.0, 0.0, 0.0), ONES, 0.5)) == 0


def test_drift_in_numbers():
    R = torch.tensor([0.5, 2.0], dtype=torch.float64)
    kappa, kappa_c = cancellation.drift(R, (0.5, 3.0, 4.0), 0.1)
    want = [0.4 * (5 * smoothness.L2(length) + 0.5 * max(1, length)) for length in (0.5, 2.0)]
    assert kappa.tolist() == pytest.approx(want, rel=1e-12)
    assert kappa_c.tolist() == pytest.approx([2.0, 4.0])


def test_travel_in_numbers_and_refusals():
    assert cancellation.travel(4.0, 8.0, 0.5, 0.5) == pytest.approx(4 + 4)
    with pytest.raises(ValueError, match="theta must be at least 0 and below 1"):
        cancellation.travel(1.0, 1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="R must hold numbers of at least 0"):
        cancellation.drift(torch.tensor([-1.0]), ONES, 1.0)


def test_brackets_in_numbers():
    L = tuple(torch.tensor([value], dtype=torch.float64) for value in (2.0, 3.0, 6.0))
    rho, nu = (0.5, 3.0, 4.0), (0.25, 0.6, 0.8)  # r = 5, r̃ = 1
    assert no_logs.beyond_leading(*L[1:], rho, nu).item() == pytest.approx(
        6 * 25 * (1 / 2 + 5 / 3) + 3 * (2.5 + 12.5 + 0.25 * 25 / 2)
    )
    assert cancellation.gap_of_a_pair(L, rho, 0.1, 0.2).item() == pytest.approx(
        250 + 3 * 5 * 0.1 + 0.5 * (75 + 0.2) + 0.2 * 2 * 5
    )
    assert cancellation.turn_of_a_pair(L, rho, nu, 0.1, 0.2).item() == pytest.approx(
        150 * (1 + 10 / 3) + 3 * (6.25 + 5 * 6) + 0.1 * (3 * 6 + 2 * 0.75) + 0.2 * 2 * 6
    )


def test_pairs_obey_the_brackets_at_their_own_asymmetry():
    X, phi0, generator = start(m=8, d=2)
    for _ in range(5):
        phi = region.random_boundary(phi0, ONES, generator)
        p, p_c = cancellation.asymmetries(phi, phi0)
        R = region.longest(phi0, 1.0)
        L = tuple(value[:4] for value in cancellation.constants(R))
        gap = transformer.f(X, phi) - linear_model.f_lin(X, phi, phi0)
        assert gap.abs().max() <= cancellation.gap_of_a_pair(L, ONES, 8 * p, 8 * p_c).sum() / 64
        there = transportation.transported(phi0, mappings.zero_target(ONES))
        turn = linear_model.f_lin(X, there, phi) - linear_model.f_lin(X, there, phi0)
        assert turn.abs().max() <= cancellation.turn_of_a_pair(L, ONES, ONES, 8 * p, 8 * p_c).sum() / 64
