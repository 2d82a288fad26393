"""Derivatives of a head along a direction, and how fast the third one can change, against automatic differentiation."""

import math

import pytest
import torch
from torch.autograd.functional import jacobian

from shallowformer import data
from shallowformer.kernel_regime.linear_run import curvature


def derivative(f):
    """The derivative of a function, itself differentiable."""
    return lambda point: jacobian(f, point, create_graph=True)


def draw(n=3, T=5, d=2, N=4, seed=0, size=1.0):
    generator = torch.Generator().manual_seed(seed)
    normal = lambda *shape: size * torch.randn(*shape, generator=generator, dtype=torch.float64)
    X = data.clipped_gaussian(n, T, d, generator)
    return X, X[:, -1], normal(N, d), normal(N, d, d), normal(N, d + d * d)


def head(X, q, theta):
    """H of one sample and head, of θ = (U, W) flattened."""
    d = X.shape[-1]
    U, W = theta[:d], theta[d:].reshape(d, d)
    return torch.tanh(torch.softmax(X @ (W @ q), -1) @ X @ U)


def line(X, q, theta, move):
    """The first three derivatives at 0 of t ↦ h(θ + tδ)."""
    f = lambda t: head(X, q, theta + t * move)
    zero = torch.zeros((), dtype=X.dtype)
    first = derivative(f)
    second = derivative(first)
    return first(zero), second(zero), derivative(second)(zero)


@pytest.mark.parametrize(("T", "d", "size"), [(1, 1, 1.0), (2, 1, 1.0), (5, 2, 1.0), (4, 3, 30.0)])
def test_derivatives_along_a_direction(T, d, size):
    X, q, U, W, move = draw(T=T, d=d, size=size)
    move = move / size
    heads = curvature.Heads(X, q, U, W)
    along = heads.along(heads.seen(move))
    for alone, same in zip(heads.twice(heads.seen(move)), (along.first, along.second), strict=True):
        assert torch.equal(alone, same)
    theta = torch.cat([U, W.flatten(1)], 1)
    for j in range(len(X)):
        for i in range(len(U)):
            first, second, third = line(X[j], q[j], theta[i], move[i])
            got = torch.stack([along.first[j, i], along.quadratic[j, i], along.cubic[j, i]])
            want = torch.stack([first, second, third])
            assert torch.allclose(got, want, rtol=1e-10, atol=1e-12), (j, i)


def test_derivatives_as_covectors():
    X, q, U, W, move = draw()
    heads = curvature.Heads(X, q, U, W)
    along = heads.along(heads.seen(move))
    theta = torch.cat([U, W.flatten(1)], 1)
    f = lambda point: head(X[1], q[1], point)
    for i in range(len(U)):
        e = move[i]
        gradient = derivative(f)(theta[i])
        hessian = derivative(derivative(f))(theta[i])
        third = derivative(derivative(derivative(f)))(theta[i])
        for got, want in (
            (heads.gradient, gradient),
            (along.second, hessian @ e),
            (along.third, torch.einsum("ijk,j,k->i", third, e, e)),
        ):
            assert torch.allclose(heads.full(got)[1, i], want, rtol=1e-10, atol=1e-12)
        assert torch.linalg.matrix_norm(hessian, 2) <= heads.hessian_norm[1, i] * (1 + 1e-9)
        unfolded = torch.linalg.matrix_norm(
            third.flatten(1), 2
        )  # at least the norm as a form, at most √ its sides
        assert unfolded <= heads.third_norm[1, i] * len(e) ** 0.5


def cubic(heads, e):
    """∇³h[e, e, e] for all samples and heads, e one direction a head."""
    return heads.along(heads.seen(e)).cubic


@pytest.mark.parametrize("radius", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("size", [0.3, 1.0, 3.0])
def test_the_third_derivative_grows_as_allowed(radius, size):
    """Moves and directions of all kinds, among them along the gradient and along the query."""
    for seed in range(20):
        X, q, U, W, move = draw(T=4, d=2, N=6, seed=seed, size=size)
        heads = curvature.Heads(X, q, U, W)
        if seed % 2:
            move = heads.full_gradient()[0].clone()
        move = radius * move / move.norm(dim=-1, keepdim=True)
        there = curvature.Heads(X, q, U + move[:, :2], W + move[:, 2:].unflatten(-1, (2, 2)))
        for e in (move, heads.full_gradient()[seed % 3], draw(N=6, seed=seed + 100)[-1]):
            unit = e / e.norm(dim=-1, keepdim=True).clamp(min=1e-300)
            assert (cubic(heads, unit).abs() <= heads.third_norm * (1 + 1e-9)).all()
            change = (cubic(there, unit) - cubic(heads, unit)).abs()
            assert (change <= heads.growth(radius) * (1 + 1e-9)).all()


def test_growth_is_convex_and_starts_at_zero():
    heads = curvature.Heads(*draw(N=8)[:4])
    radii = torch.linspace(0, 1.5, 31, dtype=torch.float64)
    values = torch.stack([heads.growth(float(radius)) for radius in radii])
    assert float(values[0].abs().max()) == 0
    assert (values.diff(dim=0) >= 0).all()
    assert (values.diff(dim=0).diff(dim=0) >= -1e-12 * values[2:]).all()


def test_equal_tokens_and_a_query_of_zero_are_no_trouble():
    X, _, U, W, move = draw(n=2)
    same = X[:, :1].expand(-1, 5, -1).contiguous()
    for tokens, q in ((same, same[:, -1]), (X, torch.zeros_like(X[:, -1]))):
        heads = curvature.Heads(tokens, q, U, W)
        along = heads.along(heads.seen(move))
        for values in (along.cubic, along.third, heads.growth(0.1), heads.third_norm):
            assert values.isfinite().all()


def test_the_constants_of_tanh():
    t = torch.linspace(-1, 1, 2_000_001, dtype=torch.float64)
    slope = 1 - t**2
    for constant, values in (
        (curvature.SECOND, 2 * t * slope),
        (curvature.THIRD, slope * (6 * t**2 - 2)),
        (curvature.FOURTH, 8 * t * (2 - 3 * t**2) * slope),
    ):
        assert float(values.abs().max()) <= constant
        assert float(values.abs().max()) == pytest.approx(constant, rel=1e-6)
    at = (15 - math.sqrt(105)) / 30
    assert 8 * math.sqrt(at) * (2 - 3 * at) * (1 - at) <= curvature.FOURTH


@pytest.mark.parametrize("T", [2, 3, 6])
def test_cumulants_of_bounded_variables(T):
    """|κ₄(a, b, w, w)| ≤ (3/2) r_a r_b Var w and |κ₅(a, b, c, w, w)| ≤ (13/4) r_a r_b r_c Var w, on random laws."""
    generator = torch.Generator().manual_seed(T)
    alpha = torch.softmax(4 * torch.randn(20_000, T, generator=generator, dtype=torch.float64), -1)
    a, b, c, w = (torch.randn(20_000, T, generator=generator, dtype=torch.float64) for _ in range(4))
    E = lambda *factors: (alpha * math.prod(factors)).sum(-1)
    a, b, c, w = (v - E(v)[:, None] for v in (a, b, c, w))
    width = lambda v: v.amax(-1) - v.amin(-1)
    fourth = E(a, b, w, w) - E(a, b) * E(w, w) - 2 * E(a, w) * E(b, w)
    assert (fourth.abs() <= curvature.FOUR * width(a) * width(b) * E(w, w) * (1 + 1e-9)).all()
    fifth = (
        E(a, b, c, w, w)
        - E(w, w) * E(a, b, c)
        - sum(E(u, v) * E(x, w, w) for u, v, x in ((a, b, c), (a, c, b), (b, c, a)))
        - 2 * sum(E(x, w) * E(u, v, w) for u, v, x in ((a, b, c), (a, c, b), (b, c, a)))
    )
    assert (fifth.abs() <= curvature.FIVE * width(a) * width(b) * width(c) * E(w, w) * (1 + 1e-9)).all()
