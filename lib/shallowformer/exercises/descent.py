"""Exercises of the chapter *Projected gradient descent*."""

import functools
from collections.abc import Callable

import torch
from torch import Generator, Tensor

from shallowformer.exercises.feedback import Feedback, judge, judge_number
from shallowformer.kernel_regime import data, parameters, step_size


def _edge(K: Tensor) -> float:
    return len(K) / float(torch.linalg.eigvalsh(K)[-1])


#: What people answer instead, by the hint they get.
EDGE_MISTAKES = {
    "that is safe, but the trace is the sum of all eigenvalues; one of them decides.": lambda K: len(K) / float(K.trace()),
    "half of that: there the top component vanishes in one step, but nothing grows up to twice as far.": lambda K: _edge(K) / 2,
    "the loss is a mean over samples: a factor n is missing.": lambda K: _edge(K) / len(K),
    "the gradient of the square brings a 2: the factor is 1 − 2ηλ/n.": lambda K: 2 * _edge(K),
    "that is the smallest eigenvalue.": lambda K: len(K) / float(torch.linalg.eigvalsh(K)[0]),
}  # fmt: skip


def check_edge(edge: Callable[[Tensor], float]) -> Feedback:
    """Exercise *The safe step from a Gram matrix*: n/λ_max.

    Args:
        edge: Gram matrix → step size.

    Returns:
        The feedback.
    """
    generator = Generator().manual_seed(0)
    J = torch.randn(5, 7, generator=generator, dtype=torch.float64)
    cases = [
        ("three orthogonal gradients", (torch.diag(torch.tensor([3.0, 1.0, 0.5], dtype=torch.float64)),)),
        ("five gradients", (J @ J.T,)),
        ("gradients that are almost parallel", (torch.ones(3, 3, dtype=torch.float64) + 0.5 * torch.eye(3),)),
    ]
    return judge("ex-descent-edge", edge, _edge, cases, EDGE_MISTAKES)


def _earliest_contact(losses: Tensor, eta: float, rho_c: float) -> float:
    reached = (step_size.path(losses, eta) >= rho_c).nonzero()
    return float(reached[0]) if len(reached) else float("nan")


def check_earliest_contact(earliest_contact: Callable[[Tensor, float, float], int | None]) -> Feedback:
    """Exercise *The earliest contact*: the first s with 2η Σ_{t<s} √L̂ ≥ ρ_c, or None.

    Args:
        earliest_contact: losses, η, ρ_c → number of steps, or None.

    Returns:
        The feedback.
    """
    name = "ex-descent-contact"
    numbers = lambda *values: torch.tensor(values, dtype=torch.float64)
    cases = [
        ("losses of 1, η = 0.5, ρ_c = 2.5", numbers(1, 1, 1, 1), 0.5, 2.5),
        ("losses 4, 1, 0.25, η = 0.5, ρ_c = 3.2", numbers(4, 1, 0.25), 0.5, 3.2),
        ("a run that is too short, losses 0.01, 0.01", numbers(0.01, 0.01), 0.1, 1.0),
        ("a readout that may move by 0.025", numbers(0.04, 0.01, 0.01), 0.05, 0.025),
    ]
    if not callable(earliest_contact):
        return Feedback(name, "wrong", f"give the function itself, not {type(earliest_contact).__name__}")
    for what, losses, eta, rho_c in cases:
        right = _earliest_contact(losses, eta, rho_c)
        try:
            given = earliest_contact(losses.clone(), eta, rho_c)
        except NotImplementedError:
            return Feedback(name, "not yet", "your function is still the stub")
        except Exception as error:
            return Feedback(name, "wrong", f"{what}: your function raises {type(error).__name__}: {error}")
        if given is Ellipsis:
            return Feedback(name, "not yet", "your function returns nothing yet")
        if right != right:
            if given is None:
                continue
            return Feedback(name, "wrong", f"{what}: expected None, got {given!r}")
        try:
            off = float(given) - right if given is not None else None
        except (TypeError, ValueError, RuntimeError):
            return Feedback(name, "wrong", f"{what}: expected a number of steps, got {given!r}")
        if off != 0:
            hint = _contact_hint(losses, eta, rho_c, given)
            return Feedback(name, "wrong", f"{what}: expected {right:g}, got {given!r}.{hint}")
    return Feedback(name, "passed", f"right on all {len(cases)} cases")


def _contact_hint(losses: Tensor, eta: float, rho_c: float, given: object) -> str:
    """What a wrong answer was, if it is one that people give."""
    if given is None:
        return " Hint: this run is long enough."
    first = lambda path: float((path >= rho_c).nonzero()[0]) if bool((path >= rho_c).any()) else None
    if given == first(step_size.path(losses, eta)[1:]):
        return " Hint: after one step the path has the length 2η√L̂(φ⁽⁰⁾); count steps, not indices."
    if given == first(step_size.path(losses, eta) / 2):
        return " Hint: the path carries a factor 2, from the gradient of the square."
    if given == first(step_size.path(losses.square(), eta)):
        return " Hint: take the square roots of the losses."
    return ""


@functools.cache
def _ratio() -> float:
    generator = Generator().manual_seed(0)
    X = data.sphere(100, 8, 8, generator)
    phi0 = parameters.symmetric(64, 8, generator)
    return step_size.trace(X, phi0) / step_size.curvature(X, phi0)


def check_ratio(ratio: float) -> Feedback:
    """Exercise *Eigenvalue against trace*: tr K_m/λ_max for the data named there.

    Args:
        ratio: the reader's answer.

    Returns:
        The feedback.
    """
    name = "ex-descent-ratio"

    def verdict(ratio: float) -> Feedback:
        right = _ratio()
        if abs(ratio / right - 1) <= 0.01:
            return Feedback(name, "passed", f"{right:.2f} times longer")
        if abs(ratio / (100 * right) - 1) <= 0.01 or abs(100 * ratio / right - 1) <= 0.01:
            return Feedback(name, "wrong", "both are divided by n")
        if 0 < ratio < 1:
            return Feedback(name, "wrong", "the trace is the larger of the two: divide it by the eigenvalue")
        return Feedback(name, "wrong", f"{ratio:g} is not it: are samples and heads drawn in that order?")

    return judge_number(name, ratio, verdict)
