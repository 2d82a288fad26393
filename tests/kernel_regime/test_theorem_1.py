"""Theorem 1: its constants against the numbers of the paper's setting, against plain loops, and against what they bound."""

import math

import pytest
import torch
from torch import Generator

from checks import refused
from shallowformer.kernel_regime import (
    activations,
    data,
    linearisation,
    mappings,
    model,
    neighbourhood,
    norm_event,
    parameters,
    smoothness,
    tangent_kernel,
    theorem_1,
    transportation,
)

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


@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_the_bounds_in_plain_loops(sigma):
    R, rho, nu, m = [0.5, 2.0, 3.0, 0.1], (1.0, 2.0, 0.5), (0.5, 1.0, 0.5), 4
    s0, s1, _, _ = sigma.bounds
    lengths = torch.tensor(R, dtype=torch.float64)
    b = 1 + rho[0] / m**0.5
    squares = [s0**2 + (b * s1 * max(1.0, r)) ** 2 for r in R]
    assert float(theorem_1.A(lengths, rho[0], sigma)) == pytest.approx(math.sqrt(sum(squares) / m))
    u, w = rho[1] + nu[1], rho[2] + nu[2]
    per_head = [
        (rho[0] + nu[0]) * s1 * smoothness.G1(r, u, w) + 0.5 * b * smoothness.G2(r, u, w, sigma) for r in R
    ]
    assert float(theorem_1.B_rem(lengths, rho, nu, sigma)) == pytest.approx(sum(per_head) / m**1.5, rel=1e-4)


def test_the_bounds_for_a_head_by_hand():
    B, rho, nu, m = 2.0, (1.0, 2.0, 2.0), (1.0, 0.0, 0.0), 16
    L1, L2, r = smoothness.L1_paper(B), smoothness.L2_paper(B), 8**0.5
    each = theorem_1.heads_paper(B, rho, nu, m)
    assert each.reach == pytest.approx((3 + 1) / 4)
    assert each.turn == pytest.approx(((L1 + L2) * r + L1) / 16)
    assert each.turn_c == pytest.approx(L1 * r / 16)
    assert each.gradient == pytest.approx((1 + 1.25 * L1) / 4)
    assert theorem_1.B_cof_paper(B, rho, nu, m) == pytest.approx(((L1 + L2) * r + L1) * 4 / 4)


@pytest.mark.parametrize("rho", [ONES, THREES, (0.3, 2.0, 0.1)])
def test_the_gradient_bounds_hold_on_the_neighbourhood_and_are_in_order(rho):
    generator = Generator().manual_seed(0)
    phi0 = parameters.symmetric(16, 3, generator)
    R = linearisation.longest(phi0, rho[1])
    X = data.sphere(50, 4, 3, generator)
    bound = float(theorem_1.A(R, rho[0]))
    for _ in range(5):
        phi = neighbourhood.random_boundary(phi0, rho, generator)
        assert float(tangent_kernel.diagonal(X, phi).total.max()) <= bound**2
    assert norm_event.holds(phi0, 0.05)
    assert bound <= theorem_1.A_paper(norm_event.B_U(16, 3, 0.05, rho[1]), rho[0], 16)


def test_the_remainder_is_below_its_bound():
    generator = Generator().manual_seed(1)
    phi0 = parameters.symmetric(8, 3, generator)
    X = data.sphere(30, 4, 3, generator)
    bound = float(theorem_1.B_rem(linearisation.longest(phi0, 1.0), ONES, (0.5, 0.5, 0.5)))
    largest = 0.0
    for _ in range(20):
        phi = neighbourhood.random_boundary(phi0, ONES, generator)
        tilde = neighbourhood.random_boundary(phi0, (0.5, 0.5, 0.5), generator)
        step = parameters.Parameters(*(b - a for a, b in zip(phi.blocks, tilde.blocks, strict=True)))
        rem = linearisation.head_errors(X, phi, step).sum(1)
        assert torch.allclose(rem, model.f(X, tilde) - model.f(X, phi) - _slope(X, phi, step), atol=1e-12)
        largest = max(largest, float(rem.abs().max()))
    assert 0 < largest <= bound


def _slope(X, phi, step):
    output = lambda c, U, W: model.f(X, parameters.Parameters(c, U, W))
    return torch.autograd.functional.jvp(output, phi.blocks, step.blocks)[1]


def test_the_sharp_constants_bound_what_they_are_named_after():
    generator = Generator().manual_seed(2)
    phi0 = parameters.symmetric(32, 4, generator)
    X = data.clipped_gaussian(40, 4, 4, generator)
    v = mappings.teacher(data.clipped_gaussian(4, 4, 4, generator), ONES)
    tilde = transportation.transported(phi0, v)
    c = theorem_1.sharp(phi0, ONES, ONES, 0.05)
    error = transportation.represented(X, v, 4000, generator)
    assert float((linearisation.f_lin(X, tilde, phi0) - error.mean).square().mean().sqrt()) <= c.app
    assert float((model.f(X, tilde) - linearisation.f_lin(X, tilde, phi0)).abs().max()) <= c.lin
    assert float(error.mean.abs().max()) <= c.y_max
    phi = neighbourhood.random_boundary(phi0, ONES, generator)
    assert float(model.f(X, phi).abs().max()) <= c.f_max
    assert c.V0 == 3.0


def test_wrong_arguments_are_refused():
    R = torch.ones(4, dtype=torch.float64)
    with refused("nu_u", "2", "rho_u = 1"):
        theorem_1.B_rem(R, ONES, (1.0, 2.0, 1.0))
    with refused("nu_w", "4", "rho_w = 3"):
        theorem_1.paper(10, 2, 4, THREES, (1.0, 1.0, 4.0), 0.1, 0.1)
    with refused("R", "-1", "at least 0"):
        theorem_1.A(-R, 1.0)
    with refused("rho_c", "-1", "0"):
        theorem_1.A_paper(1.0, -1.0, 4)
    with refused("eta", "0", "above 0"):
        paper_setting(8).best(0.0, 10)
    with refused("steps", "0", "at least 1"):
        paper_setting(8).best(0.1, 0)
