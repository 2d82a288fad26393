"""Hessian products against autograd twice and against differences of gradients; Lanczos against all eigenvalues."""

import math

import pytest
import torch

from checks import refused
from companion.theory.residual import admissible
from shallowformer.residual import curvature, gradients, model, starts
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.smoothed import RELU
from shallowformer.training import points


def direction(one):
    return Parameters(*(torch.randn(W.shape, generator=one.generator, dtype=W.dtype) for W in one.theta))


def dense(one):
    """∇²Φ by autograd of the loss, twice."""
    Phi = lambda vector: model.half_square(
        model.unchecked(one.X, curvature.folded(vector, one.theta), one.setting).F - one.Y
    )
    return torch.autograd.functional.hessian(Phi, curvature.flat(one.theta))


@pytest.mark.parametrize("tau", [0.0, 0.3])
@pytest.mark.parametrize(("g", "g_f"), [(1.0, 1.0), (0.0, 0.5)])
def test_products_are_those_of_autograd(case, g, g_f, tau):
    one = case(2, 2, 3, 2, 5, 2, g=g, g_f=g_f, tau=tau)
    step = direction(one)
    found = curvature.flat(curvature.product(*one.all)(step))
    expected = dense(one) @ curvature.flat(step)
    assert torch.allclose(found, expected, rtol=0, atol=1e-12 * float(expected.abs().max()))


def test_products_are_differences_of_gradients(case):
    one, h = case(), 1e-5
    step = direction(one)
    slope = lambda sign: curvature.flat(gradients.gradients(one.X, one.Y, Parameters(*points.plus(one.theta, step, sign * h)), one.setting))  # fmt: skip
    found = curvature.flat(curvature.product(*one.all)(step))
    assert torch.allclose(found, (slope(1) - slope(-1)) / (2 * h), rtol=0, atol=1e-7 * float(found.norm()))


def test_lanczos_finds_the_extreme_eigenvalues(case):
    one = case(2, 2, 3, 2, 5, 2)
    every = torch.linalg.eigvalsh(dense(one))
    order = every.abs().argsort(descending=True)[:6]
    values, vectors = curvature.eigenpairs(*one.all, k=6)
    assert torch.allclose(values, every[order], rtol=1e-9)
    for value, vector in zip(values, vectors, strict=True):
        flat = curvature.flat(vector)
        assert float(flat.norm()) == pytest.approx(1)
        residual = curvature.flat(curvature.product(*one.all)(vector)) - value * flat
        assert float(residual.norm()) < 1e-9 * float(every.abs().max())
    assert curvature.largest(*one.all) == pytest.approx(float(every.abs().max()))
    assert curvature.step_size(*one.all) == pytest.approx(1 / 1.05 / float(every.abs().max()))


def test_a_network_of_six_numbers(case):
    one = case(1, 1, 1, 1, 1, 1)
    every = torch.linalg.eigvalsh(dense(one)).abs().max()
    assert curvature.largest(*one.all) == pytest.approx(float(every))


def test_the_block_of_W_2_is_a_kronecker_product(case):
    """W_U W_Uᵀ ⊗ ĀᵀĀ, so ‖∇²Φ‖ ≥ σ_A²σ_U² = 16α at the least."""
    one = case(2, 2, 3, 2, 5, 2)
    known = admissible.constants(*one.model)
    here = [W.numel() for W in one.theta]
    block = dense(one)[sum(here[:4]) : sum(here[:5]), sum(here[:4]) : sum(here[:5])]
    A = model.forward(*one.model).A.flatten(0, 1)
    assert torch.allclose(block, torch.kron(A.T @ A, one.theta.W_U @ one.theta.W_U.T))
    assert curvature.largest(*one.all) >= 16 * known.alpha


def test_flat_and_folded(case):
    one = case()
    again = curvature.folded(curvature.flat(one.theta), one.theta)
    assert all(torch.equal(a, b) for a, b in zip(one.theta, again, strict=True))


def test_a_sample_of_the_ball(case):
    """At least the centre; at least what each tried point has; and it grows with the radius here."""
    one = case(2, 2, 3, 2, 5, 2)
    source = lambda: torch.Generator().manual_seed(0)
    centre = curvature.largest(*one.all)
    small = curvature.largest_on_ball(*one.all, 1e-6, source())
    wide = curvature.largest_on_ball(*one.all, 1.0, source())
    assert centre <= small <= centre * (1 + 1e-4)
    assert wide > 1.1 * centre
    top = curvature.eigenpairs(*one.all)[1][0]
    there = Parameters(*points.plus(one.theta, top, 1.0))
    assert wide >= curvature.largest(one.X, one.Y, there, one.setting) * (1 - 1e-12)


def quotient(one, h):
    """Difference quotient of the gradient across W_V = −1, where Z = 0."""
    at = lambda value: gradients.gradients(one.X, one.Y, one.theta._replace(W_V=torch.full((1, 1), value).double()), one.setting)  # fmt: skip
    return float(points.norm(points.plus(at(-1 + h), at(-1 - h), -1.0))) / (2 * h)


def test_the_gradient_of_relu_jumps(case):
    """E1: across a kink the quotients grow as 1/h for ReLU, and stay put for τ = 0.3."""
    relu, smooth = (case(1, 1, 1, 1, 1, 1, tau=tau) for tau in (0.0, 0.3))
    assert quotient(relu, 2.0**-20) == pytest.approx(1024 * quotient(relu, 2.0**-10), rel=0.1)
    assert quotient(smooth, 2.0**-20) == pytest.approx(quotient(smooth, 2.0**-10), rel=1e-3)


def test_what_is_refused(case):
    one = case(1, 1, 1, 1, 1, 1)
    refused("k", "6", "= 5", curvature.eigenpairs, *one.all, k=6)
    refused("margin", "0.5", "at least 1", curvature.step_size, *one.all, margin=0.5)
    refused("Y", "NaN", "finite", curvature.largest, one.X, one.Y * math.nan, one.theta, one.setting)
    nothing = starts.scaled(one.theta, W_V=0.0, W_1=0.0, W_2=0.0, W_U=0.0)
    with refused("theta", "norm 0", "Hessian"):
        curvature.step_size(0 * one.X, 0 * one.Y, nothing, Setting(activation=RELU))
