"""A coefficient is a scale: the same outputs, the same run."""

import pytest
import torch

from checks import refused
from companion.theory.residual import scale
from shallowformer.residual import gradients, model
from shallowformer.residual.parameters import PerBlock, Setting
from shallowformer.residual.smoothed import SmoothedReLU


@pytest.mark.parametrize("tau", [0.0, 0.3])
@pytest.mark.parametrize("g", [0.4, 1.0, 3.0])
def test_outputs_and_ten_steps_are_the_same(case, g, tau):
    one = case(g=g, g_f=0.6, tau=tau)
    other, setting = scale.standard(one.theta, one.setting)
    theta, mu = one.theta, 1e-3
    assert setting.g == 1.0
    assert setting.activation == SmoothedReLU(tau / g)
    for _ in range(10):
        here = model.outputs(one.X, theta, one.setting)
        assert torch.allclose(here, model.outputs(one.X, other, setting), rtol=1e-9, atol=1e-9)
        slope = gradients.gradients(one.X, one.Y, theta, one.setting)
        theta = scale.step(theta, slope, PerBlock(*[mu] * 6))
        other = scale.step(other, gradients.gradients(one.X, one.Y, other, setting), scale.steps(g, mu))


def test_what_is_refused(case):
    refused("g", "0.0", "above 0", scale.standard, case().theta, Setting(0.0))
