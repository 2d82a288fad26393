"""The bias of the gradient, written out and as it shrinks; floor and barrier against an adversary who adds one at every step."""

import pytest
import torch

from checks import refused
from companion.theory.preconditioned import bias, biased
from shallowformer.preconditioned import bounds, factorisation, gradients, invariance, landscape, limit
from shallowformer.preconditioned.algorithm import Algorithm


def test_it_is_the_difference_in_whitened_coordinates(problem, generator, draw):
    """By autograd of 𝓛_n and 𝓔 as functions of Ã and B̃."""
    X, Y = problem.samples(30, generator())
    tilde = [0.4 * draw(5, 5, seed=k).requires_grad_() for k in (1, 2)]
    A, B = tilde[0] @ problem.inverse_root, problem.inverse_root @ tilde[1] @ problem.inverse_root
    E = torch.softmax(X @ B @ X.T, 1) @ X @ A.T - Y
    off = E.square().sum() / 60 - (tilde[0] @ tilde[1].T - problem.target).square().sum() / 2
    expected = torch.autograd.grad(off, tilde, retain_graph=True)
    for ours, theirs in zip(bias.whitened(A.detach(), B.detach(), X, Y, problem), expected, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_its_square_is_of_order_1_over_n(problem, generator):
    """At the optimum with b = 0.4: medians of n times the square at n = 150 and 2400; with a square of order n^{−1/2} they differ by 4.

    Over hundreds of draws they are 1.2 apart, and medians of 20 have a relative standard error of about a quarter.
    """
    U, V = landscape.optimum(problem.target)
    c = float(torch.linalg.matrix_norm(V, 2)) / 0.4
    A, B = limit.unwhitened(*invariance.rescaled(U, V, c), problem.Sigma)
    g, medians = generator(), []
    for n in (150, 2400):
        squares = []
        for _ in range(20):
            off = bias.whitened(A, B, *problem.samples(n, g), problem)
            squares.append(n * sum(float(each.square().sum()) for each in off))
        medians.append(sorted(squares)[10])
    assert 1 / 3 < medians[0] / medians[1] < 3


@pytest.mark.parametrize("shape", [(7, 5), (30, 7, 5)])
def test_fresh_contexts_are_handed_on(problem, generator, draw, shape):
    X, Y = problem.samples(30, generator())
    A, B, context = draw(5, 5), 0.3 * draw(5, 5, seed=1), draw(*shape, seed=2)
    _, of_A, _ = gradients.loss_and_gradients(A, B, X, Y, context)
    expected = (of_A - limit.gradients(A, B, problem)[0]) @ problem.inverse_root
    assert torch.allclose(bias.whitened(A, B, X, Y, problem, context)[0], expected, rtol=1e-10)


def test_the_algorithms_coordinates(problem, generator, draw):
    """At a point of the algorithm: its direction, without the regulariser, is ∇f_0 plus the bias, where Σ̂ is Σ."""
    X, Y = problem.samples(40, generator())
    method = Algorithm(X, Y, lam=0.0, preconditioner=problem.Sigma)
    U, V = draw(5, 5), draw(5, 5, seed=1)
    A, B = method.parameters((U, V))
    off = bias.whitened(A, B, X, Y, problem, scale=method.scale_of(V))
    slope = factorisation.gradient(U, V, problem.target, 0.0)
    for direction, bare, more in zip(method.losses_and_gradient((U, V))[1], slope, off, strict=True):
        assert torch.allclose(direction, bare + more, rtol=1e-9, atol=1e-10)


def test_what_bias_refuses(problem, generator, draw):
    X, Y = problem.samples(30, generator())
    refused("B", "(4, 4)", "(5, 5)", bias.whitened, draw(5, 5), draw(4, 4), X, Y, problem)


S = torch.tensor([2.0, 0.7], dtype=torch.float64)


def pushed(f0, delta, eta, steps):
    """What f is after so many steps from the optimum with only s_d off, towards the saddle, and δ added in that direction."""
    x = (2 * float(S[-1]) - 2 * (2 * f0) ** 0.5) ** 0.5
    for _ in range(steps):
        x -= eta * ((x**2 - 2 * float(S[-1])) * x / 2 + delta)
        x = max(x, 0.0)
    U = (torch.tensor([2 * float(S[0]), x**2], dtype=torch.float64) / 2).sqrt().diag()
    return float(factorisation.value(U, U, S.diag()))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.25])
def test_floor_and_barrier_are_exact(share):
    delta = (share * 0.7**3) ** 0.5
    floor, barrier = biased.floor_and_barrier(S, delta)
    for f in (floor, barrier):
        assert bounds.pl_constant(S, f) * f == pytest.approx(delta**2)
    eta = bounds.step(S, barrier)
    assert pushed(0.99 * barrier, delta, eta, 3000) == pytest.approx(floor)
    assert pushed(1.01 * barrier, delta, eta, 3000) == pytest.approx(bounds.saddle_free(S))


def test_ends():
    assert biased.floor_and_barrier(S, 0.0) == pytest.approx((0.0, bounds.saddle_free(S)))
    floor, barrier = biased.floor_and_barrier(S, biased.most_bias(S))
    assert floor == pytest.approx(barrier, rel=1e-6)
    assert floor == pytest.approx(2 / 9 * 0.49, rel=1e-6)


def test_in_the_basin():
    delta = (0.7**3 / 4) ** 0.5
    bound = biased.in_the_basin(S, bounds.step(S), delta)
    floor, _ = biased.floor_and_barrier(S, delta)
    assert floor == pytest.approx(bound.floor) == pytest.approx(bound.most_f0)
    assert bound.contraction == pytest.approx(1 - 0.7 / (4 + 1.05))
    assert bound.at(3, 0.01) == pytest.approx(bound.contraction**3 * 0.01 + bound.floor)


def test_what_biased_refuses():
    refused("eta", "1", "its limit", biased.in_the_basin, S, 1.0, 0.0)
    refused("delta", "1", "its limit", biased.in_the_basin, S, 0.01, 1.0)
    refused("delta", "1", "most_bias", biased.floor_and_barrier, S, 1.0)
    refused("f0", "1", "most_f0", biased.in_the_basin(S, 0.01, 0.0).at, 3, 1.0)
