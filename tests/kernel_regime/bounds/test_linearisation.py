import math

import pytest
import torch

from shallowformer import activations, data
from shallowformer.kernel_regime.bounds import blocks, linearisation, smoothness
from shallowformer.kernel_regime.model import linear_model, pairs, parameters
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.neighbourhood import norm_event, perturbations, region

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
    R = lengths(0.5, 2.0)
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
        away = pairs.parts(moved(phi0, parameters.random(8, 2, generator)), phi0)[1]
        delta = region.on_boundary(away, (0.5, 0.5, 0.5))
        assert linear_model.head_errors(X, phi0, delta).sum(1).abs().max() < bound


def test_a_radius_below_zero_is_named():
    for call in (
        lambda: linearisation.B_lin(lengths(1.0), (1.0, -1.0, 1.0)),
        lambda: linearisation.B_lin_closed(1.0, 2, (1.0, 1.0)),
        lambda: linearisation.B_lin_no_log(2, 2, (1.0,), 1.0),
    ):
        with pytest.raises(
            ValueError, match=r"rho must be three finite numbers of at least 0, \(rho_c, rho_u, rho_w\)"
        ):
            call()


def test_negative_arguments_are_refused():
    wrong = lengths(-1.0)
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
