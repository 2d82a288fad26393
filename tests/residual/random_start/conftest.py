"""Starts of the room's certificates, small and at widths where they hold."""

import math

import pytest
import torch

from shallowformer.residual import starts
from shallowformer.residual.parameters import Setting
from shallowformer.residual.random_start import start
from shallowformer.residual.smoothed import SmoothedReLU


def problem(d_1=500, seed=0, tau=0.3, g=3.0, g_f=1.0, W_2=0.0, P=1, N=2, d=3, K=1):
    """Orthonormal tokens, W_1 with entries N(0, 1)."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    X = torch.linalg.qr(draw(d, d))[0][: P * N].reshape(P, N, d)
    Y = draw(P, N, K)
    theta = starts.gaussian(d, 2, d_1, K, generator, W_2=W_2, W_1=math.sqrt(d))
    return X, Y, theta, Setting(g, g_f, SmoothedReLU(tau))


@pytest.fixture
def posed():
    return problem


@pytest.fixture
def measured():
    return lambda **given: start.measure(*problem(**given))
