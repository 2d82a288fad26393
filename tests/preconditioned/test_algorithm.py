"""The algorithm against the pseudo-code written out, its limit, and what each switch is to change."""

import pytest
import torch

from checks import numbers, refused
from shallowformer.preconditioned import (
    algorithm,
    factorisation,
    gradients,
    invariance,
    limit,
    problems,
    starts,
)
from shallowformer.preconditioned.algorithm import Algorithm
from shallowformer.preconditioned.moments import Moments
from shallowformer.training.descent import Diverged


def written_out(X, Y, U, V, eta, steps, b=0.4, lam=0.5):
    """Section 4 of the design, line by line, gradients by autograd."""
    n = len(X)
    values, basis = torch.linalg.eigh(X.T @ X / n)
    K, Kinv = basis * values.sqrt() @ basis.T, basis / values.sqrt() @ basis.T
    for _ in range(steps):
        c = torch.linalg.svdvals(V)[0] / b
        A, B = (c * U @ Kinv).requires_grad_(), (Kinv @ (V / c) @ Kinv).requires_grad_()
        f = torch.softmax(X @ B @ X.T, 1) @ X @ A.T
        gA, gB = torch.autograd.grad((f - Y).square().sum() / (2 * n), (A, B))
        C = U.T @ U - V.T @ V
        assert abs(float(torch.linalg.svdvals(K @ B.detach() @ K)[0]) - b) < 1e-12
        U, V = U - eta * (c * gA @ Kinv + lam * U @ C), V - eta * (Kinv @ gB @ Kinv / c - lam * V @ C)
    return U, V


@pytest.mark.parametrize(("b", "lam"), [(0.4, 0.5), (0.6, 0.0)])
def test_the_pseudo_code(problem, generator, b, lam):
    X, Y = problem.samples(60, generator())
    start = starts.coarse(X, Y, 20, 0.1, generator(1))
    method = Algorithm(X, Y, radius=b, lam=lam)
    found = algorithm.run(method, start, steps=8)
    eta = 1 / float(method.moments.singular_values[0] + method.moments.singular_values[-1])
    for ours, theirs in zip(found.run.end, written_out(X, Y, *start, eta, 8, b, lam), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-11)
    assert torch.allclose(found.radius, torch.full((9,), b, dtype=torch.float64), rtol=1e-12)


def test_the_direction_is_the_gradient_of_the_state(problem, generator):
    """With c held: the gradient of 𝓛_n(A(U), B(V)) + regulariser, by autograd, in any coordinates."""
    X, Y = problem.samples(40, generator())
    for preconditioner in (None, torch.eye(5, dtype=torch.float64), problem.Sigma):
        for invariant in (False, True):
            method = Algorithm(X, Y, preconditioner=preconditioner, invariant=invariant, lam=0.7)
            point = method.point(*starts.coarse(X, Y, 20, 0.1, generator(1)))
            c = method.scale_of(point[1])
            R = method.moments.inverse_root if preconditioner is None else torch.linalg.inv(
                _root(preconditioner)
            )  # fmt: skip

            def f(U, V, c=c, R=R, invariant=invariant):
                A, B = c * U @ R, R @ V @ R / c
                E = torch.softmax(X @ B @ X.T, 1) @ X @ A.T - Y
                more = (
                    invariance.regulariser(U, V, 0.7)
                    if invariant
                    else 0.7 / 4 * (U.T @ U - V.T @ V).square().sum()
                )
                return E.square().sum() / 80 + more

            inputs = tuple(block.clone().requires_grad_() for block in point)
            expected = torch.autograd.grad(f(*inputs), inputs)
            for ours, theirs in zip(method.losses_and_gradient(point)[1], expected, strict=True):
                assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def _root(Sigma):
    values, basis = torch.linalg.eigh(Sigma)
    return basis * values.sqrt() @ basis.T


def test_all_coordinates_begin_at_the_same_attention(problem, generator):
    X, Y = problem.samples(60, generator())
    start = starts.coarse(X, Y, 20, 0.1, generator(1))
    A, B = Algorithm(X, Y).parameters(start)
    for preconditioner in (torch.eye(5, dtype=torch.float64), problem.Sigma):
        method = Algorithm(X, Y, preconditioner=preconditioner)
        point = method.point(*start)
        for ours, theirs in zip(method.parameters(point), (A, B), strict=True):
            assert torch.allclose(ours, theirs, atol=1e-11)


def test_a_symmetric_start_does_not_see_the_covariance(generator, draw):
    """The same data in other coordinates: the same outputs at every step. From the plain spectral start they differ at this n."""
    X, Y = problem_data(generator)
    L = draw(5, 5, seed=9)

    def outputs(X, symmetric):
        method = Algorithm(X, Y)
        start = starts.spectral(Moments.of(X[:20], Y[:20]), symmetric=symmetric)
        # The start of a part of the data, whitened by all: its own coordinates are those of its own covariance.
        own = Moments.of(X[:20], Y[:20]).inverse_root
        A, B = start[0] @ own, own @ start[1] @ own
        root = method.moments.root
        run = algorithm.run(method, (A @ root, root @ B @ root), steps=5)
        return gradients.outputs(run.A, run.B, X, X), run.loss

    for ours, theirs in zip(outputs(X, True), outputs(X @ L, True), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-9)
    assert not torch.allclose(outputs(X, False)[1], outputs(X @ L, False)[1], atol=1e-3)


def problem_data(generator):
    problem = problems.random(numbers(1.5, 1.2, 0.9, 0.6, 0.4), 10.0, generator(7))
    return problem.samples(60, generator())


def test_raw_descent_is_what_the_identity_leaves(problem, generator):
    """No preconditioner, radius or regulariser: plain steps on (A, B)."""
    X, Y = problem.samples(60, generator())
    method = Algorithm(X, Y, radius=None, lam=0.0, preconditioner=torch.eye(5, dtype=torch.float64))
    start = method.point(*starts.subsample(X, Y, 20))
    loss, slope = method.losses_and_gradient(start)
    expected, plain = gradients.Regression(X, Y).losses_and_gradient(start)
    assert torch.allclose(loss, expected)
    assert all(torch.allclose(a, b, rtol=1e-12) for a, b in zip(slope, plain, strict=True))


def test_a_fixed_scale(problem, generator):
    X, Y = problem.samples(60, generator())
    start = starts.coarse(X, Y, 20, 0.1, generator(1))
    run = algorithm.run(Algorithm(X, Y, radius=None, scale=3.0), start, steps=5)
    assert run.scale.tolist() == [3.0] * 6
    assert float(run.radius[0]) == pytest.approx(float(torch.linalg.matrix_norm(start[1], 2)) / 3)
    assert float(run.radius.std()) > 1e-4


def test_it_converges_to_a_floor_of_order_1_over_n(problem, generator):
    """From a coarse start the error falls by a factor of 10 in 8 steps, stays there, and n · floor is about 10 (notes: 8 to 14)."""
    floors = []
    for k in range(3):
        X, Y = problem.samples(1000, generator(100 + k))
        start = starts.coarse(X, Y, 40, 0.1, generator(k))
        run = algorithm.run(Algorithm(X, Y), start, steps=20, problem=problem)
        assert float(run.error[8]) < 0.1 * float(run.error[0])
        floors.append(1000 * float(run.error[-1]))
        assert float(run.error[-1]) == pytest.approx(float(limit.error(run.A, run.B, problem)))
    assert 4 < sum(floors) / 3 < 30


def test_what_is_recorded(problem, generator):
    X, Y = problem.samples(40, generator())
    method = Algorithm(X, Y)
    start = starts.coarse(X, Y, 20, 0.1, generator(1))
    run = algorithm.run(method, start, steps=4, every=2)
    assert run.steps.tolist() == [0, 2, 4]
    assert torch.isnan(run.error).all()
    assert float(run.loss[0]) == pytest.approx(
        float(gradients.loss_and_gradients(*method.parameters(start), X, Y)[0])
    )
    assert float(run.imbalance[0]) == pytest.approx(float(factorisation.imbalance(*start).norm()))
    assert float(run.scale[0]) == pytest.approx(method.scale_of(start[1]))


def test_a_rank(generator):
    """Rank 2 of 3, rows and columns apart: factors keep their two columns, attention its shapes."""
    problem = problems.random(numbers(1.0, 0.5), 5.0, generator(), d=3, m=4)
    X, Y = problem.samples(400, generator(1))
    method = Algorithm(X, Y)
    start = starts.perturbed(*starts.spectral(method.moments, rank=2), 0.1, generator(2))
    run = algorithm.run(method, start, steps=30, eta=0.5, problem=problem)
    assert (run.run.end[0].shape, run.run.end[1].shape) == ((4, 2), (3, 2))
    assert (run.A.shape, run.B.shape) == ((4, 3), (3, 3))
    assert int(torch.linalg.matrix_rank(run.B)) == 2
    assert float(run.error[-1]) < 0.2 * float(run.error[0])
    raw = Algorithm(X, Y, preconditioner=torch.eye(3, dtype=torch.float64))
    for ours, theirs in zip(raw.parameters(raw.point(*start)), method.parameters(start), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("kind", ["shared", "own"])
def test_fresh_contexts(problem, generator, kind):
    X, Y = problem.samples(60, generator())
    context = (
        problem.covariates(80, generator(1)) if kind == "shared" else problem.contexts(60, 80, generator(1))
    )
    method = Algorithm(X, Y, context=context)
    start = starts.coarse(X, Y, 20, 0.1, generator(1))
    loss, (of_U, _) = method.losses_and_gradient(start)
    A, B = method.parameters(start)
    expected, of_A, _ = gradients.loss_and_gradients(A, B, X, Y, context)
    assert torch.equal(loss, expected[None])
    C = factorisation.imbalance(*start)
    ours = method.scale_of(start[1]) * of_A @ method.moments.inverse_root + 0.5 * start[0] @ C
    assert torch.allclose(of_U, ours, rtol=1e-12)


def test_too_long_a_step_diverges(problem, generator):
    X, Y = problem.samples(60, generator())
    with pytest.raises(Diverged):
        algorithm.run(Algorithm(X, Y), starts.coarse(X, Y, 20, 0.1, generator(1)), steps=200, eta=50.0)


def test_refused(problem, generator, draw):
    X, Y = problem.samples(20, generator())
    for b in (2**-0.5, 1.0):
        refused("radius", repr(b), "(0, 1/√2 = 0.7071)", Algorithm, X, Y, radius=b)
    assert Algorithm(X, Y, radius=1.0, allow_large_radius=True).scale_of(torch.eye(5).double()) == 1.0
    refused("X", "n = 5", "more than d = 5", Algorithm, X[:5], Y[:5])
    assert Algorithm(X[:5], Y[:5], ridge=0.1).n == 5
    with refused("Sigma", "eigenvalues", "positive definite"):
        Algorithm(X, Y, preconditioner=torch.zeros(5, 5, dtype=torch.float64))
    with refused("preconditioner", "(4, 4)", "(5, 5)"):
        Algorithm(X, Y, preconditioner=torch.eye(4, dtype=torch.float64))
    refused("U", "(4, 5)", "(5, 5)", algorithm.run, Algorithm(X, Y), (draw(4, 5), draw(5, 5)), steps=1)
    refused("U", "6", "d = 5", algorithm.run, Algorithm(X, Y), (draw(5, 6), draw(5, 6)), steps=1)
    with refused("problem", "2 and 2", "m = 5 and d = 5"):
        other = problems.Problem(torch.eye(2, dtype=torch.float64), draw(2, 2))
        algorithm.run(Algorithm(X, Y), (draw(5, 5), draw(5, 5)), steps=1, problem=other)
    with refused("Y", "1 entries", "finite"):
        Y[0, 0] = torch.nan
        Algorithm(X, Y)
