"""Heads on a line (d = 1), in closed form: what instances of the controls are computed with, beside the package's model.

Numbers may be arrays, of which everything is done entry by entry.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import erfc

Value = float | np.ndarray

#: An activation: σ and σ′.
Bent = tuple[Callable[[Value], Value], Callable[[Value], Value]]

TANH: Bent = (np.tanh, lambda z: 1 - np.tanh(z) ** 2)
COSINE: Bent = (np.cos, lambda z: -np.sin(z))
FLAT: Bent = (np.ones_like, np.zeros_like)
#: min(max(z, 0), 1): bounded and Lipschitz, with two kinks; σ″ = 0 wherever it exists.
RAMP: Bent = (lambda z: np.clip(z, 0, 1), lambda z: 1.0 * ((z > 0) & (z < 1)))
#: 3x² − 2x³ at x = min(max(z, 0), 1): a ramp without kinks, with |σ′| ≤ 3/2 and |σ″| ≤ 6; σ″ itself jumps.
SMOOTH_RAMP: Bent = (
    lambda z: 3 * np.clip(z, 0, 1) ** 2 - 2 * np.clip(z, 0, 1) ** 3,
    lambda z: 6 * np.clip(z, 0, 1) * (1 - np.clip(z, 0, 1)),
)

#: c, U and W of a head.
Head = tuple[float, float, float]


def attention(tokens: Sequence[float], key: Value) -> tuple[Value, Value]:
    """Mean a and variance M of the random token, its logits X_t·key."""
    size = max(map(abs, tokens)) * np.abs(key)
    weights = [np.exp(x * key - size) for x in tokens]
    total = sum(weights)
    a = sum(p * x for p, x in zip(weights, tokens, strict=True)) / total
    return a, sum(p * (x - a) ** 2 for p, x in zip(weights, tokens, strict=True)) / total


def hidden(tokens: Sequence[float], u: Value, w: Value, q: float = 1.0, bent: Bent = TANH) -> Value:
    """A head: σ(U·a)."""
    return bent[0](u * attention(tokens, w * q)[0])


def slopes(
    tokens: Sequence[float], u: Value, w: Value, q: float = 1.0, bent: Bent = TANH
) -> tuple[Value, Value]:
    """∂h/∂U = σ′(z)a and ∂h/∂W = σ′(z)MUq."""
    a, spread = attention(tokens, w * q)
    return bent[1](u * a) * a, bent[1](u * a) * spread * u * q


def model(heads: Sequence[Head], tokens: Sequence[float], q: float = 1.0, bent: Bent = TANH) -> float:
    """The model: m^{−1/2} Σ c h."""
    return float(sum(c * hidden(tokens, u, w, q, bent) for c, u, w in heads)) / math.sqrt(len(heads))


def tangent(
    start: Sequence[Head], heads: Sequence[Head], tokens: Sequence[float], q: float = 1.0, bent: Bent = TANH
) -> float:
    """f_lin: the model at the start and the slope from there to the heads."""
    total = 0.0
    for (c0, u0, w0), (c, u, w) in zip(start, heads, strict=True):
        in_u, in_w = slopes(tokens, u0, w0, q, bent)
        total += (c - c0) * hidden(tokens, u0, w0, q, bent) + c0 * (in_u * (u - u0) + in_w * (w - w0))
    return model(start, tokens, q, bent) + float(total) / math.sqrt(len(start))


def _rule(step: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the trapezoidal rule for a standard Gaussian number: its error falls exponentially where the function is analytic."""
    nodes = np.arange(-round(8.5 / step), round(8.5 / step) + 1) * step
    return nodes, np.exp(-(nodes**2) / 2) * step / math.sqrt(2 * math.pi)


def mean(function: Callable[[Value], Value]) -> float:
    """E function(G) of a standard Gaussian number."""
    nodes, weights = _rule(1 / 64)
    return float((weights * function(nodes)).sum())


def mean_of_two(function: Callable[[Value, Value], Value]) -> float:
    """E function(U, W) of two independent ones."""
    nodes, weights = _rule(1 / 32)
    values = np.broadcast_to(function(nodes[:, None], nodes), (len(nodes), len(nodes)))
    return float(weights @ values @ weights)


def apart(left: float, right: float, rounding: float) -> float:
    """How far two numbers are apart, 0 if rounding can explain it: the left side of an equality, with 0 on the right."""
    return max(0.0, abs(left - right) - rounding)


def tail(x: Value) -> Value:
    """P(|G| ≥ x)."""
    return erfc(x / math.sqrt(2))
