"""Bounds along blocks: against brute force, in their order, and the closed forms against their averages; what they bound of the linearisation."""

import itertools
import math

import numpy as np
import pytest
import torch

from checks import numbers, refused
from shallowformer import activations, data
from shallowformer.kernel_regime.bounds import blocks, linearisation, smoothness
from shallowformer.kernel_regime.model import linear_model, pairs, parameters
from shallowformer.kernel_regime.neighbourhood import norm_event, perturbations, region

RADII = ((3.0, 3.0), (1.0, 0.0), (0.0, 1.0), (1.0, 0.2), (0.1, 2.0), (0.0, 0.0))
LENGTHS = (0.0, 0.05, 0.3, 0.7, 1.0, 2.0, 4.0, 7.0, 12.0)


@pytest.mark.parametrize(
    ("R", "r_u", "r_w"), [(2.0, 1.0, 1.0), (0.1, 1.0, 1.0), (0.0, 2.0, 3.0), (5.0, 0.0, 1.0)]
)
def test_g1_is_the_maximum(R, r_u, r_w):
    s = np.linspace(0, 1, 100_001)
    assert blocks.G1(R, r_u, r_w) == pytest.approx((r_u * s + r_w * (1 - s**2) * R).max(), rel=1e-9)


@pytest.mark.parametrize(
    ("R", "r_u", "r_w"), [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 2.0, 1.0), (5.0, 0.0, 0.0)]
)
def test_g1_where_a_block_or_the_vector_is_missing(R, r_u, r_w):
    assert blocks.G1(R, r_u, r_w) == r_u
    assert float(blocks.G1(numbers(R), r_u, r_w)) == r_u


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize(("r_u", "r_w"), RADII)
def test_many_radii_at_once_are_the_radii_one_by_one(sigma, r_u, r_w):
    R = numbers(*LENGTHS)
    first = numbers(*(blocks.G1(r, r_u, r_w) for r in LENGTHS))
    assert torch.allclose(blocks.G1(R, r_u, r_w), first, rtol=1e-14, atol=0)
    second = numbers(*(blocks.G2(r, r_u, r_w, sigma) for r in LENGTHS[::2]))
    assert torch.allclose(blocks.G2(R, r_u, r_w, sigma)[::2], second, rtol=1e-14, atol=1e-15)


def test_two_equal_directions_give_the_bound_for_one():
    R = numbers(0.0, 0.4, 1.0, 2.8, 7.0)
    for r in ((1.0, 2.0), (0.0, 1.0), (1.0, 0.0)):
        one = blocks.G2(R, *r)
        assert torch.allclose(blocks.G2(R, *r, other=r), one, rtol=1e-12, atol=0)
        doubled = blocks.G2(R, *r, other=(2 * r[0], 2 * r[1]))
        assert torch.allclose(doubled, 2 * one, rtol=1e-14, atol=0)
    with pytest.raises(ValueError, match=r"other\[1\]"):
        blocks.G2(R, 1.0, 1.0, other=(1.0, -1.0))


def test_the_smoothness_constant_is_the_largest_of_the_block_wise_ones():
    R, angles = numbers(0.5, 2.0, 7.0), np.linspace(0, math.pi / 2, 41)
    largest = torch.stack([blocks.G2(R, math.cos(angle), math.sin(angle)) for angle in angles]).amax(0)
    assert (largest <= smoothness.L2(R) * (1 + 1e-11)).all()
    assert (largest >= smoothness.L2(R) * (1 - 2e-3)).all()


@pytest.mark.parametrize(
    "bound",
    [lambda R: blocks.G1(R, 3.0, 2.0), lambda R: blocks.G2(R, 3.0, 2.0), lambda R: blocks.G3(R, 3.0, 2.0)],
)
def test_a_bound_does_not_decrease(bound):
    values = bound(torch.linspace(0, 10, 41, dtype=torch.float64)).tolist()
    assert all(after >= before * (1 - 1e-12) for before, after in itertools.pairwise(values))


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize(("r_u", "r_w"), RADII)
def test_the_third_order_is_below_the_bound_in_a_joint_ball(sigma, r_u, r_w):
    along = blocks.G3(numbers(*LENGTHS), r_u, r_w, sigma)
    joint = numbers(*(smoothness.L3(r, sigma) for r in LENGTHS)) * math.hypot(r_u, r_w) ** 3
    assert (along <= joint * (1 + 1e-12)).all()


def test_the_third_order_of_a_readout_alone_is_that_of_the_activation():
    assert blocks.G3(numbers(0.0), 2.0, 0.0)[0] == pytest.approx(2.0 * 2.0**3)


def test_the_largest_second_derivative_of_z_is_found_in_closed_form():
    r_u, r_w, R = 0.7, 1.3, 2.1
    s = torch.linspace(0, 1, 100_001, dtype=torch.float64)
    Z2 = float((2 * (1 - s**2) * (r_u * r_w + r_w**2 * s * R)).max())
    G1 = blocks.G1(R, r_u, r_w)
    _, s1, s2, s3 = activations.TANH.bounds
    kappa = 4 / (3 * math.sqrt(3))
    by_hand = s3 * G1**3 + 3 * s2 * G1 * Z2 + s1 * (3 * kappa * r_u * r_w**2 + 2 * R * r_w**3)
    assert float(blocks.G3(numbers(R), r_u, r_w)[0]) == pytest.approx(by_hand, rel=1e-8)


@pytest.mark.parametrize("r", RADII[:5])
def test_the_closed_form_of_the_first_order_dominates_the_average(r):
    R = numbers(*LENGTHS)
    root = R.square().mean().sqrt()
    for some in (R, root[None]):  # pointwise as well, at a single length
        assert (blocks.G1(some, *r) <= blocks.G1_closed(some, *r) * (1 + 1e-14)).all()
    assert blocks.G1(R, *r).mean() <= blocks.G1_closed(root, *r) * (1 + 1e-14)


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("other", RADII[:5])
@pytest.mark.parametrize("r", RADII[:5])
def test_closed_forms_dominate_the_averages(sigma, r, other):
    R = numbers(*LENGTHS)
    root = R.square().mean().sqrt()
    assert blocks.G2(R, *r, sigma, other).mean() <= blocks.G2_closed(root, *r, sigma, other) * (1 + 1e-14)


def test_the_closed_forms_in_numbers():
    kappa, s2 = 4 / (3 * math.sqrt(3)), activations.TANH.bounds[2]
    assert blocks.G1_closed(2.0, 3.0, 2.0) == 5
    assert blocks.G2_closed(2.0, 3.0, 2.0) == pytest.approx(25 * s2 + 12 + 8 * kappa)
    assert blocks.G2_closed(2.0, 3.0, 2.0, other=(8.0, 3.0)) == pytest.approx(
        5 * 10 * s2 + 3 * 3 + 8 * 2 + 2 * 3 * 2 * kappa
    )


@pytest.mark.parametrize("closed", [False, True])
def test_the_curvature_joins_the_readout_with_both_orders(closed):
    R, r, o = numbers(0.5, 2.0), (0.3, 1.0, 2.0), (0.7, 0.5, 3.0)
    first, second = (blocks.G1_closed, blocks.G2_closed) if closed else (blocks.G1, blocks.G2)
    sigma = activations.ERF
    by_hand = sigma.bounds[1] * (0.3 * first(R, 0.5, 3.0) + 0.7 * first(R, 1.0, 2.0))
    by_hand = by_hand + 1.25 * second(R, 1.0, 2.0, sigma, (0.5, 3.0))
    assert torch.allclose(blocks.head_curvature(R, r, o, 1.25, sigma, closed), by_hand, rtol=1e-14, atol=0)


@pytest.mark.parametrize(
    ("call", "name", "given", "allowed"),
    [
        (lambda: blocks.G2(1.0, 1.0, 1.0, other=(1.0, -1.0)), "other[1]", "-1.0", "at least 0"),
        (lambda: blocks.number_of_heads(torch.ones(2, 2)), "R", "(2, 2)", "[m]"),
    ],
)  # fmt: skip
def test_what_is_out_of_range_is_refused(call, name, given, allowed):
    refused(name, given, allowed, call)


THREES = (3.0, 3.0, 3.0)


@pytest.mark.parametrize(("m", "value"), [(8, 618), (64, 216), (256, 112), (512, 81)])
def test_the_paper_bound_at_the_paper_setting(m, value):
    B = norm_event.B_U(m, 8, 0.05, 3.0)
    r = math.sqrt(18)
    by_hand = (smoothness.L1_paper(B) * 3 * r + smoothness.L2_paper(B) * 18) / math.sqrt(m)
    assert linearisation.B_lin_paper(B, THREES, m) == pytest.approx(by_hand, rel=1e-13)
    assert round(by_hand) == value


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("rho", [(3.0, 3.0, 3.0), (0.0, 1.0, 0.0), (1.0, 0.0, 2.0), (2.0, 0.1, 0.1)])
def test_each_bound_is_below_the_one_it_sharpens(sigma, rho):
    phi0 = parameters.symmetric(16, 3, torch.Generator().manual_seed(0))
    R = region.longest(phi0, rho[1])
    B = float(R.max())
    average = float(linearisation.B_lin(R, rho, sigma))
    largest = float(linearisation.B_lin(torch.full_like(R, B), rho, sigma))
    joint, paper = (
        bound(B, rho, 16, sigma) for bound in (linearisation.B_lin_joint, linearisation.B_lin_paper)
    )
    assert average <= largest * (1 + 1e-12)
    assert largest <= joint * (1 + 1e-9)
    assert joint <= paper * (1 + 1e-9)
    root = R.pow(2).mean().sqrt()
    assert average <= float(linearisation.B_lin_closed(root, 16, rho, sigma)) * (1 + 1e-12)


def test_the_bound_without_a_logarithm_is_the_averaged_one_at_its_radius():
    R = math.sqrt(norm_event.mean_square_bound(64, 8, 3.0)) + 3 / 8
    closed = linearisation.B_lin_closed(R, 64, THREES)
    assert linearisation.B_lin_no_log(64, 8, THREES, 3.0) == pytest.approx(closed, rel=1e-13)
    _, s1, s2, _ = activations.TANH.bounds
    gamma = 3 * math.hypot(1, R)
    by_hand = s1 * 3 * gamma + s2 * gamma**2 / 2 + s1 * (9 + 2 / (3 * math.sqrt(3)) * 9 * R)
    assert closed == pytest.approx(by_hand / 8, rel=1e-13)


def test_the_bound_of_a_head_by_hand():
    R = numbers(0.5, 2.0)
    by_hand = 3 * blocks.G1(R, 1.0, 2.0) + blocks.G2(R, 1.0, 2.0) / 2
    assert torch.allclose(linearisation.head_bound(R, (3.0, 1.0, 2.0)), by_hand, rtol=1e-14, atol=0)
    assert float(linearisation.B_lin(R, (3.0, 1.0, 2.0))) == pytest.approx(float(by_hand.mean()) / 2**0.5)


def test_no_displacement_within_the_neighbourhood_errs_more_than_the_bound():
    generator = torch.Generator().manual_seed(1)
    phi0 = parameters.symmetric(8, 2, generator)
    bound = linearisation.B_lin(region.longest(phi0, 3.0), THREES)
    X = data.sphere(20, 3, 2, generator)
    for _ in range(50):
        delta = region.on_boundary(parameters.random(8, 2, generator), THREES)
        assert linear_model.head_errors(X, phi0, delta).sum(1).abs().max() < bound


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize(("T", "d", "m"), [(1, 1, 2), (2, 1, 4), (5, 3, 16)])
@pytest.mark.parametrize("rho", [(3.0, 3.0, 3.0), (0.1, 0.1, 2.0), (1.0, 0.0, 2.0), (0.0, 2.0, 0.0)])
def test_no_adversary_errs_more_than_the_bound(sigma, T, d, m, rho):
    generator = torch.Generator().manual_seed(3)
    X, phi0 = data.clipped_gaussian(1, T, d, generator), parameters.symmetric(m, d, generator)
    found = perturbations.adversarial(X, phi0, rho, sigma=sigma)[1]
    assert found <= linearisation.B_lin(region.longest(phi0, rho[1]), rho, sigma) * (1 + 1e-12)


def test_parting_partners_err_less_than_their_bound():
    generator = torch.Generator().manual_seed(1)
    phi0 = parameters.symmetric(8, 2, generator)
    bound = linearisation.B_lin_pairs(region.longest(phi0, 0.5), (0.5, 0.5, 0.5))
    X = data.sphere(20, 3, 2, generator)
    for _ in range(50):
        away = pairs.parts(parameters.plus(phi0, parameters.random(8, 2, generator)), phi0)[1]
        delta = region.on_boundary(away, (0.5, 0.5, 0.5))
        assert linear_model.head_errors(X, phi0, delta).sum(1).abs().max() < bound


def test_negative_arguments_are_refused():
    wrong = numbers(-1.0)
    for call in (
        lambda: linearisation.B_lin(wrong, THREES),
        lambda: linearisation.B_lin_pairs(wrong, THREES),
        lambda: linearisation.B_lin_paper(-1.0, THREES, 4),
        lambda: linearisation.B_lin_no_log(3, 2, THREES, 1.0),
        lambda: linearisation.B_lin_closed(-1.0, 4, THREES),
        lambda: linearisation.head_bound(wrong, THREES),
    ):
        with pytest.raises(ValueError, match="must"):
            call()
