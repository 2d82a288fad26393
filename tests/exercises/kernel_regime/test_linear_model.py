"""Automatic differentiation is not the answer."""

import torch

from companion.exercises.kernel_regime import linear_model


def test_a_tangent_by_autograd_is_refused():
    def by_jvp(x, phi0, delta):
        def f(c, U, W):
            a = torch.softmax((W @ x[-1]) @ x.T, -1) @ x
            return (c * torch.tanh((a * U).sum(-1))).sum() / len(c) ** 0.5

        value, slope = torch.func.jvp(f, phi0, delta)
        return value + slope

    assert "write the derivative out" in linear_model.check_tangent(by_jvp).message
