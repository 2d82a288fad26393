"""Activations σ with their first three derivatives and the exact suprema of |σ|, |σ′|, |σ″|, |σ‴|."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.contracts import Positive, contract

#: Elementwise.
Function = Callable[[Float[Tensor, "..."]], Float[Tensor, "..."]]

#: Declared bounds are tested on this grid of arguments, and derivatives against autograd on every tenth of them.
_GRID = torch.linspace(-40, 40, 80_001, dtype=torch.float64)
#: Far arguments, where a bound that is approached at infinity must be met.
_FAR = torch.logspace(1, 12, 12, dtype=torch.float64)


@dataclass(frozen=True)
class Activation:
    """An activation σ that the theory may use: σ, σ′, σ″ bounded (and σ‴, where third-order bounds need it).

    A declaration is checked when it is made. Each derivative must match autograd's derivative of the one before; no
    value on [−40, 40] may exceed its declared bound; and where a bound is said to be attained, the value there must equal it.

    Source: Arda, Cayci, Eryilmaz 2026, section 3.2 (which assumes σ₀, σ₁, σ₂ < ∞).
    """

    name: str  # what messages and figures call it
    value: Function  # σ
    first: Function  # σ′
    second: Function  # σ″
    third: Function  # σ‴
    bounds: tuple[float, float, float, float]  # (σ₀, σ₁, σ₂, σ₃), the suprema of |σ|, |σ′|, |σ″|, |σ‴| over ℝ
    #: for each bound an argument where it is attained, or ``math.inf`` where it is only approached at infinity
    attained_at: tuple[float, float, float, float]

    def __post_init__(self) -> None:
        """Check the declaration."""
        if len(self.bounds) != 4 or not all(b > 0 and math.isfinite(b) for b in self.bounds):
            raise ValueError(f"bounds must be four finite numbers above 0, got {self.bounds}")
        if len(self.attained_at) != 4 or any(math.isnan(at) for at in self.attained_at):
            raise ValueError(f"attained_at must be four numbers, got {self.attained_at}")
        self._check_derivatives()
        for order, (function, bound, at) in enumerate(
            zip(self.derivatives, self.bounds, self.attained_at, strict=True)
        ):
            largest = float(function(_GRID).abs().max())
            if not largest <= bound * (1 + 1e-12):
                raise ValueError(
                    f"bounds[{order}] of {self.name} must be at least {largest:.9g}, reached on [-40, 40], got {bound}"
                )
            if math.isfinite(at):
                there = float(function(torch.tensor(at, dtype=torch.float64)).abs())
                if not abs(there - bound) <= 1e-12 * bound:
                    raise ValueError(
                        f"bounds[{order}] of {self.name} is {bound}, but the value at attained_at[{order}] = {at} is {there:.15g}"
                    )
                continue
            far = float(function(torch.cat([-_FAR, _FAR])).abs().nan_to_num(0.0).max())
            if not bound * (1 - 1e-9) <= max(largest, far) <= bound * (1 + 1e-12):
                raise ValueError(
                    f"bounds[{order}] of {self.name} is {bound}, said to be approached at infinity, but {max(largest, far):.9g} is reached"
                )

    def __call__(self, z: Float[Tensor, "*n"]) -> Float[Tensor, "*n"]:
        """σ(z), elementwise."""
        return self.value(z)

    @property
    def derivatives(self) -> tuple[Function, Function, Function, Function]:
        """(σ, σ′, σ″, σ‴)."""
        return self.value, self.first, self.second, self.third

    def _check_derivatives(self) -> None:
        for order, (function, derivative) in enumerate(
            zip(self.derivatives, self.derivatives[1:], strict=False)
        ):
            z = _GRID[::10].clone().requires_grad_()
            (by_autograd,) = torch.autograd.grad(function(z).sum(), z)
            z = z.detach()
            error = (derivative(z) - by_autograd).abs()
            worst = int(error.argmax())
            if not error[worst] <= 1e-9 * max(1.0, self.bounds[order + 1]):
                raise ValueError(
                    f"derivative {order + 1} of {self.name} is wrong at z = {float(z[worst]):.6g}: autograd of derivative {order} gives "
                    f"{float(by_autograd[worst]):.9g}, the declaration {float(derivative(z)[worst]):.9g}"
                )


def _tanh_first(z: Tensor) -> Tensor:
    return 1 - torch.tanh(z) ** 2


def _tanh_second(z: Tensor) -> Tensor:
    h = torch.tanh(z)
    return -2 * h * (1 - h**2)


def _tanh_third(z: Tensor) -> Tensor:
    h2 = torch.tanh(z) ** 2
    return -2 * (1 - h2) * (1 - 3 * h2)


#: tanh. With X = ±1 weighted by softmax(±z), tanh z is the mean, σ′ the variance and σ″ the third cumulant.
TANH = Activation(
    "tanh", torch.tanh, _tanh_first, _tanh_second, _tanh_third,
    bounds=(1.0, 1.0, 4 / (3 * math.sqrt(3)), 2.0), attained_at=(math.inf, 0.0, math.atanh(1 / math.sqrt(3)), 0.0),
)  # fmt: skip


def _erf_first(z: Tensor) -> Tensor:
    return 2 / math.sqrt(math.pi) * torch.exp(-(z**2))


ERF = Activation(
    "erf", torch.erf, _erf_first, lambda z: -2 * z * _erf_first(z), lambda z: (4 * z**2 - 2) * _erf_first(z),
    bounds=(1.0, 2 / math.sqrt(math.pi), 2 * math.sqrt(2 / (math.e * math.pi)), 4 / math.sqrt(math.pi)),
    attained_at=(math.inf, 0.0, math.sqrt(0.5), 0.0),
)  # fmt: skip


def _logistic_first(z: Tensor) -> Tensor:
    return torch.sigmoid(z) * torch.sigmoid(-z)


#: The logistic function 1/(1 + e^{−z}). It is not odd: f at a symmetric initialisation is 0 all the same.
LOGISTIC = Activation(
    "logistic", torch.sigmoid, _logistic_first,
    lambda z: _logistic_first(z) * (1 - 2 * torch.sigmoid(z)), lambda z: _logistic_first(z) * (1 - 6 * _logistic_first(z)),
    bounds=(1.0, 1 / 4, 1 / (6 * math.sqrt(3)), 1 / 8), attained_at=(math.inf, 0.0, math.log(2 + math.sqrt(3)), 0.0),
)  # fmt: skip

SINE = Activation(
    "sine", torch.sin, torch.cos, lambda z: -torch.sin(z), lambda z: -torch.cos(z),
    bounds=(1.0, 1.0, 1.0, 1.0), attained_at=(math.pi / 2, 0.0, math.pi / 2, 0.0),
)  # fmt: skip

#: Every activation that comes with the package.
ALL = (TANH, ERF, LOGISTIC, SINE)


@contract
def stretched(sigma: Activation, rate: Positive) -> Activation:
    """σ_ε(u) = σ(εu)/ε, with bounds (σ₀/ε, σ₁, εσ₂, ε²σ₃): the same slope at 0, curvature times ε, height divided by ε.

    For a small rate ε it is nearly linear where heads live; for a large one it is nearly a step.
    """

    def derivative(order: int) -> Function:
        function = sigma.derivatives[order]
        return lambda z: rate ** (order - 1) * function(rate * z)

    return Activation(
        f"{sigma.name} at rate {rate:g}", *(derivative(order) for order in range(4)),
        bounds=tuple(rate ** (order - 1) * bound for order, bound in enumerate(sigma.bounds)),
        attained_at=tuple(at / rate for at in sigma.attained_at),
    )  # fmt: skip
