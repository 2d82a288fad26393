"""Models that are no Transformers: a quadratic with known gradient, and a small network of one hidden layer."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from shallowformer.training.autograd import Autograd


@dataclass(frozen=True)
class Quadratic:
    """L_j(x) = ½‖x − a_j‖², averaged over samples: the gradient is x less the mean of the a_j."""

    a: Tensor

    @property
    def n(self) -> int:
        return len(self.a)

    def losses(self, point):
        (x,) = point
        return ((x - self.a).square().sum(1) / 2).mean()[None]

    def losses_and_gradient(self, point, rows=None):
        chosen = Quadratic(self.a if rows is None else self.a[rows])
        return chosen.losses(point), (point[0] - chosen.a.mean(0),)


def quadratic(n: int = 6, d: int = 3, seed: int = 0) -> tuple[Quadratic, tuple[Tensor]]:
    generator = Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    return Quadratic(draw(n, d)), (draw(d),)


def hidden_layer(X: Tensor, point: dict[str, Tensor]) -> Tensor:
    return torch.tanh(X @ point["inner"].T) @ point["outer"]


def network(n: int = 7, d: int = 3, m: int = 5, seed: int = 0) -> tuple[Autograd, dict[str, Tensor]]:
    generator = Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    start = {"outer": draw(m) / m, "inner": draw(m, d)}
    return Autograd(hidden_layer, draw(n, d), draw(n)), start
