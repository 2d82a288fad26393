"""Exercises of the chapter *Self-bounding: a better theorem*."""

import functools
import math
from collections.abc import Callable

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.training import self_bounding

#: What people answer instead, by the hint they get; arguments a, b, eta, tau, theta.
ROOT_MISTAKES = {
    "that is the simple sum; solve the quadratic inequality instead.": lambda a, b, eta, tau, theta: a / (1 - theta)
    + math.sqrt(b / (4 * (1 - theta) * eta * tau)),
    "the square under the root belongs to ε; (1 − θ) multiplies V₀/(ητ) alone.": lambda a, b, eta, tau, theta: (
        a + math.sqrt((1 - theta) * (a**2 + b / (eta * tau)))
    )
    / (2 * (1 - theta)),
    "there is a factor 4 between V₀/(4ητ) and what stands under the root.": lambda a, b, eta, tau, theta: (
        a + math.sqrt(a**2 + (1 - theta) * b / (4 * eta * tau))
    )
    / (2 * (1 - theta)),
    "this bounds the mean loss; its root is asked for.": lambda *given: self_bounding.bound(*given) ** 2,
}  # fmt: skip


def check_root(root: Callable[[float, float, float, int, float], float]) -> Feedback:
    """Exercise *Solve the quadratic*: the bound on the root of the mean loss; ε, V₀, η, τ, θ → the bound."""
    cases = [
        ("ε = 0", (0.0, 1.0, 0.5, 8, 0.5)),
        ("V₀ = 0", (0.1, 0.0, 0.5, 8, 0.25)),
        ("both above 0", (0.1, 2.0, 0.3, 50, 0.4)),
    ]
    return judge("ex-self-bounding-root", root, self_bounding.bound, cases, ROOT_MISTAKES)


#: What people answer instead, by the hint they get; arguments are the loss, ‖∇L̂‖² and θ.
STEP_MISTAKES = {
    "that is Polyak's step with the smallest loss 0, whatever θ is; it belongs to θ = 1/4.": lambda loss, square, theta: loss / square,
    "A² = ‖∇L̂‖²/(4L̂) has a factor 4.": lambda loss, square, theta: theta * loss / square,
    "divide by the squared norm of the gradient, not by the norm.": lambda loss, square, theta: 4 * theta * loss / math.sqrt(square),
    "η A² = θ, so η is θ over A², not A² over θ.": lambda loss, square, theta: square / (4 * theta * loss),
}  # fmt: skip


def check_step(step: Callable[[float, float, float], float]) -> Feedback:
    """Exercise *The step that needs no constant*: the η_s with η_s A_s² = θ along the gradient; L̂, ‖∇L̂‖², θ → η_s."""
    cases = [
        ("L̂ = 2, ‖∇L̂‖² = 9, θ = 1/2", (2.0, 9.0, 0.5)),
        ("L̂ = 0.01, ‖∇L̂‖² = 0.25, θ = 0.1", (0.01, 0.25, 0.1)),
    ]
    return judge(
        "ex-self-bounding-step",
        step,
        lambda loss, square, theta: 4 * theta * loss / square,
        cases,
        STEP_MISTAKES,
    )


@functools.cache
def _best_theta(epsilon: float = 0.02, V0: float = 0.25, square: float = 0.05, tau: int = 100) -> float:
    """The θ that minimises Theorem A at η = θ/Ā², to 1e-4."""
    grid = [k / 10_000 for k in range(1, 10_000)]
    return min(grid, key=lambda theta: self_bounding.bound(epsilon, V0, theta / square, tau, theta))


#: What people answer instead, by the hint they get.
BEST_THETA_MISTAKES = {"1/2 is best for ε = 0; here ε/(1 − θ) pulls it down": 0.5}


def check_best_theta(theta: Answer) -> Feedback:
    """Exercise *Which step size?*: the best θ for ε = 0.02, V₀ = 0.25, Ā² = 0.05 and τ = 100."""
    right = _best_theta()

    def otherwise(number: float) -> str:
        if not 0 < number < 1:
            return f"θ must lie between 0 and 1, got {number:g}"
        return f"the bound is lower at a {'smaller' if number > right else 'larger'} θ; try a grid"

    praise = f"the bound is smallest at θ = {right:.3f}"
    return judge_number(
        "ex-self-bounding-theta",
        theta,
        right,
        BEST_THETA_MISTAKES,
        otherwise,
        praise,
        tolerance=0.01,
        near=0.02,
        begin="put η = θ/Ā² into the first line of Theorem A and evaluate it on a grid of θ between 0 and 1.",
    )


def other_loss(V0: float, A2: float, H: float, kappa: float, steps: int) -> float:
    """The bound on the mean loss at the best constant step, for a loss with ℓ′² ≤ 2Hℓ and rℓ′ ≥ κℓ: 2HA²V₀/(κ²τ).

    Args:
        A2: A², a bound on the mean of the squared gradients.
    """
    return 2 * H * A2 * V0 / (kappa**2 * steps)


#: What people answer instead, by the hint they get; arguments V₀, A², H, κ and τ.
OTHER_LOSS_MISTAKES = {
    "that is the bound for the square, for which H = κ = 2.": lambda V0, A2, H, kappa, steps: A2 * V0 / steps,
    "at the longest step that is allowed at all nothing is left: the best one is half as long, and leaves κ/2.": lambda V0, A2, H, kappa, steps: H * A2 * V0 / (2 * kappa**2 * steps),
    "the slope towards the comparator has a factor 2 from the square of the distance: 2ηκℓ.": lambda V0, A2, H, kappa, steps: 8 * H * A2 * V0 / (kappa**2 * steps),
    "κ comes twice: in what a step gains, and in how long it may be.": lambda V0, A2, H, kappa, steps: 2 * H * A2 * V0 / (kappa * steps),
    "ℓ′² ≤ 2Hℓ: its 2 went lost.": lambda V0, A2, H, kappa, steps: H * A2 * V0 / (kappa**2 * steps),
}  # fmt: skip


def check_other_loss(answer: Callable[[float, float, float, float, int], float]) -> Feedback:
    """Exercise *Another loss*: the bound on the mean loss at the best constant step; V₀, A², H, κ, τ → the bound."""
    cases = [
        ("log cosh: H = κ = 1", (0.5, 0.3, 1.0, 1.0, 10)),
        ("H = 3, κ = 1.5", (2.0, 0.2, 3.0, 1.5, 4)),
        ("half of the square: H = 1, κ = 2", (1.0, 0.4, 1.0, 2.0, 25)),
    ]
    return judge("ex-self-bounding-loss", answer, other_loss, cases, OTHER_LOSS_MISTAKES)
