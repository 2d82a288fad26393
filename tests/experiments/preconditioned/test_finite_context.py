"""Contexts, finite, infinite and one for all: rows are what their definitions say, and stored rows agree with the theorems."""

import math

import pytest
import torch

from checks import unchecked
from companion.experiments.preconditioned import finite_context, infinite_context, one_context
from companion.experiments.preconditioned.ingredients import posed
from companion.theory.preconditioned import influence
from shallowformer.experiments.experiment import stored
from shallowformer.preconditioned import above, exact, gradients, invariance, landscape, limit, noise

CPU = torch.device("cpu")


def test_the_optimum_is_one():
    problem = finite_context.five()
    A, B = finite_context.optimum(problem, 0.3)
    torch.testing.assert_close(A @ problem.Sigma @ B.T, problem.M, rtol=0, atol=1e-10)
    assert float(torch.linalg.matrix_norm(problem.root @ B @ problem.root, 2)) == pytest.approx(0.3)


def test_a_row_is_drawn_from_the_package():
    config = finite_context.Drawn(0.3, 15, 2, contexts=4, queries=3)
    with unchecked():
        row = finite_context.draw(config, CPU)
        problem = finite_context.five()
        generator = torch.Generator().manual_seed(2 * 10**7 + 1500 + 30)
        A, B = finite_context.optimum(problem, 0.3)
        values = noise.measured(A, B, problem.Sigma, 15, 4, 3, generator)
    assert row["mean"] == pytest.approx(float(values.mean()))


@pytest.mark.parametrize("among", [False, True])
def test_a_row_of_the_other_design_by_hand(among):
    config = finite_context.Own(0.3, 4, 1, among, tokens=12)
    row = finite_context.own(config, CPU)
    A, B, M = finite_context.generic(0.3)
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(3, 2, generator=generator, dtype=torch.float64)
    tokens = torch.randn(3, 4, 2, generator=generator, dtype=torch.float64)
    if among:
        tokens[:, 0] = x
    z = gradients.attended(B, x, tokens)
    assert row["mean"] == pytest.approx(float(4 * ((z - x @ B) @ A.T).square().sum(1).mean()))
    F = A @ B.T - M
    risk = 4 * ((z @ A.T - x @ M.T).square().sum(1) - (x @ F.T).square().sum(1))
    for k in range(3):
        q = x[k] @ B
        for token in tokens[k, int(among) :]:
            first = float((token @ q - q @ q / 2).exp()) * (token - q)
            risk[k] -= 2 * float((F @ x[k]) @ (A @ first))
    assert row["risk"] == pytest.approx(float(risk.mean()))


def test_a_huge_context_by_quadrature():
    row = finite_context.huge(finite_context.Huge(0.5, (1, 2)), CPU)
    assert row["log_risk"] == pytest.approx([math.log(v) for v in exact.isotropic(0.5, 1, [10, 100])])


def test_stored_rows_agree_with_the_theorem():
    rows = stored(finite_context.HUGE)
    assert len(rows) == 9
    for row in rows:
        if row["b"] < noise.THRESHOLD:
            one = torch.ones(1, 1, dtype=torch.float64)
            V = noise.constant(one, row["b"] * one, one)
            prices = [
                math.exp(v + k * math.log(10)) for v, k in zip(row["log_risk"], row["log10_n"], strict=True)
            ]
            assert all(price <= V * (1 + 1e-8) for price in prices)
            assert prices[-1] == pytest.approx(V, rel=1e-3)
        else:
            slope = (row["log_risk"][-3] - row["log_risk"][-1]) / (32 * math.log(10))
            assert slope == pytest.approx(above.exponent(row["b"]), abs=0.02)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_curvature_is_that_of_the_hessian(scale):
    problem = posed(3, 7.0, 0.0)
    factors = invariance.rescaled(*landscape.optimum(problem.target), scale)
    point = torch.stack(limit.unwhitened(*factors, problem.Sigma)).flatten()
    error = lambda flat: limit._error(*flat.view(2, 3, 3), problem)
    values = torch.linalg.eigvalsh(torch.autograd.functional.hessian(error, point))
    assert infinite_context.curvature(problem, scale) == pytest.approx([float(values[9]), float(values[-1])])


def test_preconditioned_counts_do_not_depend_on_the_covariance_and_raw_ones_do():
    rows = [
        infinite_context.count(infinite_context.Count(k, "near", 3, most=500, threshold=1e-4), CPU)
        for k in (1.0, 10.0)
    ]
    assert rows[0]["ours"] == rows[1]["ours"] < 20
    assert rows[1]["raw"] > 2 * rows[0]["raw"]
    assert rows[0]["spread"] == pytest.approx(4.0)


def test_the_whitened_step_is_preconditioned_descent():
    """The count on f_λ at a balanced start with λ that does not act is that of (PC)."""
    problem = posed(3, 20.0, 0.0)
    s = problem.singular_values
    U, V = infinite_context.whitened_start(problem, "near", 1)
    A, B = limit.unwhitened(U, V, problem.Sigma)
    _, (of_A, of_B) = limit.Population(problem, problem.Sigma).losses_and_gradient((A, B))
    eta = 1 / float(s[0] + s[-1])
    D = U @ V.T - problem.target
    after = limit.whitened(A - eta * of_A, B - eta * of_B, problem.Sigma)
    torch.testing.assert_close(after[0], U - eta * D @ V)
    torch.testing.assert_close(after[1], V - eta * D.T @ U)


def test_balance_is_kept_or_restored():
    rows = {lam: infinite_context.balance(infinite_context.Balance(2.0, lam, 1), CPU) for lam in (0.0, 0.5)}
    assert rows[0.0]["imbalance"] > 1 > 0.01 > rows[0.5]["imbalance"]


def test_an_unknown_start_is_refused():
    with pytest.raises(ValueError, match="far"):
        infinite_context.whitened_start(posed(2, 1.0, 0.0), "far", 0)


@pytest.mark.parametrize("own", [False, True])
def test_a_row_is_made_of_single_contexts(own):
    row = one_context.compute(one_context.Config(1.5, 20, 3, 5, own), CPU)
    generator = torch.Generator().manual_seed(3 * 10**7 + 2000 + 15)
    tokens = torch.randn(5, 20, generator=generator, dtype=torch.float64)
    each = [influence.among(x, 1.5) if own else influence.deviation(x[None], 1.5)[0] for x in tokens]
    sizes = sorted(abs(float(T)) for T in each)
    assert row["median"] == pytest.approx(sizes[2])
    assert row["square"] == pytest.approx(20 * sum(T**2 for T in sizes) / 5)


def test_a_mean_by_quadrature():
    row = one_context.mean(one_context.Mean(0.8, (1, 2)), CPU)
    assert row["log_mean"] == pytest.approx([math.log(v) for v in exact.shortfall(0.8, [10, 100])])


def test_stored_means_fall_with_the_exponent_of_the_theorem():
    for row in stored(one_context.MEAN):
        slope = (row["log_mean"][0] - row["log_mean"][2]) / (32 * math.log(10))
        assert slope == pytest.approx(above.exponent(row["b"]), abs=0.01)
