"""Right answers pass, as automatic differentiation gives them anew."""

import math

import torch

from companion.exercises.kernel_regime import recurrence


def test_a_second_derivative_by_autograd_passes():
    def bend(x, w):
        def last(w):
            h = torch.zeros((), dtype=torch.float64)
            for value in x:
                h = torch.tanh(w * h + value)
            return h

        return torch.autograd.functional.hessian(last, torch.tensor(w, dtype=torch.float64))

    assert recurrence.check_bend(bend).passed


def test_a_p_that_is_overwritten_before_q_is_told_so():
    def bend(x, w):
        h = p = q = 0.0
        for value in x:
            new = math.tanh(w * h + value)
            slope = 1 - new**2
            p = slope * (h + w * p)
            q = -2 * new * slope * (h + w * p) ** 2 + slope * (2 * p + w * q)
            h = new
        return q

    assert "before it is overwritten" in recurrence.check_bend(bend).told
