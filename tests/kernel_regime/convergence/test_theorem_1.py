"""Theorem 1: its constants against the numbers of the paper's setting, against plain loops, and against what they bound."""

import math

import pytest
from torch import Generator

from checks import refused
from shallowformer import data
from shallowformer.kernel_regime.bounds import linearisation
from shallowformer.kernel_regime.convergence import change_of_features, theorem_1
from shallowformer.kernel_regime.kernel import mappings, transportation
from shallowformer.kernel_regime.model import linear_model, parameters, transformer
from shallowformer.kernel_regime.neighbourhood import region

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


@pytest.mark.parametrize("nu", [THREES, (1.0, 2.0, 0.5)])
def test_the_sharp_constants_of_several_starts_are_those_of_each(nu):
    generator = Generator().manual_seed(3)
    starts = [parameters.symmetric(8, 3, generator) for _ in range(5)]
    for phi0, c in zip(starts, theorem_1.sharp_each(starts, THREES, nu, 0.05), strict=True):
        assert vars(c) == pytest.approx(vars(theorem_1.sharp(phi0, THREES, nu, 0.05)), rel=1e-14)
        R, short = region.longest(phi0, 3.0), region.longest(phi0, nu[1])
        assert c.lin == pytest.approx(float(linearisation.B_lin(short, nu)), rel=1e-14)
        assert c.lin_average == pytest.approx(float(linearisation.B_lin(R, THREES)), rel=1e-14)
        assert c.cof == pytest.approx(float(change_of_features.B_rem(R, THREES, nu)), rel=1e-14)


def test_wrong_arguments_are_refused():
    with refused("nu_w", "4", "rho_w = 3"):
        theorem_1.paper(10, 2, 4, THREES, (1.0, 1.0, 4.0), 0.1, 0.1)
    with refused("eta", "0", "above 0"):
        paper_setting(8).best(0.0, 10)
    with refused("steps", "0", "at least 1"):
        paper_setting(8).best(0.1, 0)
