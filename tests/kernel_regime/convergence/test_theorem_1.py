"""Theorem 1: its constants against the paper's numbers, plain loops, and what they bound; its closed forms; step sizes."""

import math

import pytest
import torch
from torch import Generator

from checks import refused
from shallowformer import activations, data, queries
from shallowformer.kernel_regime.bounds import linearisation
from shallowformer.kernel_regime.convergence import (
    change_of_features,
    closed_forms,
    no_logs,
    step_size,
    theorem_1,
)
from shallowformer.kernel_regime.kernel import mappings, transportation
from shallowformer.kernel_regime.model import gradients, linear_model, parameters, transformer
from shallowformer.kernel_regime.neighbourhood import norm_event, region

THREES, ONES = (3.0, 3.0, 3.0), (1.0, 1.0, 1.0)


def paper_setting(m):
    return theorem_1.paper(5000, 8, m, THREES, THREES, 0.05, 0.05)


@pytest.mark.parametrize(
    ("m", "bound"),
    [(8, 1.15e5), (16, 7.9e4), (64, 4.1e4), (128, 3.0e4), (256, 2.26e4), (2**12, 8.7e3), (2**16, 5.2e3), (2**20, 4.7e3)],
)  # fmt: skip
def test_the_right_side_in_the_papers_setting(m, bound):
    assert paper_setting(m).best(4000**-0.5, 4000) == pytest.approx(bound, rel=0.02)


def test_the_parts_in_the_papers_setting():
    c = paper_setting(256)
    assert [f"{value:.3g}" for value in (c.app, c.lin, c.cof, c.envelope)] == ["5.56", "112", "294", "47.4"]
    assert f"{c.optimisation(4000**-0.5, 4000):.3g}" == "3.12e+03"
    assert f"{c.width:.3g}" == "1.95e+04"


def test_the_right_sides_by_hand():
    c = theorem_1.Constants(2.0, 1.0, 5.0, 0.1, 0.2, 0.3, 0.25, 7.0)
    assert c.best(0.5, 10) == pytest.approx(7 / 20 + 0.5 * 9 * 25 + 3 * 0.6)
    assert c.average_paper(0.5, 10) == pytest.approx(4 * c.best(0.5, 10) + 6 * 0.0625)
    assert c.average(0.5, 10) == pytest.approx((math.sqrt(c.best(0.5, 10)) + 0.5) ** 2)
    assert c.average(0.5, 10) <= 11 / 12 * c.average_paper(0.5, 10)


def test_the_sharp_constants_bound_what_they_are_named_after():
    generator = Generator().manual_seed(2)
    phi0 = parameters.symmetric(32, 4, generator)
    X = data.clipped_gaussian(40, 4, 4, generator)
    v = mappings.teacher(data.clipped_gaussian(4, 4, 4, generator), ONES)
    tilde = transportation.transported(phi0, v)
    c = theorem_1.sharp(phi0, ONES, ONES, 0.05)
    error = transportation.represented(X, v, 4000, generator)
    assert float((linear_model.f_lin(X, tilde, phi0) - error.mean).square().mean().sqrt()) <= c.app
    assert float((transformer.f(X, tilde) - linear_model.f_lin(X, tilde, phi0)).abs().max()) <= c.lin
    assert float(error.mean.abs().max()) <= c.y_max
    phi = region.random_boundary(phi0, ONES, generator)
    assert float(transformer.f(X, phi).abs().max()) <= c.f_max
    assert c.V0 == 3.0


def test_wrong_arguments_of_theorem_1_are_refused():
    refused("nu_w", "4", "rho_w = 3", theorem_1.paper, 10, 2, 4, THREES, (1.0, 1.0, 4.0), 0.1, 0.1)
    refused("eta", "0", "above 0", paper_setting(8).best, 0.0, 10)
    refused("steps", "0", "at least 1", paper_setting(8).best, 0.1, 0)


RHO, NU = (3.0, 2.0, 1.0), (1.0, 2.0, 0.5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("m", [8, 64])
def test_closed_forms_dominate_the_head_averages(m, seed):
    phi0 = parameters.symmetric(m, 5, torch.Generator().manual_seed(seed))
    R = region.longest(phi0, RHO[1])
    square = float(R.square().mean().sqrt())
    assert no_logs.turn_over_heads(R, RHO, NU) <= no_logs.turn_closed(square, m, RHO, NU)
    remainder = change_of_features.B_rem_closed(square, m, RHO, NU)
    assert change_of_features.B_rem(R, RHO, NU) <= remainder
    closed, averaged = closed_forms.sharp(5, m, 1e-9, RHO, NU), theorem_1.sharp(phi0, RHO, NU, 0.5e-9)
    for name in ("f_max", "y_max", "A", "app", "lin", "cof", "lin_average", "V0"):
        # A of theorem_1 keeps σ₀², which tanh can do without.
        assert getattr(averaged, name) <= getattr(closed, name) * (1.2 if name == "A" else 1) + 1e-12, name


def test_the_failure_is_shared():
    paper = closed_forms.paper(8, 64, 100, 0.1, RHO, NU)
    assert paper == theorem_1.paper(100, 8, 64, RHO, NU, 0.05, 0.05)
    ours = closed_forms.self_bounding(8, 64, 0.1, RHO, NU)
    R = norm_event.root_mean_square_bound(64, 8, math.log(10), 2.0)
    assert ours.square == pytest.approx((1 + 3 / 8) ** 2 * (1 + R**2))
    assert ours.V0 == 1 + 4 + 0.25


def test_theorem_a_needs_short_steps():
    ours = closed_forms.self_bounding(8, 64, 0.1, RHO, NU)
    assert ours.at(1 / ours.square, 100) == math.inf
    halfway = (ours.epsilon + math.sqrt(ours.epsilon**2 + ours.square * ours.V0 / 100)) ** 2
    assert ours.halfway(100) == pytest.approx(halfway)


def test_the_best_step_is_the_best_of_all_steps():
    ours = closed_forms.self_bounding(8, 64, 0.1, RHO, NU)
    grid = [ours.at(k / 20_000 / ours.square, 100) for k in range(1, 20_000)]
    assert ours.best(100) <= min(grid) == pytest.approx(ours.best(100), rel=1e-6)


def test_smallest_even():
    assert closed_forms.smallest_even(lambda m: m >= 7) == 8
    assert closed_forms.smallest_even(lambda m: m >= 2) == 2
    assert closed_forms.smallest_even(lambda m: m**2 >= 10**40) == 10**20
    with pytest.raises(ValueError, match="holds must be true for some even number up to 16, got none"):
        closed_forms.smallest_even(lambda m: False, 16)


def test_a_mapping_that_leads_outside_is_refused():
    with pytest.raises(ValueError, match="nu_w must be at most rho_w"):
        closed_forms.self_bounding(8, 64, 0.1, (1.0, 1.0, 1.0), (1.0, 1.0, 2.0))


@pytest.mark.parametrize("sigma", [activations.TANH, activations.LOGISTIC], ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("query", [queries.last_token, queries.seeded(3, 1)], ids=["last", "seeded"])
def test_eigenvalue_and_trace_of_the_gradients(sigma, query):
    generator = Generator().manual_seed(0)
    X, phi = data.clipped_gaussian(7, 4, 3, generator), parameters.random(5, 3, generator)
    J = torch.cat([g.flatten(1) for g in gradients.per_sample_gradient(X, phi, query, sigma)], 1)
    largest = float(torch.linalg.matrix_norm(J, 2)) ** 2 / 7
    assert step_size.curvature(X, phi, query, sigma) == pytest.approx(largest, rel=1e-12)
    assert step_size.trace(X, phi, query, sigma) == pytest.approx(float(J.square().sum()) / 7, rel=1e-12)


def test_equal_inputs_have_one_eigenvalue():
    generator = Generator().manual_seed(1)
    X = data.sphere(1, 4, 3, generator).repeat(6, 1, 1)
    phi = parameters.symmetric(8, 3, generator)
    assert step_size.curvature(X, phi) == pytest.approx(step_size.trace(X, phi), rel=1e-12)


def test_the_path_by_hand():
    found = step_size.path(torch.tensor([4.0, 1.0, 0.25]), 0.5)
    assert found.tolist() == [0.0, 2.0, 3.0, 3.5]
    refused("losses", "-1", "at least 0", step_size.path, -torch.ones(2), 0.1)


@pytest.mark.parametrize("nu", [THREES, (1.0, 2.0, 0.5)])
def test_the_sharp_constants_of_several_starts_are_those_of_each(nu):
    generator = Generator().manual_seed(3)
    starts = [parameters.symmetric(8, 3, generator) for _ in range(5)]
    for phi0, c in zip(starts, theorem_1.sharp_each(starts, THREES, nu, 0.05), strict=True):
        assert vars(c) == pytest.approx(vars(theorem_1.sharp(phi0, THREES, nu, 0.05)), rel=1e-12)
        R, short = region.longest(phi0, 3.0), region.longest(phi0, nu[1])
        assert c.lin == pytest.approx(float(linearisation.B_lin(short, nu)), rel=1e-12)
        assert c.lin_average == pytest.approx(float(linearisation.B_lin(R, THREES)), rel=1e-12)
        assert c.cof == pytest.approx(float(change_of_features.B_rem(R, THREES, nu)), rel=1e-12)


def test_starts_of_several_widths_are_refused():
    starts = [parameters.symmetric(m, 3, Generator().manual_seed(m)) for m in (4, 8)]
    refused("starts", "[4, 8]", "one width", theorem_1.sharp_each, starts, THREES, THREES, 0.05)
    refused("starts", "none", "one width", theorem_1.sharp_each, [], THREES, THREES, 0.05)
