"""Exercises of the chapter *Transportation mappings and the RKHS*."""

import functools
from collections.abc import Callable

import torch
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.exercises.feedback import Feedback, judge, judge_number
from shallowformer.kernel_regime import activations, data, gradients, mappings, parameters, transportation


def _flat(*blocks: Tensor) -> Tensor:
    return torch.cat([block.flatten() for block in blocks])


def _transport(c: Tensor, U: Tensor, W: Tensor, v_c: Tensor, v_u: Tensor, v_w: Tensor) -> Tensor:
    step = len(c) ** -0.5
    return _flat(c + step * v_c, U + step * c[:, None] * v_u, W + step * c[:, None, None] * v_w)


def _unscaled(c, U, W, v_c, v_u, v_w):
    return _flat(c + v_c, U + c[:, None] * v_u, W + c[:, None, None] * v_w)


def _without_signs(c, U, W, v_c, v_u, v_w):
    step = len(c) ** -0.5
    return _flat(c + step * v_c, U + step * v_u, W + step * v_w)


def _signed_readout(c, U, W, v_c, v_u, v_w):
    step = len(c) ** -0.5
    return _flat(c + step * c * v_c, U + step * c[:, None] * v_u, W + step * c[:, None, None] * v_w)


def _steps_only(c, U, W, v_c, v_u, v_w):
    return _transport(c, U, W, v_c, v_u, v_w) - _flat(c, U, W)


#: What people answer instead, by the hint they get.
TRANSPORT_POINT_MISTAKES = {
    "the step is m^{−1/2} times the instruction.": _unscaled,
    "U and W move along c_i times their instruction: a head with c = −1 has to step the other way.": _without_signs,
    "c itself moves by v_c/√m, without a sign: its feature has no factor c.": _signed_readout,
    "these are the steps; add the initialisation.": _steps_only,
}


def check_transport_point(transport_point: Callable[..., tuple[Tensor, Tensor, Tensor]]) -> Feedback:
    """Exercise *Transport*: the transported point of equation (10).

    Args:
        transport_point: (c, U, W, v_c, v_u, v_w) → (c̃, Ũ, W̃).

    Returns:
        The feedback.
    """
    generator = Generator().manual_seed(0)
    cases = []
    for m, d in ((4, 1), (16, 3)):
        phi, v = parameters.symmetric(m, d, generator), parameters.random(m, d, generator)
        cases.append((f"m = {m}, d = {d}", (*phi.blocks, *v.blocks)))

    def joined(*case):
        answer = transport_point(*case)
        return answer if answer is None or answer is Ellipsis or torch.is_tensor(answer) else _flat(*answer)

    answer = joined if callable(transport_point) else transport_point
    return judge("ex-transportation-point", answer, _transport, cases, TRANSPORT_POINT_MISTAKES)


def check_idle(idle: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Feedback:
    """Exercise *Idle without looking at c*: v_u of norm 1, independent of c, that represents zero for tanh.

    Args:
        idle: (c, U, W) → v_u, Float64[Tensor, "m d"].

    Returns:
        The feedback.
    """
    name = "ex-transportation-idle"
    if not callable(idle):
        return Feedback(
            name, "wrong", f"give the function itself, not {type(idle).__name__}: check(f), not check(f(x))"
        )
    for d in (1, 3):
        generator = Generator().manual_seed(d)
        half = parameters.symmetric(20, d, generator)
        U, W, c = torch.cat([half.U, -half.U]), half.W.repeat(2, 1, 1), half.c.repeat(2)
        try:
            v_u, other = idle(c.clone(), U.clone(), W.clone()), idle(-c, U.clone(), W.clone())
        except NotImplementedError:
            return Feedback(name, "not yet", "your function is still the stub")
        except Exception as error:
            return Feedback(name, "wrong", f"d = {d}: your function raises {type(error).__name__}: {error}")
        if v_u is None or v_u is Ellipsis:
            return Feedback(name, "not yet", "your function returns nothing yet")
        if not torch.is_tensor(v_u) or v_u.shape != U.shape or not v_u.isfinite().all():
            return Feedback(name, "wrong", f"d = {d}: expected a finite tensor of shape {tuple(U.shape)}")
        if not torch.allclose(v_u.norm(dim=1), torch.ones(len(U), dtype=U.dtype), atol=1e-9):
            return Feedback(name, "wrong", f"d = {d}: v_u must have norm 1 at every head")
        if not torch.allclose(v_u, other, atol=1e-9):
            return Feedback(name, "wrong", f"d = {d}: your mapping looks at c")
        X = data.clipped_gaussian(5, 4, d, generator)
        feature = gradients.features(X, parameters.Parameters(c, U, W))
        if float((feature.u * v_u).sum(-1).mean(1).abs().max()) > 1e-9:
            return Feedback(
                name,
                "wrong",
                f"d = {d}: it represents a function that is not zero. Which parity in U does φ_u have for an odd activation?",
            )
    return Feedback(name, "passed", "norm 1, blind to c, and the zero function")


@functools.cache
def label_size(R: int, draws: int = 200) -> float:
    """Root mean square of the labels of the paper's teacher: d = 8, T = 16, ν = (3, 3, 3), over many sets of anchors.

    Args:
        R: anchors, at least 1.
        draws: sets of anchors, at least 1.

    Returns:
        The root mean square.

    Raises:
        ValueError: a number below 1; too few draws for a mean square above its noise.
    """
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


def check_weight(weight: float) -> Feedback:
    """Exercise *A stronger teacher*: the weight of each of 16 anchors that makes labels as large as one anchor's.

    Args:
        weight: the reader's answer.

    Returns:
        The feedback.
    """

    def verdict(weight: float) -> Feedback:
        name = "ex-transportation-teacher"
        if abs(weight - 0.25) <= 0.02:
            return Feedback(name, "passed", "R^{−1/2}: independent centred anchors add up like √R")
        if abs(weight - 1 / 16) <= 0.005:
            return Feedback(name, "wrong", "1/R is the paper's weight: its labels shrink like 1/√R")
        if abs(weight - 1) <= 0.05:
            return Feedback(name, "wrong", "weight 1 makes the labels √R times those of one anchor")
        return Feedback(
            name, "wrong", f"{weight:g} does not match: how do independent centred anchors add up?"
        )

    return judge_number("ex-transportation-teacher", weight, verdict)


def check_readout_for(readout_for: Callable[[Tensor], Tensor]) -> Feedback:
    """Exercise *Moving is re-reading*: v_c(U) such that (v_c, 0, 0) represents the same function as (0, e₁, 0).

    Args:
        readout_for: U, Float64[Tensor, "m d"] → v_c, Float64[Tensor, "m"].

    Returns:
        The feedback.
    """
    name = "ex-transportation-readout"
    if not callable(readout_for):
        return Feedback(
            name,
            "wrong",
            f"give the function itself, not {type(readout_for).__name__}: check(f), not check(f(x))",
        )
    nodes = torch.arange(-8.5, 8.6, 0.25, dtype=torch.float64)
    weight = torch.exp(-(nodes**2) / 2) / (2 * torch.pi) ** 0.5 * 0.25
    for d, sigma in ((1, activations.TANH), (2, activations.LOGISTIC), (2, activations.SINE)):
        U = torch.cartesian_prod(*[nodes] * d).reshape(-1, d)
        P = weight if d == 1 else torch.outer(weight, weight).flatten()
        where = f"d = {d}, {sigma.name}"
        try:
            v_c = readout_for(U.clone())
        except NotImplementedError:
            return Feedback(name, "not yet", "your function is still the stub")
        except Exception as error:
            return Feedback(name, "wrong", f"{where}: your function raises {type(error).__name__}: {error}")
        if v_c is None or v_c is Ellipsis:
            return Feedback(name, "not yet", "your function returns nothing yet")
        if not torch.is_tensor(v_c) or v_c.shape != P.shape or not v_c.isfinite().all():
            return Feedback(name, "wrong", f"{where}: expected a finite tensor of shape {tuple(P.shape)}")
        a = 0.5 * data.sphere(5, 1, d, Generator().manual_seed(d))[:, 0]
        z = a @ U.T
        moved, read = (P * sigma.first(z)).sum(1) * a[:, 0], (P * sigma(z) * v_c).sum(1)
        if torch.allclose(read, -moved, rtol=0, atol=1e-9):
            return Feedback(
                name, "wrong", f"{where}: this is minus the function. Check the sign of the boundary term."
            )
        if not torch.allclose(read, moved, rtol=0, atol=1e-9):
            return Feedback(
                name, "wrong", f"{where}: another function. Integrate σ′(⟨U, a⟩)a₁ = ∂σ(⟨U, a⟩)/∂U₁ by parts."
            )
    return Feedback(name, "passed", "the same function, for three activations")
