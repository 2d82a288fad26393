"""The law of the average of independent copies of a variable, by Fourier inversion: no sampling, no limit theorem."""

import math

import numpy as np
import torch
from jaxtyping import Float64
from scipy.optimize import brentq
from torch import Tensor

from shallowformer.contracts import Count, Level, contract

#: The average is taken to lie within so many standard deviations of its mean; what lies beyond is counted as inside.
REACH = 14.0
#: Frequencies, in units of one over a standard deviation of the average, up to which the characteristic function is summed.
CUT = 80.0
#: Products of a frequency and a value held at a time.
HELD_AT_ONCE = 4_000_000


def _characteristic(
    t: Float64[Tensor, " k"], values: Float64[Tensor, " n"], weights: Float64[Tensor, " n"]
) -> tuple[Tensor, Tensor]:
    """Real and imaginary part of E e^{itV}."""
    parts = []
    for some in t.split(max(1, HELD_AT_ONCE // len(values))):
        phase = torch.outer(some, values)
        parts.append(torch.stack([phase.cos() @ weights, phase.sin() @ weights]))
    return tuple(torch.cat(parts, 1))


@contract
def quantile_of_mean(
    level: Level, values: Float64[Tensor, " n"], weights: Float64[Tensor, " n"], count: Count
) -> float:
    """The x for which |average of ``count`` copies − its expectation| is at most x with probability ``level``.

    P(|A| ≤ x) = (2/π) ∫₀^∞ Re E e^{itA} sin(tx)/t dt, by the midpoint rule, which is exact but for mass that lies a period
    away. It needs a law whose characteristic function, to the power ``count``, decays: one with a density, not coins.

    Args:
        values: of the variable, at the nodes of a quadrature rule of its law.
        weights: of the nodes, at least 0; they are scaled to the sum 1.
    """
    if not (weights >= 0).all() or not weights.sum() > 0:
        raise ValueError("weights must be at least 0 and not all 0")
    weights = weights / weights.sum()
    centred = values - (weights * values).sum()
    deviation = float((weights * centred**2).sum().sqrt()) / math.sqrt(count)
    if not deviation > 0:
        raise ValueError("values must not all be the same")
    step = math.pi / REACH
    t = (torch.arange(math.ceil(CUT / step), dtype=torch.float64) + 0.5) * step
    real, imaginary = _characteristic(t / (count * deviation), centred, weights)
    of_average = (torch.complex(real, imaginary) ** count).real.numpy()
    if np.abs(of_average[-20:]).max() > 1e-4:
        raise ValueError(
            "values must have a law whose average has a density: its characteristic function does not decay"
        )
    t = t.numpy()

    def excess(x: float) -> float:
        return float((2 / math.pi) * step * (of_average * np.sin(t * x) / t).sum()) - level

    return deviation * brentq(excess, 0.0, REACH, xtol=1e-12)
