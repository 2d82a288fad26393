"""How many tokens attention attends to: exact means of P_k = Σ_j p_j^k for softmax weights of n Gaussian tokens, by quadrature.

Scores are ρt_j with t_j standard normal; w_j = e^{ρt_j − ρ²/2}, S = Σw_j. As S^{−k} = ∫u^{k−1}e^{−uS}du/(k−1)!, means of quotients become
integrals of one-token means E(uw)^k e^{−uw}. Both integrands are analytic, so the trapezoidal rule is exact to rounding.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import ndtr
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import NonNegative, Positive, contract

#: Where a normal density, or a double exponential, is below rounding.
_FAR = 10.0
#: Between two nodes in log u.
_STEP = 0.25


def _one_token(rho: float, log_n: float) -> tuple[np.ndarray, np.ndarray]:
    """Log E e^{−uw} and E(uw)^k e^{−uw}, k = 1 to 4, on a grid of log u: "v", "4 v".

    They are functions of v + ρt, v = log u: on grids that fit together, means over t are correlations.
    """
    largest = min(4 * rho, log_n / rho + rho / 2) + _FAR
    low = -(log_n + rho * largest) - 20
    finer = math.ceil(_STEP / (0.4 * rho))
    step = _STEP / finer  # in ρt
    t = np.arange(-_FAR, largest, step / rho)
    mass = np.exp(-(t**2) / 2) * step / rho / np.sqrt(2 * np.pi)
    last = finer * int((_FAR * rho + rho**2 / 2 + 5 - low) / _STEP)
    at = low - rho * _FAR - rho**2 / 2 + step * np.arange(last + len(t))
    over = lambda values: np.correlate(values, mass, "valid")[::finer]
    y = np.exp(np.minimum(at, 600.0))  # beyond, every one of these functions is 0 or 1
    seen = np.exp(-y)
    # Near 1 from what is missing, near 0 from what is there.
    missing, there = over(-np.expm1(-y)), np.maximum(over(seen), 1e-300)
    logs = np.where(missing < 0.5, np.log1p(-np.minimum(missing, 0.5)), np.log(there))
    y[seen == 0] = 0
    return logs, np.stack([over(seen := seen * y) for _ in range(4)])


@contract
def means(rho: NonNegative, n: Sequence[float]) -> Float[Tensor, "k 3"]:
    """E P_2, E P_3 and E P_2² of the softmax weights of n tokens, for several n at once.

    Returns: one row for each n, relative error about 1e-11.

    Args:
        rho: standard deviation of the scores, at most 40.
        n: numbers of tokens, at least 1, at most 1e100; whole where they are to be numbers of tokens.
    """
    rho = _range("rho", rho, 40.0)
    sizes = np.array([_range("n", arguments.at_least("n", each, 1), 1e100) for each in n], dtype=float)
    if rho < 1e-3:  # the grid in t would be one point; (ρ → 0 exactly: p_j = 1/n, next order ρ²)
        return _nearly_equal(rho, sizes)
    logs, (_, two, three, four) = _one_token(rho, float(np.log(sizes.max())))
    rows = []
    for size in sizes:
        if size == 1:  # without rounding
            rows.append([1.0, 1.0, 1.0])
            continue
        others = lambda k, size=size: np.exp((size - k) * logs)
        rest = others(1)
        pairs = (size - 1) * two**2 * others(2)
        rows.append(
            [
                _STEP * size * (two * rest).sum(),
                _STEP * size / 2 * (three * rest).sum(),
                _STEP * size / 6 * (four * rest + pairs).sum(),
            ]
        )
    return torch.tensor(rows, dtype=torch.float64)


def _nearly_equal(rho: float, n: np.ndarray) -> Tensor:
    """Second order in ρ: p_j = (1 + ρ(t_j − t̄) + …)/n; E P_2 = (1 + ρ²(n−1)/n)/n + O(ρ⁴)."""
    spread = rho**2 * (n - 1) / n
    rows = [(1 + spread) / n, (1 + 3 * spread) / n**2, (1 + 2 * spread) / n**2]
    return torch.from_numpy(np.stack(rows, 1))


@contract
def one_token(rho: NonNegative, n: float) -> float:
    """Ψ_n(ρ) = n E(w/(n − 1 + w))², a lower bound of E P_2 that is attained at n = 1 and at ρ = 0."""
    rho = _range("rho", rho, 40.0)
    n = _range("n", arguments.at_least("n", n, 1), 1e100)
    if n == 1 or rho == 0:
        return 1 / n
    t = np.arange(-_FAR, min(2 * rho, np.log(n) / rho + rho / 2) + _FAR, min(0.2, 0.15 / rho))
    share = 1 / (1 + (n - 1) * np.exp(np.minimum(rho**2 / 2 - rho * t, 300.0)))
    return float(n * (share**2 * np.exp(-(t**2) / 2)).sum() * (t[1] - t[0]) / np.sqrt(2 * np.pi))


@contract
def truncated(rho: Positive, n: float) -> float:
    """J_n(ρ) = n E min(1, w/n)² = e^{ρ²}Φ(s − ρ)/n + n Q(s + ρ) with s = log n/ρ − ρ/2: E P_2 up to constant factors."""
    rho = _range("rho", rho, 26.0)
    n = _range("n", arguments.at_least("n", n, 1), 1e100)
    s = np.log(n) / rho - rho / 2
    return float(np.exp(rho**2) / n * ndtr(s - rho) + n * ndtr(-s - rho))


def _range(name: str, value: float, most: float) -> float:
    if not value <= most:
        raise ValueError(f"{name} must be at most {most:g}, got {value}")
    return float(value)
