"""Theorems A and F for vector outputs, each without one hypothesis: heads with two outputs, one token or two, runs of a few steps."""

import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction

import torch
from torch import Tensor

from companion.theory.beyond import vector_certificate, vector_outputs
from companion.theory.beyond.architecture import Blocks
from shallowformer.training import self_bounding

F64 = torch.float64
U, ETA = 0.3, 0.1
C0, Y = torch.tensor([1.0, 1.0], dtype=F64), torch.tensor([0.5, 0.25], dtype=F64)
#: At this U tanh is 1 and its slope 0, in double precision: only readouts move, and the model is linear.
SATURATED = 20.0


def _pair(U: float, other: float | None = None, sign: float = -1.0) -> Blocks:
    """Two heads on one number, with the readouts (1, 1) and ``sign`` times these."""
    inputs = torch.tensor([[U], [U if other is None else other]], dtype=F64)
    return {"c": torch.stack([C0, sign * C0]), "U": inputs, "W": torch.zeros(2, 1, 1, dtype=F64)}


def _tokens(*values: float) -> Tensor:
    """Sequences of one token each."""
    return torch.tensor(values, dtype=F64)[:, None, None]


def _run(
    X: Tensor, y: Tensor, eta: float, steps: int, project: Callable[[Tensor], Tensor], sample: Tensor
) -> float:
    """Root of the mean loss of a run of a saturated pair; ``sample`` weighs the positions' gradients, ``project`` acts on δc."""
    phi, losses = _pair(SATURATED), []
    start = phi["c"]
    for _ in range(steps):
        r = vector_outputs.by_position(vector_outputs.outputs(X, phi, "last")) - y
        losses.append(float(r.square().sum(1).mean()))
        slope = vector_outputs.pull_back(X, phi, 2 * sample[:, None] * r, "last")
        phi = {name: block - eta * slope[name] for name, block in phi.items()}
        phi["c"] = start + project(phi["c"] - start)
    return math.sqrt(sum(losses) / steps)


LABEL = torch.tensor([[1.0, -1.0]], dtype=F64)
ALL = torch.ones(1, dtype=F64)


def long_step(kept: bool) -> tuple[float, float]:
    """A pair at saturation, label (1, −1), ε = 0, A² = 1 in Gram form, η = ½ (kept) or 2, 20 steps; the second bound, √(V₀/(4|1 − θ|ητ)).

    The comparator moves both readouts by y/√2, so V₀ = ‖y‖² = 2, and fits the label.
    """
    eta = 0.5 if kept else 2.0
    root = _run(_tokens(1.0), LABEL, eta, 20, lambda move: move, ALL)
    return root, math.sqrt(2 / (4 * abs(1 - eta) * eta * 20))


def outside(kept: bool) -> tuple[float, float]:
    """The same, η = ¼, 100 steps, on Ω: ‖δc_i‖ ≤ 1, where the comparator lies (kept), or ≤ ½, where the run stops half-way."""
    radius = 1.0 if kept else 0.5
    shorten = lambda move: move * (radius / move.norm(dim=1, keepdim=True).clamp(min=radius))
    return _run(_tokens(1.0), LABEL, 0.25, 100, shorten, ALL), self_bounding.bound(0.0, 2.0, 0.25, 100, 0.25)


def not_convex(kept: bool) -> tuple[float, float]:
    """The same, η = 1/10, without a projection (kept), or with Ω: each δc_i is 0 or at least 1 long. The first step, of length 1/5, is taken back."""
    back = lambda move: torch.where(move.norm(dim=1, keepdim=True) < 0.5, 0 * move, move)
    project = (lambda move: move) if kept else back
    return _run(_tokens(1.0), LABEL, 0.1, 100, project, ALL), self_bounding.bound(0.0, 2.0, 0.1, 100, 0.1)


def one_sample(kept: bool) -> tuple[float, float]:
    """The tokens 1 and 0 with the labels (1, −1) and 0, η = ¼, A² = λ_max(G)/2 = ½: full gradients (kept), or token 0's, which are 0."""
    y = torch.cat([LABEL, 0 * LABEL])
    weights = torch.tensor([0.5, 0.5] if kept else [0.0, 1.0], dtype=F64)
    root = _run(_tokens(1.0, 0.0), y, 0.25, 100, lambda move: move, weights)
    return root, self_bounding.bound(0.0, 2.0, 0.25, 100, 0.125)


def long_token(kept: bool) -> tuple[float, float]:
    """‖J^θ‖² and Γ² max L² for two tokens, 0 (the query) and one of length 1 (kept) or 4; U = 0, W = 0, readouts (1, 1), (1, −1).

    Attention is uniform, so the slope in U is half the longer token, and that in W is 0; L = 1.
    """
    X = torch.tensor([[[1.0 if kept else 4.0], [0.0]]], dtype=F64)
    c = torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=F64)
    phi = {"c": c, "U": torch.zeros(2, 1, dtype=F64), "W": torch.zeros(2, 1, 1, dtype=F64)}
    shared = vector_outputs.kernel(X, phi, "last")[1][0, :, 0]
    return float(torch.linalg.eigvalsh(shared)[-1]), float(vector_outputs.spread(c)) ** 2


def _off(readouts: Iterable[tuple[int, int, int, int]]) -> tuple[Fraction, int]:
    """|E‖(2/m)C₀ᵀC₀ − I‖² − 2k(k − 1)/m| for two pairs and two outputs, over equally likely (c₁₁, c₁₂, c₂₁, c₂₂), and 0.

    The matrix has (c₁₁c₁₂ + c₂₁c₂₂)/2 off its diagonal, twice, and 0 on it; 2k(k − 1)/m = 1.
    """
    squares = [2 * Fraction(a * b + c * d, 2) ** 2 for a, b, c, d in readouts]
    return abs(sum(squares) / len(squares) - 1), 0


SIGNS = list(itertools.product((1, -1), repeat=4))


def same_for_outputs(kept: bool) -> tuple[Fraction, int]:
    """Two pairs, two outputs: all signs independent (kept), or the two of a pair equal, pairs independent."""
    return _off(SIGNS if kept else [c for c in SIGNS if c[0] == c[1] and c[2] == c[3]])


def same_for_pairs(kept: bool) -> tuple[Fraction, int]:
    """The same: all independent (kept), or both pairs have the same two signs, which are independent and fair."""
    return _off(SIGNS if kept else [c for c in SIGNS if c[:2] == c[2:]])


def not_fair(kept: bool) -> tuple[Fraction, int]:
    """The same: fair signs (kept), or signs that are always 1, which are independent."""
    return _off(SIGNS if kept else [(1, 1, 1, 1)])


def _sure(eta: float, *tokens: float) -> float:
    """E₁ for a pair with U = 0.3; the first token has the label (½, ¼), others have 0."""
    y = torch.zeros(len(tokens), 1, 2, dtype=F64)
    y[0, 0] = Y
    return float(vector_certificate.certify(_tokens(*tokens), y, _pair(U), eta, 1, "last").E[1])


def _linear_step(eta: float) -> Tensor:
    """u⁽¹⁾ − u⁽⁰⁾ = 2η(h² + σ'²c⁰c⁰ᵀ)y for the token 1."""
    h = math.tanh(U)
    return 2 * eta * (h**2 * Y + (1 - h**2) ** 2 * (C0 @ Y) * C0)


def _apart(eta: float, value: Callable[[float], float] = math.tanh) -> float:
    """‖r⁽¹⁾ − u⁽¹⁾‖ of the pair on the token 1, written out; at U the function has value and slope of tanh."""
    h, root = math.tanh(U), math.sqrt(2)
    readout, inner = root * eta * h * Y, root * eta * float(C0 @ Y) * (1 - h**2)
    f = ((C0 + readout) * value(U + inner) + (readout - C0) * value(U - inner)) / root
    return float((f - _linear_step(eta)).norm())


def uneven(kept: bool) -> tuple[float, float]:
    """‖r⁽⁰⁾ − u⁽⁰⁾‖ = ‖f(φ⁽⁰⁾)‖ and E₀ = 0 for partners with U = 0.3 both (kept), or 0.3 and 0.1."""
    f = vector_outputs.outputs(_tokens(1.0), _pair(U, U if kept else 0.1), "last")
    return float(f.norm()), 0.0


def equal_readouts(kept: bool) -> tuple[float, float]:
    """The same for the readouts c⁰ and −c⁰ (kept), or c⁰ twice."""
    f = vector_outputs.outputs(_tokens(1.0), _pair(U, sign=-1.0 if kept else 1.0), "last")
    return float(f.norm()), 0.0


def other_activation(kept: bool) -> tuple[float, float]:
    """‖r⁽¹⁾ − u⁽¹⁾‖ and E₁ for tanh (kept), or tanh and a bump 10⁶(z − U)⁵ above U: in C⁴, with the same four derivatives at U."""
    bump = 0.0 if kept else 1e6
    return _apart(ETA, lambda z: math.tanh(z) + bump * max(z - U, 0.0) ** 5), _sure(ETA, 1.0)


def stopped(kept: bool) -> tuple[float, float]:
    """‖r⁽¹⁾ − u⁽¹⁾‖ and E₁: the step is taken (kept), or taken back by a projection."""
    return (_apart(ETA) if kept else float(_linear_step(ETA).norm())), _sure(ETA, 1.0)


def first_sample(kept: bool) -> tuple[float, float]:
    """‖r⁽¹⁾ − u⁽¹⁾‖ and E₁ for the tokens 1 and 0 with the labels (½, ¼) and 0: full gradient (kept), or token 0's, which is 0.

    The mean over two positions halves the step.
    """
    apart = _apart(ETA / 2) if kept else float(_linear_step(ETA / 2).norm())
    return apart / math.sqrt(2), _sure(ETA, 1.0, 0.0)
