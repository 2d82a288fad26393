"""The noise constant: by quadrature, by Monte Carlo, at its threshold, and the numbers of the experiments."""

import math

import numpy as np
import pytest
import torch

from checks import refused
from shallowformer.preconditioned import covariances, invariance, landscape, limit, noise

S = covariances.geometric(5, 1.5, 0.375)


def at_radius(problem, b):
    """A balanced optimum, rescaled."""
    U, V = landscape.optimum(problem.target)
    return limit.unwhitened(
        *invariance.rescaled(U, V, float(torch.linalg.matrix_norm(V, 2)) / b), problem.Sigma
    )


def test_the_mean_over_queries_by_quadrature(draw):
    """D = 2: Gauss-Hermite in both coordinates of x, of what is integrated."""
    Sigma = torch.tensor([[1.0, 0.3], [0.3, 0.5]], dtype=torch.float64)
    A, B = draw(3, 2), 0.25 * draw(2, 2, seed=1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    grid = torch.from_numpy(np.stack(np.meshgrid(nodes, nodes), -1).reshape(-1, 2))
    mass = torch.from_numpy(np.outer(weights, weights).ravel() / (2 * math.pi))
    x = grid @ covariances.roots(Sigma)[0]
    assert float(torch.linalg.matrix_norm(limit.whitened(A, B, Sigma)[1], 2)) < 0.5
    expected = float(mass @ noise.at_query(A, x @ B, Sigma))
    assert noise.constant(A, B, Sigma) == pytest.approx(expected, rel=1e-10)


def test_a_query(draw, generator):
    """N · E|A(ẑ − Σq)|² at one query, by 4000 contexts: within 5 standard errors, and 4/n for the next order."""
    Sigma = covariances.random(2, 3.0, generator())
    A, q, n = draw(2, 2), 0.5 * draw(1, 2, seed=3), 400
    tokens = (
        torch.randn(4000, n, 2, generator=generator(1), dtype=torch.float64) @ covariances.roots(Sigma)[0]
    )
    z = (torch.softmax(tokens @ q[0], -1)[:, None] @ tokens)[:, 0]
    squares = n * ((z - q @ Sigma) @ A.T).square().sum(1)
    expected = float(noise.at_query(A, q, Sigma)[0])
    assert abs(float(squares.mean()) - expected) < 5 * float(squares.std()) / 4000**0.5 + 4 / n * expected


def test_numbers_of_the_experiments():
    for b, expected in ((0.2, 182.7), (0.3, 98.8), (0.4, 75.6), (0.44, 73.86), (0.5, 78.5), (0.6, 126.5)):
        assert noise.at_radius(S, b) == pytest.approx(expected, rel=1e-3)
    b, least = noise.best_radius(S)
    assert b == pytest.approx(0.440, abs=5e-4)
    assert least == pytest.approx(73.86, abs=5e-3)


@pytest.mark.parametrize("b", [0.1, 0.44, 0.7])
def test_both_forms_agree(problem, b):
    assert noise.constant(*at_radius(problem, b), problem.Sigma) == pytest.approx(
        noise.at_radius(S, b), rel=1e-9
    )


def test_the_threshold(problem):
    assert pytest.approx(1 / math.sqrt(2)) == noise.THRESHOLD
    for b in (noise.THRESHOLD * (1 + 1e-9), 1.0):
        assert noise.constant(*at_radius(problem, b), problem.Sigma) == math.inf
        assert noise.at_radius(S, b) == math.inf
    close = [noise.at_radius(S, noise.THRESHOLD * (1 - gap)) for gap in (1e-3, 1e-6)]
    # One factor of room in the determinant's root, and one in the trace: (room)^{−3/2}.
    assert close[1] / close[0] == pytest.approx(1e3**1.5, rel=0.02)


def test_limits(problem, draw):
    zero = torch.zeros(5, 5, dtype=torch.float64)
    A = draw(5, 5)
    assert noise.constant(A, zero, problem.Sigma) == pytest.approx(float((A @ problem.root).square().sum()))
    assert noise.constant(zero, 10 * draw(5, 5, seed=1), problem.Sigma) == 0.0


def test_the_best_radius_of_one_dimension():
    """(1 − 2β)^{−1/2} s²β⁻¹(1 + β/(1 − 2β)) = s²(1 − β)β⁻¹(1 − 2β)^{−3/2}; on a grid of β = b²."""
    beta = torch.linspace(0.001, 0.499, 20_000, dtype=torch.float64)
    values = 4 * (1 - beta) / beta * (1 - 2 * beta) ** -1.5
    b, least = noise.best_radius(torch.tensor([2.0], dtype=torch.float64))
    assert least == pytest.approx(float(values.min()), rel=1e-6)
    assert b**2 == pytest.approx(float(beta[values.argmin()]), abs=1e-4)


def test_monte_carlo(problem, generator):
    """B = 0.4 at n = 500: within 5 standard errors of 40 contexts."""
    found = noise.measured(*at_radius(problem, 0.4), problem.Sigma, 500, 40, 500, generator(3))
    assert found.shape == (40,)
    assert abs(float(found.mean()) - noise.at_radius(S, 0.4)) < 5 * float(found.std()) / 40**0.5
    assert float(found.std()) / 40**0.5 < 5


def test_refused(problem, draw):
    A = draw(5, 5)
    refused("B", "(4, 4)", "(5, 5)", noise.constant, A, draw(4, 4), problem.Sigma)
    with refused("A", "1 entries", "finite"):
        noise.constant(torch.full((1, 1), torch.nan).double(), torch.eye(1).double(), torch.eye(1).double())
    with refused("singular_values", "zeros", "not all be 0"):
        noise.best_radius(torch.zeros(2, dtype=torch.float64))
