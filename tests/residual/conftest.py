"""What tests of this room share: data and a network, drawn from a seed."""

from dataclasses import dataclass

import pytest
import torch

from shallowformer.residual import starts
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.smoothed import SmoothedReLU


@dataclass(frozen=True)
class Case:
    X: torch.Tensor
    Y: torch.Tensor
    theta: Parameters
    setting: Setting
    generator: torch.Generator

    @property
    def all(self):
        return self.X, self.Y, self.theta, self.setting

    @property
    def model(self):
        return self.X, self.theta, self.setting


def random_case(P=2, N=3, d=5, d_k=4, d_1=12, K=2, seed=0, g=1.0, g_f=1.0, tau=0.3, scales=None, **more):
    """Gaussian tokens, targets and blocks; blocks times ``scales`` where given."""
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    X, Y = draw(P, N, d), draw(P, N, K)
    theta = starts.gaussian(d, d_k, d_1, K, generator, **(scales or {}))
    return Case(X, Y, theta, Setting(g, g_f, SmoothedReLU(tau), **more), generator)


@pytest.fixture
def case():
    return random_case
