"""Exercises of the chapter *Projected gradient descent*."""

import functools
from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer import data
from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_by, judge_number
from shallowformer.kernel_regime.convergence import step_size
from shallowformer.kernel_regime.model import parameters


def _edge(K: Tensor, w: Tensor) -> float:
    root = w.sqrt()
    return 1 / float(torch.linalg.eigvalsh(root[:, None] * K * root)[-1])


def _top(A: Tensor) -> float:
    return float(torch.linalg.eigvalsh(A)[-1])


#: What people answer instead, by the hint they get.
EDGE_MISTAKES = {
    "that is for equal weights 1/n: here they differ.": lambda K, w: len(K) / _top(K),
    "KD, with the weights on the diagonal of D, is not symmetric, and `eigvalsh` reads one half of it only: share D out, √D K √D.": lambda K, w: 1 / _top(K * w),
    "DK, with the weights on the diagonal of D, is not symmetric, and `eigvalsh` reads one half of it only: share D out, √D K √D.": lambda K, w: 1 / _top(w[:, None] * K),
    "each side of K takes the root of the weights, not the weights themselves.": lambda K, w: 1 / _top(w[:, None] * K * w),
    "that is safe, but not the largest: the heaviest sample need not lie along the top eigenvector.": lambda K, w: 1 / (float(w.max()) * _top(K)),
    "that is safe, but the trace is the sum of all eigenvalues; one of them decides.": lambda K, w: 1 / float(w @ K.diagonal()),
    "half of that: there the top component vanishes in one step, but nothing grows up to twice as far.": lambda K, w: _edge(K, w) / 2,
    "2 over the largest curvature is the rule; but the curvature of Σ w r² is twice the eigenvalue.": lambda K, w: 2 * _edge(K, w),
    "the loss is a sum with weights; they hold the 1/n, if there is one.": lambda K, w: len(K) * _edge(K, w),
    "that is the smallest eigenvalue.": lambda K, w: 1 / float(torch.linalg.eigvalsh(w.sqrt()[:, None] * K * w.sqrt())[0]),
}  # fmt: skip


def check_edge(edge: Callable[[Float64[Tensor, "n n"], Float64[Tensor, " n"]], float]) -> Feedback:
    """Exercise *Samples that count differently*: 1/λ_max of √D K √D, weights on the diagonal of D; Gram matrix, weights → step size."""
    generator = Generator().manual_seed(0)
    J = torch.randn(5, 7, generator=generator, dtype=torch.float64)
    of = lambda *values: torch.tensor(values, dtype=torch.float64)
    cases = [
        ("three orthogonal gradients", (torch.diag(of(3.0, 1.0, 1.0)), of(0.25, 0.5, 2.0))),
        ("five gradients", (J @ J.T, of(0.1, 0.4, 0.2, 0.8, 0.3))),
        ("gradients that are almost parallel", (1 + 0.5 * torch.eye(3).double(), of(1.0, 0.5, 0.25))),
    ]
    return judge("ex-descent-edge", edge, _edge, cases, EDGE_MISTAKES)


def _earliest_contact(losses: Tensor, eta: float, rho_c: float) -> int | None:
    return _first(step_size.path(losses, eta) >= rho_c)


def _first(reached: Tensor) -> int | None:
    return int(reached.nonzero()[0]) if reached.any() else None


def check_earliest_contact(
    earliest_contact: Callable[[Float64[Tensor, " τ"], float, float], int | None],
) -> Feedback:
    """Exercise *The earliest contact*: the first s with 2η Σ_{t<s} √L̂ ≥ ρ_c, or None; losses, η, ρ_c → number of steps, or None."""
    numbers = lambda *values: torch.tensor(values, dtype=torch.float64)
    cases = [
        ("losses of 1, η = 0.5, ρ_c = 2.5", (numbers(1, 1, 1, 1, 1, 1), 0.5, 2.5)),
        ("losses 4, 1, 0.25, η = 0.5, ρ_c = 3.2", (numbers(4, 1, 0.25), 0.5, 3.2)),
        ("a run that is too short, losses 0.01, 0.01", (numbers(0.01, 0.01), 0.1, 1.0)),
        ("a readout that may move by 0.025", (numbers(0.04, 0.01, 0.01), 0.05, 0.025)),
    ]

    def problem(answered: tuple, *case: object) -> str | tuple[str, ...]:
        (given,), right = answered, _earliest_contact(*case)
        try:
            same = given is right is None or float(given) == right
        except (TypeError, ValueError, RuntimeError):
            if given is not None:
                return f"expected a number of steps, got {given!r}"
            same = False
        hint = _contact_hint(*case, given)
        return "" if same else (f"expected {right}, got {given!r}.", *([hint] if hint else []))

    def boxed(*case: object) -> object:
        """None is an answer here."""
        given = earliest_contact(*case)
        return given if given is Ellipsis else (given,)

    answer = functools.wraps(earliest_contact)(boxed) if callable(earliest_contact) else earliest_contact
    return judge_by("ex-descent-contact", answer, cases, problem, f"right on all {len(cases)} cases")


def _contact_hint(losses: Tensor, eta: float, rho_c: float, given: object) -> str:
    """What a wrong answer was, if it is one that people give."""
    if given is None:
        return "this run is long enough."
    path = step_size.path(losses, eta)
    if path[-1] < rho_c:
        return "the whole path is shorter than ρ_c: the answer is None, not the length of the run."
    if given == _first(path[1:] >= rho_c):
        return "after one step the path has the length 2η√L̂(φ⁽⁰⁾); count steps, not indices."
    if given == _first(path / 2 >= rho_c):
        return "the path carries a factor 2, from the gradient of the square."
    if given == _first(step_size.path(losses.square(), eta) >= rho_c):
        return "take the square roots of the losses."
    return ""


@functools.cache
def _ratio() -> float:
    generator = Generator().manual_seed(0)
    X = data.sphere(100, 8, 8, generator)
    phi0 = parameters.symmetric(64, 8, generator)
    return step_size.trace(X, phi0) / step_size.curvature(X, phi0)


def check_ratio(ratio: Answer) -> Feedback:
    """Exercise *Eigenvalue against trace*: tr K_m/λ_max for the data named there."""
    right = _ratio()
    mistakes = {
        "both are divided by n: here only the trace is.": right / 100,
        "both are divided by n: here only the eigenvalue is.": 100 * right,
    }

    def otherwise(number: float) -> str:
        if 0 < number < 1:
            return "the trace is the larger of the two: divide it by the eigenvalue"
        return f"{number:g} is not it: are samples and heads drawn in that order?"

    praise = f"{right:.2f} times longer"
    return judge_number(
        "ex-descent-ratio",
        ratio,
        right,
        mistakes,
        otherwise,
        praise,
        tolerance=0.01 * right,
        begin="one generator of seed 0: first the samples, then the heads; then step_size.trace over step_size.curvature.",
    )


def kernel_after(kernel: float, f: float, eta: float) -> float:
    """u² + v² after a step of gradient descent on (uv)²: λ − 4ηf²(2 − ηλ), where λ = u² + v² and f = uv before."""
    return kernel - 4 * eta * f**2 * (2 - eta * kernel)


#: What people answer instead, by the hint they get; arguments λ, f and η.
KERNEL_AFTER_MISTAKES = {
    "that is the first order in η; the square of the step counts: it is what makes the kernel turn at ηλ = 2.": lambda kernel, f, eta: kernel - 8 * eta * f**2,
    "the gradient of a square has a factor 2, in both parameters.": lambda kernel, f, eta: kernel_after(kernel, f, eta / 2),
    "(2ηf)² is 4η²f².": lambda kernel, f, eta: kernel - 8 * eta * f**2 + 2 * eta**2 * f**2 * kernel,
    "the mixed term contains uv, which is f: with the f of the gradient f².": lambda kernel, f, eta: kernel - 8 * eta * f + 4 * eta**2 * f**2 * kernel,
    "that is the linear model's: its kernel stays.": lambda kernel, f, eta: kernel,
}  # fmt: skip


def check_kernel_after(answer: Callable[[float, float, float], float]) -> Feedback:
    """Exercise *Beyond the edge*: the tangent kernel of f = uv after a step; λ, f, η → λ after the step."""
    cases = [
        ("λ = 5, f = 2, a short step", (5.0, 2.0, 0.1)),
        ("beyond the edge", (5.0, 0.5, 0.3)),
        ("at ηλ = 2", (4.0, -1.5, 0.5)),
    ]
    return judge("ex-descent-beyond", answer, kernel_after, cases, KERNEL_AFTER_MISTAKES)
