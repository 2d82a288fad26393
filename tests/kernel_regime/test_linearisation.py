import math

import pytest
import torch

from shallowformer.kernel_regime import (
    activations,
    data,
    gradients,
    linearisation,
    model,
    norm_event,
    pairs,
    parameters,
    perturbations,
    smoothness,
)
from shallowformer.kernel_regime.parameters import Parameters

THREES = (3.0, 3.0, 3.0)
RADII = ((3.0, 3.0), (1.0, 0.0), (0.0, 1.0), (1.0, 0.2), (0.1, 2.0), (0.0, 0.0))
LENGTHS = (0.0, 0.05, 0.3, 0.7, 1.0, 2.0, 4.0, 7.0, 12.0)


def lengths(*values):
    return torch.tensor(values, dtype=torch.float64)


def point(seed=0, n=3, T=4, d=3, m=6):
    generator = torch.Generator().manual_seed(seed)
    X = data.clipped_gaussian(n, T, d, generator)
    return X, parameters.random(m, d, generator), parameters.random(m, d, generator).map(lambda block: 0.3 * block)  # fmt: skip


def moved(phi, delta):
    return Parameters(*(a + b for a, b in zip(phi.blocks, delta.blocks, strict=True)))


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize(("T", "d", "m"), [(1, 1, 1), (4, 3, 6), (16, 8, 2)])
def test_the_heads_add_up_to_the_error_of_the_model(sigma, T, d, m):
    X, phi, delta = point(T=T, d=d, m=m)
    change = model.f(X, moved(phi, delta), sigma=sigma) - model.f(X, phi, sigma=sigma)
    gradient = gradients.per_sample_gradient(X, phi, sigma=sigma)
    slope = sum((g * step).flatten(1).sum(1) for g, step in zip(gradient, delta.blocks, strict=True))
    errors = linearisation.head_errors(X, phi, delta, sigma=sigma)
    assert errors.shape == (len(X), m)
    assert torch.allclose(errors.sum(1), change - slope, rtol=0, atol=1e-13)


def test_one_head_alone_errs_as_the_model_with_that_head_does():
    X, phi, delta = point()
    alone = lambda p, i: p.map(lambda block: block[i : i + 1])
    for i in range(phi.m):
        one = linearisation.head_errors(X, alone(phi, i), alone(delta, i))[:, 0] / phi.m**0.5
        assert torch.allclose(one, linearisation.head_errors(X, phi, delta)[:, i], rtol=0, atol=1e-14)


def test_a_pair_that_moves_alike_misses_the_product_of_its_two_changes():
    generator = torch.Generator().manual_seed(2)
    X, phi = data.sphere(1, 5, 3, generator), parameters.symmetric(8, 3, generator)
    half = parameters.random(4, 3, generator)
    delta = Parameters(half.c.repeat(2), half.U.repeat(2, 1), half.W.repeat(2, 1, 1))
    rise = model.hidden(X, moved(phi, delta)) - model.hidden(X, phi)
    pair = linearisation.head_errors(X, phi, delta).reshape(2, 4).sum(0)
    assert torch.allclose(pair, 2 * (delta.c * rise[0])[:4] / 8**0.5, rtol=0, atol=1e-14)


def test_no_perturbation_no_error():
    X, phi, delta = point()
    assert linearisation.head_errors(X, phi, delta.map(torch.zeros_like)).abs().max() == 0


def test_the_boundary_is_reached_in_every_block_of_every_head():
    direction = point(m=9)[2]
    delta = linearisation.on_boundary(direction, (1.0, 2.0, 3.0))
    for radius, block, along in zip((1, 2, 3), delta.blocks, direction.blocks, strict=True):
        assert torch.allclose(
            block.reshape(9, -1).norm(dim=1), torch.full((9,), radius / 3, dtype=torch.float64)
        )
        assert torch.nn.functional.cosine_similarity(block.reshape(9, -1), along.reshape(9, -1)).min() > 1 - 1e-12  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_boundary_is_reached_along_the_shortest_direction(dtype):
    tiny = point(m=4)[2].map(lambda block: (1e-30 * block).to(dtype))
    delta = linearisation.on_boundary(tiny, (1.0, 2.0, 3.0))
    for radius, block in zip((1, 2, 3), delta.blocks, strict=True):
        assert torch.allclose(block.reshape(4, -1).norm(dim=1), torch.full((4,), radius / 2, dtype=dtype))


def test_a_block_without_direction_stays():
    direction = point()[2]
    still = Parameters(direction.c, torch.zeros_like(direction.U), direction.W)
    assert linearisation.on_boundary(still, (1, 1, 1)).U.abs().max() == 0


@pytest.mark.parametrize("k", range(3))
def test_a_radius_that_is_not_above_zero_is_refused(k):
    direction = point()[2]
    radius = [1.0, 1.0, 1.0]
    radius[k] = 0.0
    with pytest.raises(ValueError, match=rf"radius\[{k}\] must be a finite number above 0, got 0.0"):
        linearisation.on_boundary(direction, tuple(radius))


def test_a_perturbation_of_another_shape_is_refused():
    X, phi, _ = point()
    other = point(m=4)[2]
    with pytest.raises(ValueError, match=r"delta.W must have shape \(6, 3, 3\)"):
        linearisation.head_errors(X, phi, other)


@pytest.mark.parametrize("start", [parameters.symmetric, parameters.random])
@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_the_linear_model_is_the_tangent(start, sigma):
    X, phi, _ = point()
    phi0 = start(6, 3, torch.Generator().manual_seed(4))
    output = lambda *blocks: model.f(X, Parameters(*blocks), sigma=sigma)
    step = pairs.difference(phi, phi0).blocks
    value, slope = torch.autograd.functional.jvp(output, phi0.blocks, step)
    found = linearisation.f_lin(X, phi, phi0, sigma=sigma)
    assert torch.allclose(found, value + slope, rtol=0, atol=1e-13)


def test_model_and_linear_model_differ_by_the_heads():
    X, phi0, delta = point()
    phi = moved(phi0, delta)
    gap = model.f(X, phi) - linearisation.f_lin(X, phi, phi0)
    assert torch.allclose(gap, linearisation.head_errors(X, phi0, delta).sum(1), rtol=0, atol=1e-14)


def test_the_linear_model_needs_parameters_of_one_shape():
    X, phi, _ = point()
    with pytest.raises(ValueError, match=r"phi.W must have shape"):
        linearisation.f_lin(X, phi, parameters.random(4, 3, torch.Generator().manual_seed(0)))


@pytest.mark.parametrize(("m", "value"), [(8, 618), (64, 216), (256, 112), (512, 81)])
def test_the_paper_bound_at_the_paper_setting(m, value):
    B = norm_event.B_U(m, 8, 0.05, 3.0)
    r = math.sqrt(18)
    by_hand = (smoothness.L1_paper(B) * 3 * r + smoothness.L2_paper(B) * 18) / math.sqrt(m)
    assert linearisation.B_lin_paper(B, THREES, m) == pytest.approx(by_hand, rel=1e-13)
    assert round(by_hand) == value


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize(("r_u", "r_w"), RADII)
def test_many_radii_at_once_are_the_radii_one_by_one(sigma, r_u, r_w):
    R = lengths(*LENGTHS)
    first = lengths(*(smoothness.G1(r, r_u, r_w) for r in LENGTHS))
    assert torch.allclose(linearisation.first_order(R, r_u, r_w), first, rtol=1e-14, atol=0)
    second = lengths(*(smoothness.G2(r, r_u, r_w, sigma) for r in LENGTHS))
    assert torch.allclose(linearisation.second_order(R, r_u, r_w, sigma), second, rtol=2e-5, atol=1e-15)


def test_the_radii_may_come_in_any_order_and_twice():
    R = lengths(2.0, 0.5, 2.0, 7.0)
    one_by_one = torch.cat([linearisation.second_order(r[None], 1.0, 2.0) for r in R])
    assert torch.equal(linearisation.second_order(R, 1.0, 2.0), one_by_one)


def test_the_second_order_is_differentiable_in_the_radius():
    R = lengths(0.5, 2.0, 7.0).requires_grad_()
    (slope,) = torch.autograd.grad(linearisation.second_order(R, 1.0, 2.0).sum(), R)
    difference = [(smoothness.G2(r + 1e-5, 1.0, 2.0) - smoothness.G2(r - 1e-5, 1.0, 2.0)) / 2e-5 for r in R.tolist()]  # fmt: skip
    assert torch.allclose(slope, lengths(*difference), rtol=1e-5)


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize(("r_u", "r_w"), RADII)
def test_the_third_order_is_below_the_bound_in_a_joint_ball(sigma, r_u, r_w):
    blocks = linearisation.third_order(lengths(*LENGTHS), r_u, r_w, sigma)
    joint = lengths(*(smoothness.L3(r, sigma) for r in LENGTHS)) * math.hypot(r_u, r_w) ** 3
    assert (blocks <= joint * (1 + 1e-12)).all()


def test_the_third_order_of_a_readout_alone_is_that_of_the_activation():
    assert linearisation.third_order(lengths(0.0), 2.0, 0.0)[0] == pytest.approx(2.0 * 2.0**3)


def test_the_largest_second_derivative_of_z_is_found_in_closed_form():
    r_u, r_w, R = 0.7, 1.3, 2.1
    s = torch.linspace(0, 1, 100_001, dtype=torch.float64)
    Z2 = float((2 * (1 - s**2) * (r_u * r_w + r_w**2 * s * R)).max())
    G1 = smoothness.G1(R, r_u, r_w)
    _, s1, s2, s3 = activations.TANH.bounds
    kappa = 4 / (3 * math.sqrt(3))
    by_hand = s3 * G1**3 + 3 * s2 * G1 * Z2 + s1 * (3 * kappa * r_u * r_w**2 + 2 * R * r_w**3)
    assert float(linearisation.third_order(lengths(R), r_u, r_w)[0]) == pytest.approx(by_hand, rel=1e-8)


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("rho", [(3.0, 3.0, 3.0), (0.0, 1.0, 0.0), (1.0, 0.0, 2.0), (2.0, 0.1, 0.1)])
def test_each_bound_is_below_the_one_it_sharpens(sigma, rho):
    phi0 = parameters.symmetric(16, 3, torch.Generator().manual_seed(0))
    R = linearisation.longest(phi0, rho[1])
    B = float(R.max())
    average = float(linearisation.B_lin(R, rho, sigma))
    largest = float(linearisation.B_lin(torch.full_like(R, B), rho, sigma))
    joint, paper = (
        bound(B, rho, 16, sigma) for bound in (linearisation.B_lin_joint, linearisation.B_lin_paper)
    )
    assert average <= largest * (1 + 1e-12)
    assert largest <= joint * (1 + 1e-9)
    assert joint <= paper * (1 + 1e-9)
    root = R.pow(2).mean().sqrt()[None]
    assert average <= float(linearisation.averaged_bound(root, rho, sigma)) / 4 * (1 + 1e-12)


def test_the_bound_without_a_logarithm_is_the_averaged_one_at_its_radius():
    R = math.sqrt(norm_event.mean_square_bound(64, 8, 3.0)) + 3 / 8
    averaged = float(linearisation.averaged_bound(lengths(R), THREES)[0]) / 8
    assert linearisation.B_lin_no_log(64, 8, THREES, 3.0) == pytest.approx(averaged, rel=1e-13)


def test_no_displacement_within_the_neighbourhood_errs_more_than_the_bound():
    generator = torch.Generator().manual_seed(1)
    phi0 = parameters.symmetric(8, 2, generator)
    bound = linearisation.B_lin(linearisation.longest(phi0, 3.0), THREES)
    X = data.sphere(20, 3, 2, generator)
    for _ in range(50):
        delta = linearisation.on_boundary(parameters.random(8, 2, generator), THREES)
        assert linearisation.head_errors(X, phi0, delta).sum(1).abs().max() < bound


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize(("T", "d", "m"), [(1, 1, 2), (2, 1, 4), (5, 3, 16)])
@pytest.mark.parametrize("rho", [(3.0, 3.0, 3.0), (0.1, 0.1, 2.0), (1.0, 0.0, 2.0), (0.0, 2.0, 0.0)])
def test_no_adversary_errs_more_than_the_bound(sigma, T, d, m, rho):
    generator = torch.Generator().manual_seed(3)
    X, phi0 = data.clipped_gaussian(1, T, d, generator), parameters.symmetric(m, d, generator)
    found = perturbations.adversarial(X, phi0, rho, sigma=sigma)[1]
    assert found <= linearisation.B_lin(linearisation.longest(phi0, rho[1]), rho, sigma) * (1 + 1e-12)


def test_parting_partners_err_less_than_their_bound():
    generator = torch.Generator().manual_seed(1)
    phi0 = parameters.symmetric(8, 2, generator)
    bound = linearisation.B_lin_pairs(linearisation.longest(phi0, 0.5), (0.5, 0.5, 0.5))
    X = data.sphere(20, 3, 2, generator)
    for _ in range(50):
        away = pairs.parts(moved(phi0, parameters.random(8, 2, generator)), phi0)[1]
        delta = linearisation.on_boundary(away, (0.5, 0.5, 0.5))
        assert linearisation.head_errors(X, phi0, delta).sum(1).abs().max() < bound


def test_the_longest_is_reached():
    phi0 = parameters.symmetric(4, 3, torch.Generator().manual_seed(0))
    stretched = phi0.U * (1 + 0.5 / phi0.U.norm(dim=-1, keepdim=True))
    assert torch.allclose(linearisation.longest(phi0, 1.0), stretched.norm(dim=-1))


def test_negative_arguments_are_refused():
    R, phi0 = lengths(1.0), parameters.symmetric(2, 1, torch.Generator().manual_seed(0))
    wrong = lengths(-1.0)
    for call in (
        lambda: linearisation.B_lin(wrong, THREES),
        lambda: linearisation.B_lin_pairs(wrong, THREES),
        lambda: linearisation.first_order(wrong, 1.0, 1.0),
        lambda: linearisation.second_order(R, -1.0, 1.0),
        lambda: linearisation.third_order(R, 1.0, -1.0),
        lambda: linearisation.longest(phi0, -1.0),
        lambda: linearisation.B_lin(R, (1.0, -1.0, 1.0)),
        lambda: linearisation.B_lin_paper(-1.0, THREES, 4),
        lambda: linearisation.B_lin_joint(1.0, (1.0, 1.0), 4),
        lambda: linearisation.B_lin_no_log(3, 2, THREES, 1.0),
        lambda: linearisation.averaged_bound(wrong, THREES),
    ):
        with pytest.raises(ValueError, match="must"):
            call()
