"""Exercises of the chapter *How fast*."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _split(W: Float[Tensor, "d d"], best: Float[Tensor, "d d"]) -> tuple[Tensor, Tensor]:
    along = (W * best).sum() / best.norm()
    return along, (W - along * best / best.norm()).norm()


def _angle(W: Float[Tensor, "d d"], best: Float[Tensor, "d d"]) -> float:
    along, residual = _split(W, best)
    return float(residual**2 / (W.norm() * (W.norm() + along)))


def _itself(W: Float[Tensor, "d d"], best: Float[Tensor, "d d"]) -> float:
    """The angle, where a reader's arc cosine has digits: only there answers are compared with it."""
    along, residual = _split(W, best)
    if residual < 1e-3 * along:
        raise ValueError("W must not be so near to the line through W_mm")
    return math.atan2(float(residual), float(along))


def _log(value: float, *arguments: object) -> float:
    """The logarithm, so that small angles count; −1000 for what has none."""
    return math.log(float(value)) if float(value) > 0 else -1000.0


#: What people answer instead, by the hint they get.
ANGLE_MISTAKES = {
    "1 − cos cancels: below 1e-16 nothing is left. Compute the residual, and then divide.": lambda W, best: (
        1 - float((W * best).sum() / (W.norm() * best.norm()))
    ),
    "that is half of the squared sine: off once the angle is not small. Divide by ‖W‖(‖W‖ + ⟨W, Ŵ⟩).": lambda W, best: (
        float(_split(W, best)[1] ** 2 / (2 * W.norm() ** 2))
    ),
    "that is half of the squared tangent: off once the angle is not small. Divide by ‖W‖(‖W‖ + ⟨W, Ŵ⟩).": lambda W, best: (
        float((_split(W, best)[1] / _split(W, best)[0]) ** 2 / 2)
    ),
    "that is the angle itself; 1 − cos is about half of its square.": _itself,
    "that is the squared sine, 1 − cos²: about twice 1 − cos.": lambda W, best: float(
        (_split(W, best)[1] / W.norm()) ** 2
    ),
    "that is the sine of the angle, which is not squared.": lambda W, best: float(
        _split(W, best)[1] / W.norm()
    ),
    "the residual is what is left after the part along W_mm is taken off, not W − W_mm.": lambda W, best: (
        float((W - best).norm() ** 2 / (W.norm() * (W.norm() + (W * best).sum() / best.norm())))
    ),
}


def check_angle(angle: Callable[[Float[Tensor, "d d"], Float[Tensor, "d d"]], float]) -> Feedback:
    """Exercise *An angle too small for 1 − cos*: 1 − corr without cancellation; W, W_mm (d × d) → a number."""
    best = torch.tensor([[3.0, 0.0], [0.0, 4.0]], dtype=torch.float64)
    across = torch.tensor([[4.0, 1.0], [2.0, -3.0]], dtype=torch.float64)
    cases = [
        ("a wide angle (logarithms are compared)", (2 * best + across, best)),
        ("‖W‖ = 5·10⁶", (1e6 * best + across, best)),
        ("‖W‖ = 5·10¹²", (1e12 * best + across, best)),
    ]
    right = lambda W, best: _log(_angle(W, best))
    return judge(
        "ex-how-fast-angle", angle, right, cases, ANGLE_MISTAKES, tolerance=1e-4, seen=_log, slips=False
    )


#: What people answer instead, by the hint they get.
MOMENTUM_MISTAKES = {
    "that is how much faster ‖W‖ grows; the angle's square is asked for": 10.0,
    "the other way round: by how much is it smaller?": 0.01,
    "velocities add up to η(1 + β + β² + …), not to η(1 + β)": 3.61,
    "1/(1 − β), squared, not (1 + β)/(1 − β)": 19.0,
    "the other way round, and the angle's square is asked for: by how much is 1 − corr smaller?": 0.1,
}


def check_momentum(factor: Answer) -> Feedback:
    """Exercise *What momentum buys*: 1/(1 − β)² at β = 0.9."""
    return judge_number(
        "ex-how-fast-momentum",
        factor,
        100.0,
        MOMENTUM_MISTAKES,
        "how long is a step when all gradients point the same way? And 1 − corr is a square over ‖W‖²",
        "‖W‖ grows by η/(1 − β) a step, and 1 − corr is the residual's square over 2‖W‖²",
        tolerance=0.1,
    )


#: What people answer instead, by the hint they get.
DECAY_MISTAKES = {
    "then S_t grows like log t, and 1 − corr falls like 1/log² t": 1.0,
    "that would be right if 1 − corr fell like 1/S_t; under strict complementarity it is 1/S_t²": 0.0,
    "then S_t grows like t^{3/4}, and 1 − corr falls like t^{−3/2}": 0.25,
    "then S_t grows like the third root of t, and 1 − corr falls like t^{−2/3}": 2 / 3,
    "then S_t converges: W_t stays in a ball, and the direction stops somewhere": 1.5,
}


def check_decay(p: Answer) -> Feedback:
    """Exercise *Steps that shrink*: the p for which s_t = η(t + 1)^{−p} gives 1 − corr of order 1/t."""
    return judge_number(
        "ex-how-fast-decay",
        p,
        0.5,
        DECAY_MISTAKES,
        "S_t grows like t^{1−p}, and 1 − corr falls like 1/S_t²",
        "S_t ~ t^{1−p}/(1 − p), and 1 − corr ~ S_t⁻²: 2(1 − p) = 1",
    )
