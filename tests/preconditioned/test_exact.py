"""Finite contexts: the exact law, means of participation, Stein's ladder, and the exponent above the threshold; against drawn tokens and grids."""

import math

import numpy as np
import pytest
import torch

from checks import refused
from companion.theory.preconditioned import ladder
from shallowformer.preconditioned import above, exact, noise, participation


def test_drawn_contexts(draw, generator):
    """Mean, second moment and covariance at n = 12, d = 2, within 5 standard errors."""
    q, n = torch.tensor([1.1, -0.8], dtype=torch.float64), 12
    x = torch.randn(100_000, n, 2, generator=generator(2), dtype=torch.float64)
    p = torch.softmax(x @ q, 1)
    z = (p[..., None] * x).sum(1)
    e = z - q
    C = torch.einsum("bn,bni,bnj->bij", p, x, x) - torch.einsum("bi,bj->bij", z, z)
    for values, expected in (
        (z, exact.mean(q, n)),
        (torch.einsum("bi,bj->bij", e, e), exact.second_moment(q, n)),
        (C, exact.covariance(q, n)),
    ):
        error = values.std(0) / len(values) ** 0.5
        assert bool(((values.mean(0) - expected).abs() < 5 * error).all())
        assert float(error.max()) < 0.02


def test_covariance_is_the_slope_of_the_mean():
    q = torch.tensor([0.9, 0.4], dtype=torch.float64)
    for k, column in enumerate(torch.eye(2, dtype=torch.float64)):
        slope = (exact.mean(q + 1e-4 * column, 30) - exact.mean(q - 1e-4 * column, 30)) / 2e-4
        torch.testing.assert_close(exact.covariance(q, 30)[:, k], slope, rtol=0, atol=1e-7)


@pytest.mark.parametrize(("b", "d"), [(0.4, 1), (0.5, 3), (1.0, 2)])
def test_two_averages_over_queries(b, d, generator):
    one = torch.eye(d, dtype=torch.float64)
    found, error = exact.risk(one, b * one, one, 300, 20_000, generator(1))
    (expected,) = exact.isotropic(b, d, [300])
    assert abs(found - expected) < 5 * error
    assert error < 0.02 * expected


def test_one_token_returns_itself():
    """N = 1: ẑ is the token, E|x' − bx|² = d(1 + b²)."""
    assert exact.isotropic(0.7, 3, [1]) == pytest.approx([3 * 1.49], rel=1e-8)


@pytest.mark.parametrize("d", [1, 2])
def test_the_limit_is_the_noise_constant(d):
    one = torch.eye(d, dtype=torch.float64)
    (found,) = exact.isotropic(0.3, d, [1e8])
    assert 1e8 * found == pytest.approx(noise.constant(one, 0.3 * one, one), rel=1e-3)


def test_the_table_is_the_quadrature():
    table = exact.Table(500, 5.0)
    rho = torch.tensor([0.033, 1.234, 4.999], dtype=torch.float64)
    P2, along = table(rho)
    for k, value in enumerate(rho.tolist()):
        means = exact.participation.means(value, [500])[0]
        assert float(P2[k]) == pytest.approx(float(means[0]), rel=1e-5)
        expected = float(means[0] - 6 * means[1] + 6 * means[2])
        assert float(along[k]) == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_what_exact_refuses():
    refused("rho", "2", "0 and 1", exact.Table(5, 1.0), torch.tensor([2.0], dtype=torch.float64))
    with refused("draws", "1", "at least 2"):
        one = torch.eye(1, dtype=torch.float64)
        exact.risk(one, one, one, 5, 1, torch.Generator())


@pytest.mark.parametrize("b", [0.4, 1.2])
def test_the_shortfall_of_two_tokens(b):
    """B E x² E P₂ against E x(bx − ẑ) over a grid of the query and two tokens."""
    t = torch.arange(-7.5, 7.51, 0.25, dtype=torch.float64)
    mass = (-t.square() / 2).exp() * 0.25 / (2 * torch.pi) ** 0.5
    x, s, u = torch.meshgrid(t, t, t, indexing="ij")
    p = torch.sigmoid(b * x * (s - u))
    inside = x * (b * x - p * s - (1 - p) * u)
    expected = float(torch.einsum("xsu,x,s,u->", inside, mass, mass, mass))
    assert exact.shortfall(b, [2.0]) == pytest.approx([expected], rel=1e-6)


def test_the_shortfall_of_one_token_is_everything():
    assert exact.shortfall(0.7, [1.0]) == pytest.approx([0.7])


@pytest.mark.parametrize("rho", [0.0, 5e-4, 0.3, 1.7, 6.0])
def test_two_tokens_by_a_grid(rho):
    t = np.arange(-12, 12, 0.02)
    mass = np.exp(-(t**2) / 2) * 0.02 / math.sqrt(2 * math.pi)
    p = 1 / (1 + np.exp(-rho * math.sqrt(2) * t))
    P2, P3 = p**2 + (1 - p) ** 2, p**3 + (1 - p) ** 3
    expected = [mass @ P2, mass @ P3, mass @ P2**2]
    assert participation.means(rho, [2])[0].tolist() == pytest.approx(expected, rel=1e-11)


def test_one_token_and_equal_weights():
    assert participation.means(2.0, [1])[0].tolist() == pytest.approx([1, 1, 1], rel=1e-11)
    assert participation.means(0.0, [7])[0].tolist() == pytest.approx([1 / 7, 1 / 49, 1 / 49])


@pytest.mark.parametrize(("rho", "n"), [(1.5, 20), (3.0, 200)])
def test_drawn_tokens(rho, n):
    """Within 5 standard errors of 20 000 draws, below 1 % each."""
    t = torch.randn(20_000, n, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    p = torch.softmax(rho * t, 1)
    P2, P3 = p.square().sum(1), p.pow(3).sum(1)
    found = participation.means(rho, [n])[0]
    for expected, values in zip(found.tolist(), (P2, P3, P2.square()), strict=True):
        error = float(values.std()) / len(values) ** 0.5
        assert abs(float(values.mean()) - expected) < 5 * error
        assert error < 0.015 * expected


def test_several_sizes_at_once_are_the_same():
    together = participation.means(2.5, [3, 1e4, 1e12])
    alone = torch.cat([participation.means(2.5, [n]) for n in (3, 1e4, 1e12)])
    torch.testing.assert_close(together, alone, rtol=1e-10, atol=0)


@pytest.mark.parametrize("n", [1, 2, 50, 1e6, 1e30])
@pytest.mark.parametrize("rho", [0.0, 0.7, 3.0, 9.0])
def test_bounds(rho, n):
    P2 = float(participation.means(rho, [n])[0, 0])
    assert participation.one_token(rho, n) <= P2 * (1 + 1e-9)
    assert math.exp(rho**2) / (n - 1 + math.exp(rho**2)) * (1 + 1e-9) >= P2


def test_the_truncated_second_moment_by_a_grid():
    t = np.arange(-12, 30, 0.001)
    mass = np.exp(-(t**2) / 2) * 0.001 / math.sqrt(2 * math.pi)
    for rho, n in ((0.5, 10), (2.0, 1e3), (4.0, 1e3)):
        expected = n * mass @ np.minimum(1, np.exp(rho * t - rho**2 / 2) / n) ** 2
        assert participation.truncated(rho, n) == pytest.approx(expected, rel=1e-5)


def test_a_huge_context_at_fixed_scores():
    assert 1e80 * float(participation.means(2.0, [1e80])[0, 0]) == pytest.approx(math.exp(4), rel=1e-8)


def test_what_participation_refuses():
    refused("rho", "41", "at most 40", participation.means, 41.0, [2])
    refused("n", "0.5", "at least 1", participation.means, 1.0, [0.5])
    refused("n", "1e+101", "at most 1e+100", participation.one_token, 1.0, 1e101)


def test_the_square_of_the_error():
    rho = 1.3
    found = ladder.reduced({((1, 1), (1, 1)): 1.0, ((1, 1),): -2 * rho, (): rho**2}, rho)
    expected = {((2, 0),): 1 + rho**2, ((3, 0),): -6 * rho**2, ((2, 0), (2, 0)): 6 * rho**2}
    found = {key: c for key, c in found.items() if abs(c) > 1e-12}
    assert found == pytest.approx(expected)


def test_the_mean():
    assert ladder.reduced({((1, 1),): 1.0}, 0.7) == {(): 0.7, ((2, 0),): -0.7}


@pytest.mark.parametrize("monomial", [((1, 2),), ((1, 1), (1, 2)), ((2, 2), (1, 1), (1, 1))])
def test_the_ladder_over_drawn_tokens(monomial):
    rho, n = 0.9, 6
    x = torch.randn(200_000, n, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    p = torch.softmax(rho * x, 1)

    def values(polynomial):
        total = torch.zeros(len(x), dtype=torch.float64)
        for factors, c in polynomial.items():
            term = torch.full_like(total, c)
            for a, k in factors:
                term = term * (p**a * x**k).sum(1)
            total = total + term
        return total

    off = values({monomial: 1.0}) - values(ladder.reduced({monomial: 1.0}, rho))
    assert abs(float(off.mean())) < 5 * float(off.std()) / len(off) ** 0.5


def test_what_ladder_refuses():
    refused("f", "(0, 1)", "a ≥ 1", ladder.reduced, {((0, 1),): 1.0}, 1.0)


@pytest.mark.parametrize(("b", "alpha"), [(2**-0.5, 1.0), (1.0, (5**0.5 - 1) / 2), (2 / 3**0.5, 0.5)])
def test_known_exponents(b, alpha):
    assert above.exponent(b) == pytest.approx(alpha, rel=1e-12)


def test_the_exponent_is_the_least_sum_of_costs():
    r = torch.linspace(0.5, 2, 200_001, dtype=torch.float64)
    for b in (0.8, 1.3, 3.0):
        costs = r / (2 * b**2) + (r.rsqrt() - r.sqrt() / 2).square() / 2
        assert above.exponent(b) == pytest.approx(float(costs.min()), rel=1e-8)


def test_the_constant_of_one_dimension():
    one = torch.ones(1, 1, dtype=torch.float64)
    constant, power = above.at_threshold(3 * one, noise.THRESHOLD * one)
    assert constant == pytest.approx(9 * (4 / 3) ** 1.5 / (3 * math.sqrt(2 * math.pi)))
    assert power == 1.5


def test_multiplicity_and_the_rest():
    b = torch.tensor([2**-0.5, 2**-0.5, 0.5], dtype=torch.float64)
    constant, power = above.at_threshold(torch.eye(3, dtype=torch.float64), b.diag())
    assert power == 2.0
    assert constant == pytest.approx(2 * (4 / 3) ** 2 / (2 * 2 * 4) * 2**0.5)


def test_what_above_refuses():
    refused("b", "0.5", "at least", above.exponent, 0.5)
    with refused("B_tilde", "1.0", "2^(-1/2)"):
        above.at_threshold(torch.eye(2, dtype=torch.float64), torch.eye(2, dtype=torch.float64))
