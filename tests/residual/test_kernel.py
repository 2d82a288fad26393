"""The kernel by drawing weights, the bound where it is attained, the width as the proof chooses its numbers. The Jacobian against automatic differentiation."""

import math

import pytest
import torch

from checks import normal, refused
from companion.theory.residual import kernel, tangent
from shallowformer.residual import curvature, model, spectra
from shallowformer.residual.parameters import Parameters
from shallowformer.residual.smoothed import RELU, SmoothedReLU


@pytest.mark.parametrize("tau", [0.0, 0.5, 2.0])
def test_the_kernel_is_a_mean_over_weights(tau):
    Z, activation = normal(4, 6), SmoothedReLU(tau)
    A = activation(Z @ (0.7 * normal(6, 400_000, seed=1)))
    assert torch.allclose(kernel.gram(Z, activation, 0.7), A @ A.T / 400_000, rtol=0.02, atol=0.01)


def test_of_one_token_it_is_half_of_its_square():
    Z = normal(1, 3)
    assert float(kernel.gram(Z, RELU)) == pytest.approx(float(Z.square().sum()) / 2, rel=1e-13)


def test_many_at_once():
    Z, activation = normal(5, 3, 4), SmoothedReLU(0.3)
    one = torch.stack([kernel.lower_bound(each, activation) for each in Z])
    assert torch.allclose(kernel.lower_bound(Z, activation), one, rtol=1e-13)
    assert kernel.gram(Z, activation).shape == (5, 3, 3)


@pytest.mark.parametrize("tau", [0.0, 0.3, 5.0])
def test_orthogonal_rows_of_one_length_attain_the_bound(tau):
    Z, activation = 1.7 * torch.linalg.qr(normal(5, 3))[0].T, SmoothedReLU(tau)
    least = float(torch.linalg.eigvalsh(kernel.gram(Z, activation, 0.6))[0])
    assert least == pytest.approx(float(kernel.lower_bound(Z, activation, 0.6)), rel=1e-10)


def test_the_constant_runs_from_a_quarter_to_that_of_relu():
    v = kernel.constant(torch.linspace(1e-4, 1, 200, dtype=torch.float64))
    assert float(v[0]) == pytest.approx(0.25, abs=1e-8)
    assert float(v[-1]) == pytest.approx(kernel.OF_RELU, abs=1e-7)
    assert bool((v.diff() > 0).all())


def test_slopes_are_finite_on_the_diagonal():
    Z = normal(3, 4).requires_grad_()
    kernel.gram(Z, RELU).sum().backward()
    assert bool(Z.grad.isfinite().all())


def test_the_width_makes_the_failure_as_unlikely_as_asked():
    for spread, n, delta in ((4.0, 4, 0.1), (300.0, 8, 1e-3)):
        at = kernel.width(spread, n, delta)
        assert kernel.failure(at, spread, n, kernel.OF_RELU, 0.06, 0.553) <= delta
        assert kernel.failure(0.98 * at, spread, n, kernel.OF_RELU, 0.06, 0.553) > delta
    assert (1 - 0.553) * (kernel.OF_RELU - 0.06) > 1 / 8


def test_what_kernel_refuses():
    refused("spread", "2.0", "at least 4", kernel.width, 2.0, 4, 0.1)
    refused("eta", "1", "at most v", kernel.failure_rate, 2.0, 0.3, 1.0, 0.5)
    assert math.isfinite(kernel.failure_rate(1.0, 0.3, 0.1, 0.5))


def by_autograd(X, theta, setting):
    outputs = lambda *W: model.unchecked(X, Parameters(*W), setting).F.flatten()
    return torch.cat([J.flatten(1) for J in torch.func.jacrev(outputs, tuple(range(6)))(*theta)], 1)


@pytest.mark.parametrize("sizes", [{}, {"P": 1, "N": 1, "d": 1, "d_k": 1, "d_1": 1, "K": 1}, {"K": 7}])
@pytest.mark.parametrize("g", [0.0, 1.0])
def test_the_jacobian(case, sizes, g):
    one = case(g=g, **sizes)
    J = tangent.jacobian(*one.model)
    assert torch.allclose(J, by_autograd(*one.model), atol=1e-13)
    values = torch.linalg.svdvals(J)
    assert tangent.ends(*one.model) == pytest.approx((float(values[-1]), float(values[0])))


def test_columns_stand_as_in_flat_parameters(case):
    one = case()
    step = Parameters(*(torch.randn(W.shape, generator=one.generator, dtype=W.dtype) for W in one.theta))
    at = lambda t: model.unchecked(one.X, Parameters(*(W + t * s for W, s in zip(one.theta, step, strict=True))), one.setting).F.flatten()  # fmt: skip
    slope = torch.func.jvp(at, (torch.zeros((), dtype=torch.float64),), (torch.ones((), dtype=torch.float64),))[1]  # fmt: skip
    assert torch.allclose(tangent.jacobian(*one.model) @ curvature.flat(step), slope, atol=1e-12)


def test_more_outputs_than_parameters_have_a_smallest_value_of_0(case):
    one = case(P=9, N=4, d=1, d_k=1, d_1=1, K=2)
    assert tangent.ends(*one.model)[0] == 0.0


def test_both_readouts_are_at_least_the_sum_of_each(case):
    one = case(d=8)
    both = 2 * tangent.readout(*one.model)
    assert float(both) >= float(spectra.pl_2(*one.model) + spectra.pl_u(*one.model)) * (1 - 1e-12)
    assert float(2 * tangent.readout(*one.model, c=0.0)) == pytest.approx(float(spectra.pl_u(*one.model)))


def test_they_are_enough_where_neither_is(case):
    one = case(P=2, N=4, d=5, d_1=6)
    assert float(tangent.readout(*one.model)) > 1e-8
    assert float(tangent.readout(*case(P=4, N=4, d=5, d_1=6).model)) < 1e-12
