"""The Jacobian against automatic differentiation, and the readout blocks' part of the tangent kernel."""

import pytest
import torch

from companion.theory.residual import tangent
from shallowformer.residual import curvature, model, spectra
from shallowformer.residual.parameters import Parameters


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
