import math

import pytest
import torch

from checks import numbers, unchecked
from shallowformer import activations, data, softmax
from shallowformer.kernel_regime.bounds import blocks, envelopes, smoothness
from shallowformer.kernel_regime.model import gradients, parameters, transformer
from shallowformer.kernel_regime.neighbourhood import norm_event, region
from shallowformer.probability import gaussian_means

THREES = (3.0, 3.0, 3.0)
BELL = [activations.TANH, activations.ERF, activations.LOGISTIC]


def test_the_paper_envelopes_at_the_paper_setting():
    B = norm_event.B_U(256, 8, 0.05, 3.0)
    assert envelopes.f_max_paper(B, THREES) == pytest.approx(smoothness.L1_paper(B) * math.sqrt(18) + 3)
    assert round(envelopes.f_max_paper(B, THREES), 1) == 32.9
    assert round(envelopes.y_max_paper(8, THREES), 2) == 14.49


def test_the_sharper_envelopes_of_the_targets():
    s = torch.linspace(0, 1, 100_001, dtype=torch.float64)
    by_hand = 3 + float((3 * s + 3 * math.sqrt(2 / math.pi) * (1 - s**2)).max())
    assert envelopes.y_max(THREES) == pytest.approx(by_hand, rel=1e-9)
    assert round(envelopes.y_max(THREES), 2) == 6.33
    assert round(envelopes.y_max_coupled(THREES), 3) == 3.794


@pytest.mark.parametrize("sigma", BELL, ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("nu", [(3.0, 3.0, 3.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.5, 2.0)])
def test_the_coupled_envelope_is_below_the_other_and_above_what_heads_attain(sigma, nu):
    coupled = envelopes.y_max_coupled(nu, sigma)
    assert (
        coupled
        <= envelopes.y_max(nu, sigma) * (1 + 1e-12)
        <= envelopes.y_max_paper(2, nu, sigma) * (1 + 1e-12)
    )
    generator = torch.Generator().manual_seed(0)
    phi = parameters.random(20_000, 3, generator)
    for X in (data.sphere(5, 2, 3, generator), data.sphere(5, 6, 3, generator)):
        feature = gradients.features(X, phi, sigma=sigma)
        lengths = (feature.c.abs(), feature.u.norm(dim=-1), feature.w_left.norm(dim=-1))
        target = sum(weight * length for weight, length in zip(nu, lengths, strict=True)).mean(1)
        assert (target < coupled + 5 * sum(nu) / math.sqrt(20_000)).all()


@pytest.mark.parametrize("sigma", BELL, ids=lambda sigma: sigma.name)
def test_the_coupled_envelope_is_the_maximum_over_s(sigma):
    s = torch.linspace(0, 1, 2001, dtype=torch.float64)[:, None]
    size = gaussian_means.gaussian_mean(lambda g: sigma(s * g).abs())
    slope = gaussian_means.gaussian_mean(lambda g: sigma.first(s * g).abs())
    value = 2 * size + slope * (s[:, 0] + 3 * math.sqrt(2 / math.pi) * (1 - s[:, 0] ** 2))
    assert envelopes.y_max_coupled((2.0, 1.0, 3.0), sigma) == pytest.approx(float(value.max()), rel=1e-6)


def test_an_activation_with_a_wavy_slope_is_refused():
    with pytest.raises(ValueError, match="sigma must have an even"):
        envelopes.y_max_coupled(THREES, activations.SINE)


def test_a_peak_at_a_tiny_s_is_found():
    # A steep σ′: the maximum over s lies near 1/rate, between the points of a uniform grid.
    sigma = activations.stretched(activations.TANH, 1000.0)
    s = torch.logspace(-5, 0, 5001, dtype=torch.float64)[:, None]
    slope = gaussian_means.gaussian_mean(lambda g: sigma.first(s * g))
    value = slope * (1000 * s[:, 0] + gaussian_means.MEAN_ABS * (1 - s[:, 0] ** 2))
    found = envelopes.y_max_coupled((0.0, 1000.0, 1.0), sigma)
    assert found == pytest.approx(float(value.max()), rel=1e-6)
    assert found > 1.3 * max(gaussian_means.MEAN_ABS, float(value[-1]))


@pytest.mark.parametrize("sigma", [*BELL, activations.SINE], ids=lambda sigma: sigma.name)
def test_targets_given_weights_against_simulation(sigma):
    generator = torch.Generator().manual_seed(3)
    X = data.sphere(4, 3, 2, generator)
    alpha = torch.softmax(torch.randn(4, 3, generator=generator, dtype=torch.float64), -1)
    X[0, 1], alpha[0] = -X[0, 0], numbers(0.5, 0.5, 0.0)  # a = 0, M of rank one
    X[1] = X[1, 0]  # M = 0
    a, M = softmax.mean(X, alpha), softmax.covariance(X, alpha)
    U = torch.randn(200_000, 1, 2, generator=generator, dtype=torch.float64)
    z = (U * a).sum(-1)
    MU = torch.einsum("nij,knj->kni", M, U.expand(-1, 4, -1))
    terms = 3 * sigma(z).abs() + sigma.first(z).abs() * (2 * a.norm(dim=-1) + MU.norm(dim=-1))
    found = envelopes.target_given_weights(a, M, (3.0, 2.0, 1.0), sigma)
    assert ((found - terms.mean(0)).abs() < 5 * terms.std(0) / len(U) ** 0.5 + 1e-3).all()


def test_targets_given_weights_attain_the_coupled_envelope():
    s = torch.linspace(0, 1, 2001, dtype=torch.float64)
    a = torch.stack([s, 0 * s], -1)
    M = torch.diag_embed(torch.stack([0 * s, 1 - s**2], -1))
    found = float(envelopes.target_given_weights(a, M, THREES).max())
    assert found == pytest.approx(envelopes.y_max_coupled(THREES), rel=1e-6)


def test_two_camps_pulled_apart_by_hand():
    along = numbers(1.0, -2.0)
    b = math.tanh(3 / math.sqrt(2))
    wanted = (math.tanh(b * (1 + 2 / math.sqrt(2))) + math.tanh(b * (2 + 2 / math.sqrt(2)))) / 2
    found = float(envelopes.f_pulled_camps(along, (1.0, 2.0, 3.0)))
    assert found == pytest.approx((math.sqrt(2) + 1) * wanted)
    R = along.abs() + 2 / math.sqrt(2)
    assert found <= float(envelopes.f_max(R, (1.0, 2.0, 3.0)))


def test_the_envelope_by_heads_takes_the_smaller_of_two_head_by_head():
    R = numbers(*[3.0] * 16)
    assert float(envelopes.f_max(R, (1.0, 1.0, 1.0))) == pytest.approx(1 + blocks.G1(3.0, 1.0, 1.0))
    assert float(envelopes.f_max(R, THREES)) == pytest.approx(3 + 4)
    mixed = numbers(0.0, 0.0, 50.0, 50.0)
    assert float(envelopes.f_max(mixed, (1.0, 1.0, 1.0))) == pytest.approx(1 + (1 + 2) / 2)


def test_no_point_of_the_neighbourhood_leaves_the_envelope():
    generator = torch.Generator().manual_seed(3)
    phi0 = parameters.symmetric(8, 3, generator)
    bound = float(envelopes.f_max(region.longest(phi0, 1.0), (1.0, 1.0, 1.0)))
    X = data.sphere(20, 4, 3, generator)
    for x in X:
        g = parameters.Parameters(*(b[0] for b in gradients.per_sample_gradient(x[None], phi0)))
        phi = region.adversarial(g, phi0, (1.0, 1.0, 1.0))
        assert float(transformer.f(x[None], phi).abs()) < bound
    assert bound <= envelopes.f_max_paper(float(region.longest(phi0, 1.0).max()), (1.0, 1.0, 1.0))


def test_the_envelope_at_the_data_is_that_of_the_targets_plus_a_fluctuation():
    at_data = envelopes.f_max_at_data(256, 5000, THREES, 0.05, remainder=0.5)
    fluctuation = 2 * 3 * math.sqrt(math.log(5000 / 0.05) / 256)
    assert at_data == pytest.approx(envelopes.y_max(THREES) + fluctuation + 0.5)


def test_wrong_arguments_are_refused():
    for call in (
        lambda: envelopes.f_max_paper(-1.0, THREES),
        lambda: envelopes.f_max(numbers(-1.0), THREES),
        lambda: envelopes.target_given_weights(numbers(0.0, 0.0, 0.0), torch.eye(3).double(), THREES),
    ):
        with pytest.raises(ValueError, match="must"), unchecked():
            call()
