"""Stein's ladder: known polynomials, and means over drawn tokens."""

import pytest
import torch

from checks import refused
from companion.theory.preconditioned import ladder


def test_the_square_of_the_error():
    rho = 1.3
    found = ladder.reduced({((1, 1), (1, 1)): 1.0, ((1, 1),): -2 * rho, (): rho**2}, rho)
    expected = {((2, 0),): 1 + rho**2, ((3, 0),): -6 * rho**2, ((2, 0), (2, 0)): 6 * rho**2}
    found = {key: c for key, c in found.items() if abs(c) > 1e-12}
    assert found == pytest.approx(expected)


def test_the_mean():
    assert ladder.reduced({((1, 1),): 1.0}, 0.7) == {(): 0.7, ((2, 0),): -0.7}


@pytest.mark.parametrize("monomial", [((1, 2),), ((1, 1), (1, 2)), ((2, 2), (1, 1), (1, 1))])
def test_drawn_tokens(monomial):
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


def test_refused():
    refused("f", "(0, 1)", "a ≥ 1", ladder.reduced, {((0, 1),): 1.0}, 1.0)
