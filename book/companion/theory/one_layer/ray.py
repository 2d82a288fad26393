"""What the limit of token selection forecasts of a run: W on a ray along W_mm; symbols as in ``selected``."""

import numpy as np
import torch
from jaxtyping import Float

from companion.theory.one_layer.selected import Numbers, Selection, sigmoid
from shallowformer.token_selection import residual


def forecast(here: Selection, steps: tuple[int, ...]) -> tuple[int, Numbers, Numbers] | None:
    """The run on its last ray W = N_0 + P_∞ + rW_mm, and its clock late by what the residual takes to settle at the first step's speed.

    The interval has all that theory's limit says: settled at once; first settled and only then on its way, both up to the share that the limit
    neglects, the largest p_i and the inactive pairs' part of Σw; and the limit's law from the start.
    Silent before it has settled, and where it does not: no strict complementarity, or steps too long.
    """
    try:
        rest = residual.settled(here.data, here.best)
    except (ValueError, ArithmeticError):
        return None
    parts = residual.parts(here.best, torch.from_numpy(here.z0))
    away = float((rest.P - parts.P).norm())
    start = (parts.N + rest.P).numpy()
    first = here.eta * (1.0 if here.normalised else float(np.linalg.norm(here.gradient(here.z0))))
    if (here.normalised and here.eta * residual.harshness(here.best) >= 2) or first == 0:
        return None
    delay = away / first
    spoken = next((k for k, t in enumerate(steps) if t >= delay), None)
    if spoken is None:
        return None
    wanted = np.array(steps[spoken:], dtype=float)
    r = clock(here, start, float(parts.r), steps[-1])
    sides = [law(here, wanted)]
    for late in (0.0, delay):
        where = np.interp(wanted - late, np.arange(len(r)), r)
        z = start + where[:, None] * here.best.z.numpy()
        p = sigmoid(here.g(z))
        x, off = here.excess(p).sum(1), np.minimum(p.max(1) + faded(here, z), 1)
        sides += [x * (1 - off), x * (1 + off)]
    return spoken, here.c.sum() + np.min(sides, 0), here.c.sum() + np.max(sides, 0)


def faded(here: Selection, z: Float[np.ndarray, "s r"]) -> Float[np.ndarray, " s"]:
    """The share of Σ_k w_k that inactive pairs have; all of it where no weight is left in floats."""
    logs = -np.tensordot(z, here.R, (-1, 2))
    g = np.logaddexp.reduce(logs, axis=-1)
    w = here.weight(sigmoid(g))[..., None] * np.exp(logs - g[..., None])
    idle = ~here.best.active.numpy().reshape(here.R.shape[:2])
    total = w.sum((1, 2))
    return np.divide((w * idle).sum((1, 2)), total, out=np.ones_like(total), where=total > 0)


def law(here: Selection, t: Numbers) -> Numbers:
    """The limit's law from the first step on: ‖∇L‖ = x/‖W_mm‖, so that x falls like e^{−ηt/‖W_mm‖}, or 1/x grows by η/‖W_mm‖²."""
    x = float(here.excess(sigmoid(here.g0)).sum())
    if here.normalised:
        return x * np.exp(-here.eta * t / here.norm)
    return 1 / (1 / x + here.eta * t / here.norm**2)


def clock(here: Selection, start: Numbers, r: float, steps: int) -> Numbers:
    """How large r is at each step on the ray start + rW_mm: it grows by η/‖W_mm‖, or by η⟨−∇L, W_mm⟩/‖W_mm‖²."""
    if here.normalised:
        return r + here.eta / here.norm * np.arange(steps + 1)
    z, rows = here.best.z.numpy(), [r]
    h, m = here.R @ start, here.R @ z
    for _ in range(steps):
        gaps = -h - rows[-1] * m
        g = np.logaddexp.reduce(gaps, axis=1)
        gained = here.weight(sigmoid(g)) @ (np.exp(gaps - g[:, None]) * m).sum(1)
        rows.append(rows[-1] + here.eta / here.norm**2 * float(gained))
    return np.array(rows)
