"""Cases on which the model and its gradients are compared with plain loops: ordinary shapes and edge cases."""

from dataclasses import dataclass

import pytest
import torch
from torch import Generator, Tensor

from shallowformer import data, queries, softmax
from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.queries import Query


@dataclass(frozen=True)
class Case:
    """Samples, labels, parameters and a query, with what plain loops need of them."""

    X: Tensor
    y: Tensor
    phi: Parameters
    query: Query

    @property
    def lists(self) -> tuple[list, list, list, list, list, list]:
        """X, y, c, U, W, q as nested lists."""
        return tuple(value.tolist() for value in (self.X, self.y, *self.phi.blocks, self.query(self.X)))

    @property
    def logit(self) -> float:
        """The largest logit in size."""
        return float(softmax.logits(self.X, self.phi.W, self.query(self.X)).abs().max())


def make(n: int, T: int, d: int, m: int, query: Query | None = None, scale: float = 1.0) -> Case:
    generator = Generator().manual_seed(1000 * n + 100 * T + 10 * d + m)
    X = data.clipped_gaussian(n, T, d, generator) * torch.rand(
        n, T, 1, generator=generator, dtype=torch.float64
    )
    y = torch.randn(n, generator=generator, dtype=torch.float64)
    phi = parameters.random(m, d, generator)
    phi = Parameters(phi.c, phi.U, scale * phi.W)
    return Case(X, y, phi, query or queries.last_token)


def equal_tokens(n: int, T: int, d: int, m: int) -> Case:
    case = make(n, T, d, m)
    return Case(case.X[:, :1].expand(n, T, d), case.y, case.phi, case.query)


CASES = {
    "ordinary": make(2, 4, 3, 4),
    "seeded query": make(2, 5, 2, 3, queries.seeded(2, seed=5)),
    "all sizes 1": make(1, 1, 1, 1),
    "one token": make(3, 1, 3, 2),
    "one dimension": make(3, 4, 1, 3),
    "one head": make(2, 3, 2, 1),
    "one sample": make(1, 5, 3, 2),
    "equal tokens": equal_tokens(2, 3, 2, 3),
    "zero query": make(2, 4, 3, 2, queries.fixed(torch.zeros(3, dtype=torch.float64))),
    "saturated": make(2, 4, 3, 4, queries.seeded(3, seed=1), scale=1e3),
}


@pytest.fixture(params=CASES)
def case(request) -> Case:
    return CASES[request.param]


@pytest.fixture
def ordinary() -> Case:
    return CASES["ordinary"]
