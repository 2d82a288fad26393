"""Exercises of the chapter *Transportation mappings and the RKHS*."""

import functools
from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer import activations, arguments, data
from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_by, judge_number
from shallowformer.kernel_regime.kernel import mappings, transportation
from shallowformer.kernel_regime.model import gradients, parameters

Blocks = tuple[Float64[Tensor, " m"], Float64[Tensor, "m d"], Float64[Tensor, "m d d"]]


def _flat(*blocks: Tensor) -> Tensor:
    return torch.cat([block.flatten() for block in blocks])


def _transport(c: Tensor, U: Tensor, W: Tensor, v_c: Tensor, v_u: Tensor, v_w: Tensor) -> Blocks:
    return _moved(c, U, W, v_c, v_u, v_w, 1 / c)


def _moved(c, U, W, v_c, v_u, v_w, factor, readout=1.0):
    """Every block along its instruction, U and W with a factor a head."""
    step = len(c) ** -0.5
    return c + step * readout * v_c, U + step * factor[:, None] * v_u, W + step * factor[:, None, None] * v_w


def _steps_only(c, U, W, v_c, v_u, v_w):
    return tuple(a - b for a, b in zip(_transport(c, U, W, v_c, v_u, v_w), (c, U, W), strict=True))


#: What people answer instead, by the hint they get.
TRANSPORT_POINT_MISTAKES = {
    "the gradient of U has a factor c_i, and c_i² is no longer 1.": lambda *a: _moved(*a, a[0]),
    "that gives every instruction its direction; its size is still multiplied by |c_i| in the gradient.": lambda *a: _moved(*a, a[0].sign()),
    "a head with a negative readout has to step the other way.": lambda *a: _moved(*a, 1 / a[0].abs()),
    "1/c_i² undoes c_i twice; the gradient contains it once.": lambda *a: _moved(*a, a[0] ** -2),
    "the gradient in c_i is σ(z_i)/√m, without c_i: nothing is to be undone there.": lambda *a: _moved(*a, 1 / a[0], 1 / a[0]),
    "the step is m^{−1/2} times the instruction.": lambda c, U, W, *v: _moved(c, U, W, *(len(c) ** 0.5 * b for b in v), 1 / c),
    "these are the steps; add the initialisation.": _steps_only,
}  # fmt: skip


def check_transport_point(transport_point: Callable[..., Blocks]) -> Feedback:
    """Exercise *Transport from other readouts*: the point at which f_lin is the mean of ⟨φ, v⟩, for readouts of any size.

    Args:
        transport_point: c, U, W, v_c, v_u, v_w → (c̃, Ũ, W̃).
    """
    generator = Generator().manual_seed(0)
    cases = []
    for name, m, d in (("readouts ±2", 4, 1), ("readouts of many sizes", 16, 3)):
        phi, v = parameters.symmetric(m, d, generator), parameters.random(m, d, generator)
        size = torch.linspace(2.0, 0.5, m // 2, dtype=torch.float64).repeat(2) if m > 4 else 2.0
        cases.append((f"{name}, m = {m}, d = {d}", (size * phi.c, phi.U, phi.W, *v.blocks)))
    return judge(
        "ex-transportation-point",
        transport_point,
        lambda *case: _flat(*_transport(*case)),
        cases,
        TRANSPORT_POINT_MISTAKES,
        seen=lambda moved, *_: _flat(*moved),
    )


def check_idle(idle: Callable[..., Float64[Tensor, "m d"]]) -> Feedback:
    """Exercise *Idle without looking at c*: v_u of norm 1, independent of c, that represents zero for tanh; c, U, W → v_u."""

    def case(d: int) -> tuple[Tensor, ...]:
        generator = Generator().manual_seed(d)
        half = parameters.symmetric(20, d, generator)
        c, U, W = half.c.repeat(2), torch.cat([half.U, -half.U]), half.W.repeat(2, 1, 1)
        return c, U, W, data.clipped_gaussian(5, 4, d, generator)

    def twice(c: Tensor, U: Tensor, W: Tensor, X: Tensor) -> object:
        """For c and −c; nothing, for a stub."""
        v_u = idle(c, U.clone(), W.clone())
        return v_u if v_u is None or v_u is Ellipsis else (v_u, idle(-c, U, W))

    def problem(values: tuple, c: Tensor, U: Tensor, W: Tensor, X: Tensor) -> str:
        v_u, other = values
        if not torch.is_tensor(v_u) or v_u.shape != U.shape or not v_u.isfinite().all():
            return f"expected a finite tensor of shape {tuple(U.shape)}"
        if not torch.allclose(v_u.norm(dim=1), torch.ones(len(U), dtype=U.dtype), atol=1e-9):
            return "v_u must have norm 1 at every head"
        if not torch.is_tensor(other) or not torch.allclose(v_u, other, atol=1e-9):
            return "your mapping looks at c"
        feature = gradients.features(X, parameters.Parameters(c, U, W))
        if float((feature.u * v_u).sum(-1).mean(1).abs().max()) > 1e-9:
            return "it represents a function that is not zero. Which parity in U does φ_u have for an odd activation?"
        return ""

    cases = [(f"d = {d}", case(d)) for d in (1, 3)]
    praise = "norm 1, blind to c, and the zero function"
    return judge_by(
        "ex-transportation-idle",
        functools.wraps(idle)(twice) if callable(idle) else idle,
        cases,
        problem,
        praise,
    )


@functools.cache
def label_size(R: int, draws: int = 200) -> float:
    """Root mean square of the labels of the paper's teacher: d = 8, T = 16, ν = (3, 3, 3), over ``draws`` sets of R anchors."""
    arguments.count("R", R)
    arguments.count("draws", draws)
    generator, square = Generator().manual_seed(R), 0.0
    for _ in range(draws):
        v = mappings.teacher(data.clipped_gaussian(R, 16, 8, generator), (3.0, 3.0, 3.0))
        X = data.clipped_gaussian(4, 16, 8, generator)
        estimate = transportation.represented(X, v, 200, generator)
        # The square of a Monte Carlo mean exceeds that of the mean by its variance.
        square += float((estimate.mean**2 - estimate.standard_error**2).mean()) / draws
    if square <= 0:
        raise ValueError(f"draws must be larger for R = {R}: the mean square drowns in noise, got {draws}")
    return square**0.5


#: What people answer instead, by the hint they get.
WEIGHT_MISTAKES = {
    "1/R is the paper's weight: its labels shrink like 1/√R": 1 / 16,
    "weight 1 makes the labels √R times those of one anchor": 1.0,
}


def check_weight(weight: Answer) -> Feedback:
    """Exercise *A stronger teacher*: the weight of each of 16 anchors that makes labels as large as one anchor's."""
    return judge_number(
        "ex-transportation-teacher",
        weight,
        0.25,
        WEIGHT_MISTAKES,
        lambda number: f"{number:g} does not match: how do independent centred anchors add up?",
        "R^{−1/2}: independent centred anchors add up like √R",
        tolerance=0.02,
        near=0.06,
        begin="with weights w the labels are wR times those with 1/R, and those are 1/√R of one anchor's.",
    )


def check_readout_for(readout_for: Callable[[Float64[Tensor, "m d"]], Float64[Tensor, " m"]]) -> Feedback:
    """Exercise *Moving is re-reading*: v_c(U) such that (v_c, 0, 0) represents the same function as (0, e₁, 0); U → v_c."""
    nodes = torch.arange(-8.5, 8.6, 0.25, dtype=torch.float64)
    weight = torch.exp(-(nodes**2) / 2) / (2 * torch.pi) ** 0.5 * 0.25

    def problem(v_c: object, U: Tensor, sigma: activations.Activation) -> str:
        d = U.shape[1]
        P = weight if d == 1 else torch.outer(weight, weight).flatten()
        if not torch.is_tensor(v_c) or v_c.shape != P.shape or not v_c.isfinite().all():
            return f"expected a finite tensor of shape {tuple(P.shape)}"
        a = 0.5 * data.sphere(5, 1, d, Generator().manual_seed(d))[:, 0]
        z = a @ U.T
        moved, read = (P * sigma.first(z)).sum(1) * a[:, 0], (P * sigma(z) * v_c).sum(1)
        if torch.allclose(read, -moved, rtol=0, atol=1e-9):
            return "this is minus the function. Check the sign of the boundary term."
        if not torch.allclose(read, moved, rtol=0, atol=1e-9):
            return "another function. Integrate σ′(⟨U, a⟩)a₁ = ∂σ(⟨U, a⟩)/∂U₁ by parts."
        return ""

    cases = [
        (f"d = {d}, {sigma.name}", (torch.cartesian_prod(*[nodes] * d).reshape(-1, d), sigma))
        for d, sigma in ((1, activations.TANH), (2, activations.LOGISTIC), (2, activations.SINE))
    ]
    of_U = lambda U, sigma: readout_for(U)
    answer = functools.wraps(readout_for)(of_U) if callable(readout_for) else readout_for
    praise = "the same function, for three activations"
    return judge_by("ex-transportation-readout", answer, cases, problem, praise)
