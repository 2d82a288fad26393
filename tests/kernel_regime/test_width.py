import math

import pytest
import torch

from shallowformer.kernel_regime import (
    activations,
    approximation,
    cancellation,
    data,
    gradients,
    linearisation,
    mappings,
    model,
    neighbourhood,
    parameters,
    smoothness,
    tangent_kernel,
    transportation,
    width,
)

THREES, ONES = (3.0, 3.0, 3.0), (1.0, 1.0, 1.0)
SMALL = (0.4, 0.7, 0.2)


def start(m=16, d=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    X = data.clipped_gaussian(6, 5, d, generator)
    return X, parameters.symmetric(m, d, generator), generator


def test_two_equal_directions_give_the_bound_for_one():
    R = torch.tensor([0.0, 0.4, 1.0, 2.8, 7.0], dtype=torch.float64)
    for r in ((1.0, 2.0), (0.0, 1.0), (1.0, 0.0)):
        one = linearisation.second_order(R, *r)
        assert torch.allclose(linearisation.second_order(R, *r, other=r), one, rtol=1e-12, atol=0)
        doubled = linearisation.second_order(R, *r, other=(2 * r[0], 2 * r[1]))
        assert torch.allclose(doubled, 2 * one, rtol=1e-9, atol=0)
    with pytest.raises(ValueError, match=r"other\[1\]"):
        linearisation.second_order(R, 1.0, 1.0, other=(1.0, -1.0))


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_constants_for_many_lengths_agree_with_those_for_one(sigma):
    R = torch.tensor([0.0, 0.4, 1.0, 2.8, 7.0], dtype=torch.float64)
    many = linearisation.smoothness_of_heads(R, sigma), linearisation.third_of_heads(R, sigma)
    for k, length in enumerate(R.tolist()):
        assert float(many[0][k]) == pytest.approx(smoothness.L2(length, sigma), rel=1e-4)
        assert float(many[1][k]) == pytest.approx(smoothness.L3(length, sigma), rel=1e-12)


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_gradients_in_the_neighbourhood_obey_both_bounds(sigma):
    X, phi0, generator = start()
    R = linearisation.longest(phi0, ONES[1])
    size = lambda blocks: sum(block.flatten(1).square().sum(1) for block in blocks)
    before = gradients.per_sample_gradient(X, phi0, sigma=sigma)
    for _ in range(5):
        phi = neighbourhood.random_boundary(phi0, ONES, generator)
        after = gradients.per_sample_gradient(X, phi, sigma=sigma)
        assert size(after).max() <= width.gradient_over_heads(R, ONES[0], sigma)
        moved = size([a - b for a, b in zip(after, before, strict=True)]).sqrt()
        assert moved.max() <= width.gradient_drift(R, ONES, sigma)


def test_the_gradient_at_the_start_is_below_its_bound():
    X, phi0, _ = start(m=64)
    assert float(tangent_kernel.diagonal(X, phi0).total.mean()) < width.gradient_at_start(64, 3.0)
    assert width.gradient_at_start(10**8, 1.0) == pytest.approx(1, abs=1e-3)
    assert width.gradient_at_start(10**8, 1.0, activations.ERF) == pytest.approx(
        activations.ERF.bounds[0] ** 2 + activations.ERF.bounds[1] ** 2, abs=2e-3
    )


def test_the_turn_obeys_its_bounds_and_the_single_integral_is_the_smaller_one():
    X, phi0, generator = start()
    R = linearisation.longest(phi0, 1.0)
    line, remainder = width.lines_and_remainder(R, ONES, ONES)
    bound = width.turn(R, ONES, ONES)
    assert bound < line + remainder
    for _ in range(5):
        phi, there = (neighbourhood.random_boundary(phi0, ONES, generator) for _ in range(2))
        turn = linearisation.f_lin(X, there, phi) - linearisation.f_lin(X, there, phi0)
        assert turn.abs().max() <= bound
        gap = model.f(X, there) - linearisation.f_lin(X, there, phi0)
        assert gap.abs().max() <= line
        assert (gap - turn).abs().max() <= remainder
    with pytest.raises(ValueError, match="nu_u must be at most rho_u"):
        width.lines_and_remainder(R, ONES, (1.0, 2.0, 1.0))


def test_readouts_alone_turn_the_tangent_by_the_bound():
    # Only c moves, and only θ of the comparator differs: δc ⟨∇h, δ̃θ⟩, at equal tokens and U = 0 equal to ρ_c ν̄_u per head.
    m, e = 4, torch.ones(1, 2, 1, dtype=torch.float64)
    zero = torch.zeros(m, 1, dtype=torch.float64)
    phi0 = parameters.Parameters(torch.tensor([1.0, 1, -1, -1]).double(), zero, zero[..., None])
    phi = parameters.Parameters(phi0.c + 0.5, phi0.U, phi0.W)
    there = parameters.Parameters(phi0.c, phi0.U + 0.5, phi0.W)
    turn = linearisation.f_lin(e, there, phi) - linearisation.f_lin(e, there, phi0)
    R = linearisation.longest(phi0, 0.0)
    assert float(turn) == pytest.approx(float(width.turn(R, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))), rel=1e-12)


def test_the_leading_constant_and_the_orders_of_the_expansion():
    lead = {}
    for m in (100, 10_000):
        R = torch.full((m,), 3.0, dtype=torch.float64)
        lead[m] = width.turn_without_dimension(R, THREES, ONES, 0.1)
    assert lead[100][0] * 10 == pytest.approx(width.turn_leading(THREES, ONES) * (1 + math.sqrt(0.2)))
    assert float(lead[100][1]) == pytest.approx(100 * float(lead[10_000][1]))
    assert width.turn_leading((0.0, 0.0, 0.0), ONES) == 0


def test_theorem_b_adds_approximation_and_turn():
    _, phi0, _ = start()
    R = linearisation.longest(phi0, 3.0)
    both = approximation.rms_bernstein(ONES, 16, 0.1) + float(width.turn(R, THREES, ONES))
    assert width.epsilon(R, THREES, ONES, 0.1) == pytest.approx(both)


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
    assert float(cancellation.gap(R, ONES, 0.0)) == pytest.approx(want, rel=1e-4)
    assert cancellation.gap(R, ONES, 0.0) >= linearisation.B_lin_pairs(R, ONES)


def test_with_a_comparator_at_the_iterate_the_turn_without_drift_covers_the_gap():
    R = torch.full((16,), 2.0, dtype=torch.float64)
    assert cancellation.turn(R, ONES, ONES, 0.5) >= cancellation.gap(R, ONES, 0.5)
    assert float(cancellation.turn(R, (0.0, 0.0, 0.0), ONES, 0.5)) == 0


def test_drift_in_numbers():
    R = torch.tensor([0.5, 2.0], dtype=torch.float64)
    kappa, kappa_c = cancellation.drift(R, (0.5, 3.0, 4.0), 0.1)
    want = [0.4 * (5 * smoothness.L2(length) + 0.5 * max(1, length)) for length in (0.5, 2.0)]
    assert kappa.tolist() == pytest.approx(want, rel=1e-4)
    assert kappa_c.tolist() == pytest.approx([2.0, 4.0])


def test_travel_in_numbers_and_refusals():
    assert cancellation.travel(4.0, 8.0, 0.5, 0.5) == pytest.approx(4 + 4)
    with pytest.raises(ValueError, match="theta must be below 1"):
        cancellation.travel(1.0, 1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="V0"):
        cancellation.travel(1.0, -1.0, 1.0, 0.5)
    with pytest.raises(ValueError, match="R must hold lengths"):
        cancellation.drift(torch.tensor([-1.0]), ONES, 1.0)
    with pytest.raises(ValueError, match="m must be even"):
        width.gradient_at_start(3, 1.0)
    with pytest.raises(ValueError, match="delta"):
        width.turn_without_dimension(torch.ones(2), ONES, ONES, 1.5)


def test_brackets_in_numbers():
    L = tuple(torch.tensor([value], dtype=torch.float64) for value in (2.0, 3.0, 6.0))
    rho, nu = (0.5, 3.0, 4.0), (0.25, 0.6, 0.8)  # r = 5, r̃ = 1
    assert width.beyond_leading(*L[1:], rho, nu).item() == pytest.approx(
        6 * 25 * (1 / 2 + 5 / 3) + 3 * (2.5 + 12.5 + 0.25 * 25 / 2)
    )
    assert cancellation.gap_of_a_pair(L, rho, 0.1, 0.2).item() == pytest.approx(
        250 + 3 * 5 * 0.1 + 0.5 * (75 + 0.2) + 0.2 * 2 * 5
    )
    assert cancellation.turn_of_a_pair(L, rho, nu, 0.1, 0.2).item() == pytest.approx(
        150 * (1 + 10 / 3) + 3 * (6.25 + 5 * 6) + 0.1 * (3 * 6 + 2 * 0.75) + 0.2 * 2 * 6
    )
    with pytest.raises(ValueError, match="at least 0"):
        cancellation.gap_of_a_pair(L, (-1.0, 1.0, 1.0), 0.1, 0.2)


def test_pairs_obey_the_brackets_at_their_own_asymmetry():
    X, phi0, generator = start(m=8, d=2)
    for _ in range(5):
        phi = neighbourhood.random_boundary(phi0, ONES, generator)
        p, p_c = cancellation.asymmetries(phi, phi0)
        R = linearisation.longest(phi0, 1.0)
        L = [value[:4] for value in cancellation.constants(R)]
        gap = model.f(X, phi) - linearisation.f_lin(X, phi, phi0)
        assert gap.abs().max() <= cancellation.gap_of_a_pair(L, ONES, 8 * p, 8 * p_c).sum() / 64
        there = transportation.transported(phi0, mappings.zero_target(ONES))
        turn = linearisation.f_lin(X, there, phi) - linearisation.f_lin(X, there, phi0)
        assert turn.abs().max() <= cancellation.turn_of_a_pair(L, ONES, ONES, 8 * p, 8 * p_c).sum() / 64
