"""Gradient flow of f_λ: the curve that descent follows when its step goes to 0."""

import itertools
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from scipy.integrate import solve_ivp
from torch import Tensor

from shallowformer.contracts import Positive, contract
from shallowformer.preconditioned import factorisation


@contract
def solve(
    U: Float[Tensor, "m r"],
    V: Float[Tensor, "d r"],
    target: Float[Tensor, "m d"],
    times: Sequence[float],
    lam: float = 0.5,
    tolerance: Positive = 1e-11,
) -> list[tuple[Float[Tensor, "m r"], Float[Tensor, "d r"]]]:
    """The factors at increasing times ≥ 0 of (U̇, V̇) = −∇f_λ(U, V), in double precision by an embedded Runge–Kutta pair of order 8.

    Args:
        tolerance: relative and absolute error of a step.
    """
    factorisation.value(U, V, target, lam)  # refuses what does not fit
    times = [float(time) for time in times]
    if not times or times[0] < 0 or any(b <= a for a, b in itertools.pairwise(times)):
        raise ValueError(f"times must increase from 0 on, got {times}")
    (m, r), d = U.shape, len(V)

    def split(flat: np.ndarray) -> tuple[Tensor, Tensor]:
        point = torch.from_numpy(np.ascontiguousarray(flat)).to(target)
        return point[: m * r].view(m, r), point[m * r :].view(d, r)

    goal = target.numpy()

    def slope(_: float, flat: np.ndarray) -> np.ndarray:
        U, V = flat[: m * r].reshape(m, r), flat[m * r :].reshape(d, r)
        return -np.concatenate([block.ravel() for block in factorisation.slopes(U, V, goal, lam)])

    start = torch.cat([U.flatten(), V.flatten()]).numpy()
    if times[-1] == 0:
        return [split(start)]
    solved = solve_ivp(slope, (0.0, times[-1]), start, "DOP853", t_eval=times, rtol=tolerance, atol=tolerance)
    return [split(column) for column in solved.y.T]
