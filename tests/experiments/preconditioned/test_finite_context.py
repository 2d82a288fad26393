"""Rows are what their definitions say, and stored rows agree with the exact law and the theorem."""

import math

import pytest
import torch

from checks import unchecked
from companion.experiments.preconditioned import finite_context
from shallowformer.experiments.experiment import stored
from shallowformer.preconditioned import above, exact, gradients, noise

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


def test_stored_rows_are_complete():
    assert len(stored(finite_context.EXPERIMENT)) == 210
    assert len(stored(finite_context.OWN)) == 180
