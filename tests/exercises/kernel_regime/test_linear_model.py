"""A number that no declared mistake leads to is told where to look."""

import pytest
import torch

from companion.exercises.kernel_regime import linear_model


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (-0.8, "fit log error"),
    ],
)
def test_readout_exponent_is_told_where_to_look(number, word):
    feedback = linear_model.check_readout_exponent(number)
    assert feedback.state == "wrong"
    assert word in feedback.told


def test_a_tangent_by_autograd_is_refused():
    def by_jvp(x, phi0, delta):
        def f(c, U, W):
            a = torch.softmax((W @ x[-1]) @ x.T, -1) @ x
            return (c * torch.tanh((a * U).sum(-1))).sum() / len(c) ** 0.5

        value, slope = torch.func.jvp(f, phi0, delta)
        return value + slope

    assert "write the derivative out" in linear_model.check_tangent(by_jvp).message
