"""Right answers pass, as the mathematics gives them anew; others are told where to look."""

import torch
from scipy.optimize import minimize_scalar

from companion.exercises.residual import convergence
from companion.experiments.residual import admissible_starts as posed
from shallowformer.residual import model
from shallowformer.residual.parameters import Parameters


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
