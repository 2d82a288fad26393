"""The noise constant, the best radius, and the excess risk of fresh queries: by quadrature, by Monte Carlo, by loops, and in closed form."""

import math

import numpy as np
import pytest
import torch

from checks import refused
from shallowformer.preconditioned import covariances, invariance, landscape, limit, noise, radius, risk

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


def test_what_noise_refuses(problem, draw):
    A = draw(5, 5)
    refused("B", "(4, 4)", "(5, 5)", noise.constant, A, draw(4, 4), problem.Sigma)
    with refused("A", "1 entries", "finite"):
        noise.constant(torch.full((1, 1), torch.nan).double(), torch.eye(1).double(), torch.eye(1).double())
    with refused("singular_values", "zeros", "not all be 0"):
        noise.best_radius(torch.zeros(2, dtype=torch.float64))


@pytest.mark.parametrize("d", [1, 3, 50])
def test_a_closed_form_and_a_minimiser(d):
    b, least = radius.orthogonal(d)
    found = noise.best_radius(torch.ones(d, dtype=torch.float64))
    assert found == pytest.approx((b, d * least), rel=1e-6)


def test_values_are_those_of_the_noise_constant(draw):
    """B̃ = QK^½ with M̃ diagonal, Ã = M̃B̃^{−T}."""
    k = torch.tensor([0.2, 0.1, 0.05, 0.15, 0.3], dtype=torch.float64)
    rotation, _ = torch.linalg.qr(draw(5, 5))
    B = k.sqrt().diag() @ rotation
    A = S.diag() @ torch.linalg.inv(B).T
    one = torch.eye(5, dtype=torch.float64)
    assert radius.value(S, k) == pytest.approx(noise.constant(A, B, one), rel=1e-10)


def test_no_neighbour_is_better(draw):
    k = radius.best(S)
    least = radius.value(S, k)
    assert least == pytest.approx(73.305, abs=1e-3)
    assert noise.best_radius(S)[1] > least
    for seed in range(20):
        assert radius.value(S, k * (1 + 0.02 * draw(5, seed=seed))) > least


def test_what_radius_refuses():
    with refused("k", "0.5", "between 0 and 1/2"):
        radius.value(torch.ones(1, dtype=torch.float64), torch.tensor([0.5], dtype=torch.float64))
    refused("singular_values", "0.0", "above 0", radius.best, torch.zeros(2, dtype=torch.float64))


def test_a_loop(problem, generator, draw):
    A, B, context = draw(5, 5), 0.3 * draw(5, 5, seed=1), problem.covariates(8, generator())
    found = risk.excess(A, B, context, problem, 3, generator(2))
    for value, x in zip(found, problem.covariates(3, generator(2)), strict=True):
        weights = torch.stack([(token @ B.T @ x).exp() for token in context])
        off = A @ (weights / weights.sum() @ context) - problem.M @ x
        assert float(value) == pytest.approx(float(off @ off) / 2)


def test_at_the_optimum_only_the_contexts_noise_is_left(problem, generator):
    """𝓡_n ≈ 𝒱/(2n): over 30 contexts of 1000, within 5 standard errors."""
    A, B = at_radius(problem, 0.4)
    g = generator()
    means = torch.stack([
        2000 * risk.excess(A, B, problem.covariates(1000, g), problem, 500, g).mean() for _ in range(30)
    ])  # fmt: skip
    off = float(means.mean()) - noise.at_radius(problem.singular_values, 0.4)
    assert abs(off) < 5 * float(means.std()) / 30**0.5


def test_what_risk_refuses(problem, draw, generator):
    A = draw(5, 5)
    refused("A", "(4, 5)", "(5, 5)", risk.excess, A[:4], A, A, problem, 2, generator())
    refused("context", "(5, 4)", "(5, 5)", risk.excess, A, A, A[:, :4], problem, 2, generator())
