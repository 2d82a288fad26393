"""Right answers pass, as the mathematics gives them anew; others are told where to look."""

import numpy as np
import torch
from scipy.optimize import brentq

from companion.exercises.residual import transformer
from shallowformer.residual.smoothed import SmoothedReLU


def test_back_through_the_softmax_by_any_way():
    def by_jacobian(S, M):
        return torch.stack([(torch.diag(s) - torch.outer(s, s)) @ m for s, m in zip(S, M, strict=True)])

    def by_autograd(S, M):
        L = S.log().requires_grad_()
        return torch.autograd.grad((torch.softmax(L, -1) * M).sum(), L)[0]

    assert transformer.check_through_softmax(by_jacobian).passed
    assert transformer.check_through_softmax(by_autograd).passed


def test_the_width_of_the_corner_by_differences():
    def curvature(tau, step=1e-5):
        loss = lambda w: float((1 + SmoothedReLU(tau)(torch.tensor([w], dtype=torch.float64))) ** 2) / 2
        return (loss(step) - 2 * loss(0.0) + loss(-step)) / step**2

    assert transformer.check_kink(brentq(lambda tau: curvature(tau) - 8, 0.02, 0.2)).passed


def test_the_leak_s_constant_is_reached():
    four = np.ones((4, 4)) - 2 * np.eye(4)
    R = np.kron(four, four)
    assert np.allclose(R @ R, 16 * np.eye(16))
    gain = np.linalg.norm(np.where(R > 0, R, 0.1 * R), 2) / np.linalg.norm(R, 2)
    assert transformer.check_leak(gain).passed
