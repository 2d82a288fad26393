"""Exercises of the room preconditioned, chapter by chapter: right answers pass, other routes to them too; others are told why they are not."""

import itertools
import math

import numpy as np
import torch

from companion.exercises.preconditioned import factorisation as factorisation_exercises
from companion.exercises.preconditioned import geometric, real_tables, tilting
from companion.exercises.preconditioned import ingredients as ingredients
from companion.theory.preconditioned import biased, rows
from shallowformer.preconditioned import above, bounds, covariances, factorisation, flow, problems
from shallowformer.preconditioned.limit import Population


def by_autograd(U, V, M, lam):
    U, V = U.requires_grad_(), V.requires_grad_()
    return torch.cat(torch.autograd.grad(factorisation.value(U, V, M, lam), (U, V)))


def test_a_gradient_by_automatic_differentiation_is_right():
    assert factorisation_exercises.check_gradient(by_autograd).passed


def test_the_wait_is_that_of_the_flow():
    time = math.log(1e6 - 1)
    factor = torch.full((1, 1), 1e-3 / 2**0.5, dtype=torch.float64)
    ((U, V),) = flow.solve(factor, factor, torch.full((1, 1), 0.5, dtype=torch.float64), [time])
    assert abs(float((U + V) ** 2 / 2) - 0.5) < 1e-6
    assert factorisation_exercises.check_wait(time).passed


def test_no_narrow_saddle_is_flatter_than_the_exercise_says():
    """Hessians at all sets of two, and of fewer."""
    s, flattest = torch.tensor([3.0, 2.0, 1.9, 0.5], dtype=torch.float64), -math.inf
    for size in range(3):
        for kept in itertools.combinations(range(4), size):
            if kept == (0, 1):
                continue
            factor = torch.zeros(4, 2, dtype=torch.float64)
            for column, row in enumerate(kept):
                factor[row, column] = s[row].sqrt()
            H = factorisation.hessian(factor, factor, s.diag())
            flattest = max(flattest, float(torch.linalg.eigvalsh(H)[0]))
    assert factorisation_exercises.check_narrow(flattest).passed


def test_the_factor_is_the_packages():
    def by_package(s, f0):
        s = torch.tensor(s, dtype=torch.float64)
        return bounds.contraction(s, bounds.step(s, f0), f0)

    assert geometric.check_factor(by_package).passed


def test_samples_are_those_below_which_the_barrier_is_gone():
    s = torch.tensor([0.5], dtype=torch.float64)
    answer = next(n for n in range(1, 1000) if 20 / n < biased.most_bias(s) ** 2 * (1 - 1e-12))
    assert geometric.check_samples(answer).passed
    floor, barrier = biased.floor_and_barrier(s, (20 / answer) ** 0.5)
    assert floor < 1 / 18 < barrier


def test_the_length_is_that_of_the_scalar_flow():
    s, x, length, step = 0.5, (2 * 0.5 * 0.25) ** 0.5, 0.0, 1e-3
    while abs(x**2 - 2 * s) > 1e-9:
        move = -step * (x**2 - 2 * s) * x / 2
        x, length = x + move, length + abs(move)
    assert geometric.check_length(length).passed


def by_square_roots(M):
    """V = (MᵀM)^¼ and U = MV⁻¹, without singular vectors."""
    values, basis = torch.linalg.eigh(M.T @ M)
    V = basis * values**0.25 @ basis.T
    return torch.cat([M @ torch.linalg.inv(V), V])


def test_polar_factors_by_square_roots_are_right():
    assert ingredients.check_polar(by_square_roots).passed


def test_the_condition_number_is_that_of_the_gradient_s_derivative():
    Sigma = torch.tensor([0.01, 1.0], dtype=torch.float64).diag()
    half = torch.tensor([1.0, 0.5], dtype=torch.float64).diag()
    inverse = covariances.roots(Sigma)[1]
    objective = Population(problems.Problem(Sigma, half @ half @ inverse))
    A, B = half @ inverse, inverse @ half @ inverse

    def slope(flat):
        _, found = objective.losses_and_gradient(tuple(flat.view(2, 2, 2)))
        return torch.stack(found).flatten()

    H = torch.autograd.functional.jacobian(slope, torch.stack([A, B]).flatten())
    values = torch.linalg.eigvalsh((H + H.T) / 2)
    assert ingredients.check_raw(values[-1] / values[4]).passed


def test_the_ridge_s_factor_is_that_of_whitened_tokens():
    longer = [float(t * (torch.tensor(t**2 + 0.21).double()) ** -0.5) for t in (1e8, 1.0)]
    assert ingredients.check_ridge(longer[0] / longer[1]).passed


def test_a_library_s_softmax_is_right():
    def mean(tokens, q):
        x = torch.tensor(tokens, dtype=torch.float64)
        return torch.softmax(q * x, 0) @ x

    assert tilting.check_tilted_mean(mean).passed
    assert tilting.check_tilted_mean(lambda x, q: np.average(x, weights=np.exp(q * np.array(x)))).passed


def test_the_numbers_are_right():
    b = next(b for b in np.arange(0.8, 2, 1e-4) if above.exponent(float(b)) <= 0.5)
    assert tilting.check_half(float(b)).passed
    assert tilting.check_laplace(4 / 3).passed


def test_the_threshold_is_told_from_the_answer():
    assert "1/n" in tilting.check_half(0.7071).told


def test_the_bend_by_loops():
    def by_loops(h, b):
        total = 0.0
        for query in h.tolist():
            weights = [math.exp(b * query * token) for token in h.tolist()]
            average = sum(w * t for w, t in zip(weights, h.tolist(), strict=True)) / sum(weights)
            total += (average / b - query) ** 2
        return total / len(h)

    assert real_tables.check_bend(by_loops).passed
    for hint, wrong in real_tables.BEND_MISTAKES.items():
        assert hint in real_tables.check_bend(wrong).told


def test_rows_are_white_by_singular_vectors():
    def by_singular_vectors(X):
        centred = X - X.mean(0)
        U, _, Vh = torch.linalg.svd(centred, full_matrices=False)
        return len(X) ** 0.5 * U @ Vh

    assert real_tables.check_whiten(by_singular_vectors).passed
    for hint, wrong in real_tables.WHITEN_MISTAKES.items():
        assert hint in real_tables.check_whiten(wrong).told


def test_the_first_bend_of_rain_is_that_of_a_table():
    """Third moments of a thousand rows; and, from them too, what attention does at a small radius."""
    layer = lambda b: rows.Layer(torch.ones(1, dtype=torch.float64), b)

    def column(p):
        h = (torch.arange(1000) < 1000 * p).double()[:, None]
        return rows.whitened(h)

    assert real_tables.check_first_bend(lambda p: rows.cubic(layer(1.0), column(p))).passed
    measured = rows.floor(layer(1e-3), column(0.2)) / 1e-6
    assert abs(measured / rows.cubic(layer(1.0), column(0.2)) - 1) < 0.01
    rare = rows.floor(layer(0.4), column(0.001))
    assert abs(rare - (1 / 0.4 - 1) ** 2) < 0.01
    for hint, wrong in real_tables.FIRST_BEND_MISTAKES.items():
        assert hint in real_tables.check_first_bend(wrong).told
