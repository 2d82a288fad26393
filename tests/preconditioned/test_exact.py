"""The exact law of a finite context: against drawn tokens, and its average over queries by two routes."""

import pytest
import torch

from checks import refused
from shallowformer.preconditioned import exact, noise


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


def test_refused():
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
