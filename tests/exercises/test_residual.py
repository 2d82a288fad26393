"""Exercises of the room residual, chapter by chapter: right answers pass, other routes to them too; others are told why they are not."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar

from companion.exercises.residual import climate, convergence, random_start, residuals, transformer
from companion.experiments.residual import admissible_starts as posed
from shallowformer.residual import model
from shallowformer.residual.parameters import Parameters
from shallowformer.residual.smoothed import SmoothedReLU


def test_hours_pass_in_any_order_of_thought():
    assert climate.check_hours(lambda minutes: [m for m in minutes if m % 60 == 0]).passed
    assert climate.check_hours(lambda minutes: sorted(set(minutes) & set(range(0, 1440, 60)))).passed
    twice = climate.check_hours(lambda minutes: 2 * [m for m in minutes if m % 60 == 0])
    assert twice.state == "wrong"


def test_the_number_of_steps_is_that_of_three_runs():
    sigma = np.array([1.0, 0.3, 0.1])
    y = np.array([1.0, -2.0, 0.7])

    def run(g, mu, steps):
        w = np.zeros(3)
        for _ in range(steps):
            w = w - mu * g * sigma * (g * sigma * w - y)
        return np.square(g * sigma * w - y).sum() / np.square(y).sum()

    goal = run(2, 1 / 4, 400)  # the step of coefficient 2: 1 over its curvature of 4
    with_that_step = next(t for t in range(1, 4000) if run(1, 1 / 4, t) <= goal * (1 + 1e-9))
    own = next(t for t in range(1, 4000) if run(1, 1.0, t) <= goal * (1 + 1e-9))
    assert with_that_step == pytest.approx(1600, abs=10)
    assert climate.check_steps(own).passed


def test_the_ill_conditioned_problem_is_ahead_for_so_long():
    def losses(squares, y):
        w = np.zeros(2)
        while True:
            error = np.sqrt(squares) * w - y
            yield np.square(error).sum() / 2
            w = w - np.sqrt(squares) * error

    A = losses(np.array([1, 1e-6]), np.sqrt([0.999, 0.001]))
    B = losses(np.array([1, 0.01]), np.array([0.0, 1.0]))
    pairs = [(next(A), next(B)) for _ in range(600)]
    behind = [t for t, (a, b) in enumerate(pairs) if t and b < a]
    assert behind == list(range(behind[0], 600))
    assert climate.check_ahead(behind[0]).passed


def test_the_rate_by_the_kernel_of_one_block():
    def rate(A, W_U, mu):
        kernel = torch.kron(A @ A.T, W_U.T @ W_U)
        return 1 - mu * torch.linalg.eigvalsh(kernel)[0]

    assert convergence.check_rate(rate).passed
    assert convergence.check_rate(lambda A, W_U, mu: float(rate(A, W_U, mu))).passed


def test_the_share_by_a_search():
    s_0, M = 0.7, 5.0
    product = lambda delta: -(delta - delta**2 / 2) * s_0**2 / M * ((1 - delta) * s_0) ** 2
    assert convergence.check_share(minimize_scalar(product, bounds=(0, 1), method="bounded").x).passed


def test_frozen_attention_by_a_jacobian_of_four_blocks():
    """M_2 of the four blocks by forms of a direction in them: rows and columns of two are left out."""
    from companion.theory.residual import certificates, derivatives

    X, theta, setting, _ = posed.instance(posed.Config("kernel", 0, False))
    outputs = lambda *W: model.unchecked(X, Parameters(theta.W_Q, theta.W_K, *W), setting).F.flatten()
    J = torch.cat([part.flatten(1) for part in torch.func.jacrev(outputs, tuple(range(4)))(*theta[2:])], 1)
    s_0 = float(torch.linalg.eigvalsh(J @ J.T)[0]) ** 0.5

    def bend(r):
        n = torch.ones(4, dtype=torch.float64)
        second = derivatives.forms(X, theta, setting, r).second[2:, 2:]
        for _ in range(500):
            n = second @ n
            n = n / n.norm()
        return float(n @ second @ n)

    r = 0.0
    for _ in range(60):
        r = s_0 / 2 / bend(r)
    e = s_0 * r - bend(r) * r**2 / 2
    factor = e**2 / 2 / certificates.by_kernel(X, theta, setting, 0.5).loss
    assert convergence.check_frozen(factor).passed


def test_a_waste_found_by_a_search_over_errors_passes():
    def waste(lam, mu):
        K = np.array(lam)
        shares = np.random.default_rng(0).dirichlet(np.full(len(lam), 0.1), 5000)
        shares = np.concatenate([shares, np.eye(len(lam))])
        left = np.sqrt(shares @ (1 - mu * K) ** 2) + mu * np.sqrt(K.min() * (shares @ K))
        return 1 - left.min()

    assert random_start.check_waste(waste).passed


def test_the_width_is_that_of_the_integral():
    area = lambda d_1: quad(lambda x: ((d_1 / 4) ** 0.5 - 2 * x) ** 2, 0, (d_1 / 4) ** 0.5 / 2)[0]
    answer = next(d_1 for d_1 in range(1, 1000) if area(d_1) >= 9)
    assert random_start.check_width(answer).passed


def test_the_longest_step_is_where_a_search_over_errors_begins_to_fail():
    angles = np.linspace(0, np.pi / 2, 20_001)
    E, lam = np.stack([np.cos(angles), np.sin(angles)]), np.array([[1.0], [4.0]])
    worst = lambda mu: (
        np.linalg.norm((1 - mu * lam) * E, axis=0) + mu * np.linalg.norm(lam**0.5 * E, axis=0)
    ).max()
    assert worst(0.25) <= 1 + 1e-12
    assert worst(0.2505) > 1 + 1e-9
    assert random_start.check_step(0.25).passed


def test_counting_steps_passes_up_to_their_whole_number():
    def by_growing(eps, r, mu, sigma):
        size, steps = eps, 0
        while size * (1 + mu * sigma) <= r:
            size, steps = size * (1 + mu * sigma), steps + 1
        return steps + math.log(r / size) / math.log(1 + mu * sigma)

    assert residuals.check_escape(by_growing).passed


def test_the_leak_by_integration():
    x = torch.arange(-9, 9, 1e-3, dtype=torch.float64)
    mass = torch.exp(-x.square() / 2) * 1e-3 / math.sqrt(2 * math.pi)
    values = torch.where(x > 0, x, x / 2)
    mean = mass @ values
    assert residuals.check_leaky(float(mass @ (values - mean).square())).passed
    assert "odd part" in residuals.check_leaky(9 / 16).told


def test_the_rank_of_three_documents():
    S = torch.block_diag(*[torch.full((4, 4), 0.25, dtype=torch.float64)] * 3)
    rank = int(torch.linalg.matrix_rank(torch.eye(12, dtype=torch.float64) - S))
    assert residuals.check_rank(rank).passed
    assert "vector of its own" in residuals.check_rank(11).told


def test_back_through_the_softmax_by_any_way():
    def by_jacobian(S, M):
        return torch.stack([(torch.diag(s) - torch.outer(s, s)) @ m for s, m in zip(S, M, strict=True)])

    def by_autograd(S, M):
        L = S.log().requires_grad_()
        return torch.autograd.grad((torch.softmax(L, -1) * M).sum(), L)[0]

    assert transformer.check_through_softmax(by_jacobian).passed
    assert transformer.check_through_softmax(by_autograd).passed


def test_the_width_of_the_corner_by_differences():
    def curvature(tau, step=1e-5):
        loss = lambda w: float((1 + SmoothedReLU(tau)(torch.tensor([w], dtype=torch.float64))) ** 2) / 2
        return (loss(step) - 2 * loss(0.0) + loss(-step)) / step**2

    assert transformer.check_kink(brentq(lambda tau: curvature(tau) - 8, 0.02, 0.2)).passed


def test_the_leak_s_constant_is_reached():
    four = np.ones((4, 4)) - 2 * np.eye(4)
    R = np.kron(four, four)
    assert np.allclose(R @ R, 16 * np.eye(16))
    gain = np.linalg.norm(np.where(R > 0, R, 0.1 * R), 2) / np.linalg.norm(R, 2)
    assert transformer.check_leak(gain).passed
