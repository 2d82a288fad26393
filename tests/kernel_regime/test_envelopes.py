import math

import pytest
import torch

from shallowformer.kernel_regime import (
    activations,
    data,
    envelopes,
    gradients,
    linearisation,
    model,
    neighbourhood,
    norm_event,
    parameters,
    smoothness,
)

THREES = (3.0, 3.0, 3.0)
BELL = [activations.TANH, activations.ERF, activations.LOGISTIC]


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)


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
    size = envelopes.gaussian_mean(lambda g: sigma(s * g).abs())
    slope = envelopes.gaussian_mean(lambda g: sigma.first(s * g).abs())
    value = 2 * size + slope * (s[:, 0] + 3 * math.sqrt(2 / math.pi) * (1 - s[:, 0] ** 2))
    assert envelopes.y_max_coupled((2.0, 1.0, 3.0), sigma) == pytest.approx(float(value.max()), rel=1e-6)


def test_an_activation_with_a_wavy_slope_is_refused():
    with pytest.raises(ValueError, match="sigma must have an even"):
        envelopes.y_max_coupled(THREES, activations.SINE)


@pytest.mark.parametrize(
    ("power", "mean"), [(0, 1.0), (1, math.sqrt(2 / math.pi)), (2, 1.0), (4, 3.0), (8, 105.0)]
)
def test_gaussian_means_of_powers(power, mean):
    found = envelopes.gaussian_mean(lambda g: g.abs() ** power)
    assert float(found) == pytest.approx(mean, rel=1e-12)


def test_the_half_line_carries_half_of_the_mass():
    nodes, weights = envelopes.half_line(panels=10, end=9.0)
    assert nodes.shape == weights.shape == (100,)
    assert float(weights.sum()) == pytest.approx(0.5, rel=1e-13)
    with pytest.raises(ValueError, match="panels must be"):
        envelopes.half_line(panels=0)


@pytest.mark.parametrize("d", [1, 2, 8, 64])
def test_the_expected_norm_of_equal_eigenvalues(d):
    found = float(envelopes.expected_norm(torch.full((d,), 0.3, dtype=torch.float64)))
    assert found == pytest.approx(0.3 * norm_event.mean_norm(d), rel=1e-11)


def test_the_expected_norm_against_simulation_scale_and_rank_one():
    spectrum = numbers(0.7, 0.2, 0.1)
    G = torch.randn(400_000, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found = float(envelopes.expected_norm(spectrum))
    assert found == pytest.approx(float((G * spectrum).norm(dim=-1).mean()), rel=5e-3)
    assert float(envelopes.expected_norm(-1e-6 * spectrum)) == pytest.approx(1e-6 * found, rel=1e-12)
    assert float(envelopes.expected_norm(numbers(0.5, 0.0))) == pytest.approx(
        0.5 * envelopes.MEAN_ABS, rel=1e-11
    )
    assert found < envelopes.MEAN_ABS


def test_the_expected_norm_of_nothing_is_refused():
    with pytest.raises(ValueError, match="spectrum must have an eigenvalue other than 0"):
        envelopes.expected_norm(numbers(0.0, 0.0))


def test_the_envelope_by_heads_is_the_smaller_of_two():
    R = numbers(*[3.0] * 16)
    assert float(envelopes.f_max(R, (1.0, 1.0, 1.0))) == pytest.approx(1 + smoothness.G1(3.0, 1.0, 1.0))
    assert float(envelopes.f_max(R, THREES)) == pytest.approx(3 + 4)


def test_no_point_of_the_neighbourhood_leaves_the_envelope():
    generator = torch.Generator().manual_seed(3)
    phi0 = parameters.symmetric(8, 3, generator)
    bound = float(envelopes.f_max(linearisation.longest(phi0, 1.0), (1.0, 1.0, 1.0)))
    X = data.sphere(20, 4, 3, generator)
    for x in X:
        g = parameters.Parameters(*(b[0] for b in gradients.per_sample_gradient(x[None], phi0)))
        phi = neighbourhood.adversarial(g, phi0, (1.0, 1.0, 1.0))
        assert float(model.f(x[None], phi).abs()) < bound
    assert bound <= envelopes.f_max_paper(float(linearisation.longest(phi0, 1.0).max()), (1.0, 1.0, 1.0))


def test_the_envelope_at_the_data_is_that_of_the_targets_plus_a_fluctuation():
    at_data = envelopes.f_max_at_data(256, 5000, THREES, 0.05, remainder=0.5)
    fluctuation = 2 * 3 * math.sqrt(math.log(5000 / 0.05) / 256)
    assert at_data == pytest.approx(envelopes.y_max(THREES) + fluctuation + 0.5)


def test_wrong_arguments_are_refused():
    for call in (
        lambda: envelopes.f_max_paper(-1.0, THREES),
        lambda: envelopes.f_max(numbers(-1.0), THREES),
        lambda: envelopes.f_max_at_data(3, 10, THREES, 0.1),
        lambda: envelopes.f_max_at_data(4, 0, THREES, 0.1),
        lambda: envelopes.f_max_at_data(4, 10, THREES, 1.0),
        lambda: envelopes.f_max_at_data(4, 10, THREES, 0.1, remainder=-1.0),
        lambda: envelopes.y_max_paper(0, THREES),
        lambda: envelopes.y_max((1.0, -1.0, 1.0)),
        lambda: envelopes.y_max_coupled((1.0, 1.0)),
    ):
        with pytest.raises(ValueError, match="must"):
            call()
