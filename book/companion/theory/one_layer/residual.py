"""What the theory of the residual paper says of a run: errors that pay for the path, and the rate of the smallest eigenvalue.

Descent with step η on the mean loss is descent with μ = 2η/n on ½‖E‖², E the errors of all outputs. J is the Jacobian in the trained blocks.
Theorem: for a convex set around the start, given by how far each block and all together may move, ``bends`` has M, a Lipschitz constant of J. Let
ν ≥ μ‖J‖² there, and let s(u) = s₀ − ℓu bound σ_min(J) from below at distance u: s₀ = σ_min(J⁰) with ℓ = cM (by the kernel) or s₀ = σ_min of the
hidden layer with its Lipschitz constant ℓ (by the layer, C trained). Let ε = μs₀² and ν + ε + μMe₀ ≤ 2, and c = 1 if ν ≤ 1, else (ν(2 − ν − ε))^{−½}.

*Key inequality: s h ≤ c(e − ê), for a step h = τμ‖JᵀE‖ long, ê = ‖(I − τμJJᵀ)E‖.* For ν ≤ 1 it is that of Theorem C. Else let a be the mean of the
eigenvalues x of τμJJᵀ in the weights of E. A chord lies above (1 − x)²: (ê/e)² ≤ (1 − εν) − a(2 − ε − ν). With D = 1 − (ê/e)²: a ≤ (D − εν)/(2 − ε − ν), and
(D − εν)^½(εν)^½ ≤ D/2, so that s h/e = (εa)^½ ≤ D/(2(ν(2 − ε − ν))^½), and e − ê ≥ eD/2. For a part τ of a step c is no larger, as x(2 − x(1 + ε/ν)) falls from x = 1 on.

*Path.* Errors after the step are (I − μJJᵀ)E and at most Mh²/2, so s₀U − ℓU²/2 ≤ c'(e₀ − e), c' = c by the kernel, c/(1 − μMe₀/(2 − ν)) by the layer, as
h² ≤ 2μe(e − ê)/(2 − ν). Hence U ≤ 2c'e₀/(s₀ + (s₀² − 2ℓc'e₀)^½), and s² ≥ s₀² − 2ℓc'(e₀ − e).
*Rate.* On the chord the new error is largest at a = ε: e' ≤ (1 − μs²(1 − ½μMe))e; and e' ≥ (1 − ν)e − ½μMνe².
*Blocks.* So Σμe ≤ ln(s₀²/(s₀² − 2ℓc'e₀)) / (2ℓc'(1 − ½μMe₀)), and a block moves by at most this times the norm of its own part of J.
If all these lengths are below those of the set, then the path, which grows continuously, never leaves it.

Where outputs are linear in what is trained, J is constant, errors are (I − μJJᵀ)^t E, and nothing else is needed, neither s₀ > 0 nor a set.

Forecast: each step multiplies the errors that J⁰ can reach by between the smallest and the largest |1 − μλ|, λ > 0 an eigenvalue of J⁰J⁰ᵀ.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from companion.theory.one_layer import bends, tangent
from companion.theory.one_layer.layer import ACTIVATIONS
from companion.theory.one_layer.prediction import Prediction
from companion.theory.one_layer.problem import Problem, checkpoints

#: Rounding of a singular value, over the largest.
ROUNDING = 1e-12
#: How much larger than needed the set is made, so that what is needed there is strictly inside.
ROOM = 1.01
ROUNDS = 40


@dataclass(frozen=True)
class Start:
    """What is known of the errors and of the Jacobian at the start."""

    E: Float[Tensor, " nk"]
    values: Float[Tensor, " nk"]  # eigenvalues of J Jᵀ
    vectors: Float[Tensor, "nk nk"]
    mu: float  # 2η/n, the step on ½‖E‖²

    @property
    def e(self) -> float:
        """‖E‖."""
        return float(self.E.norm())

    @property
    def positive(self) -> Bool[Tensor, " nk"]:
        """Which eigenvalues are not 0."""
        return self.values > ROUNDING * self.values[-1]


@dataclass(frozen=True)
class Certificate:
    """A set that the run does not leave, and what holds there."""

    s: float  # s₀
    ell: float  # ℓ
    c: float  # c'
    M: float
    nu: float


def predict(problem: Problem) -> list[Prediction]:
    """An interval from the smallest and the largest eigenvalue of the tangent kernel: proved, where a set can be closed, and that of the start."""
    if problem.switches.loss != "squared" or problem.switches.rule != "plain":
        return []
    start = _start(problem)
    if not bool(start.values[-1] > 0) or start.e == 0 or start.mu * float(start.values[-1]) >= 2:
        return []
    steps = checkpoints(problem.steps)
    said = [_said(problem, "forecast", steps, *_frozen(start, steps), ("rt-lemma-h", "rt-theorem-e"))]
    if linear(problem):
        left = _linear(start, steps)
        said.append(_said(problem, "theorem", steps, left, left, ("rt-lemma-h",)))
    else:
        known = {"rt-theorem-e": by_kernel(problem, start), "rt-theorem-d": by_layer(problem, start)}
        found = {name: _between(start, one, problem.steps) for name, one in known.items() if one is not None}
        if found:
            low, high = (torch.stack(ends)[:, steps] for ends in zip(*found.values(), strict=True))
            said.append(_said(problem, "theorem", steps, low.amax(0), high.amin(0), ("rt-theorem-c", *found)))
    return said


def linear(problem: Problem) -> bool:
    """Whether outputs are linear in what is trained."""
    trained, activation = set(problem.switches.trained), problem.switches.activation
    return trained == {"C"} or (trained == {"U"} and activation == "identity")


def _said(
    problem: Problem, voice: str, steps: list[int], low: Tensor, high: Tensor, rests: tuple
) -> Prediction:
    """Norms of errors as a prediction of what is left of the trivial loss; rounding of a norm apart."""
    share = lambda e: e.square() / problem.y.square().sum()
    return Prediction("residual", voice, "loss", tuple(steps), share(low), share(high), rests)


def _start(problem: Problem) -> Start:
    """Errors and tangent kernel at the start."""
    E = (problem.outputs(problem.start) - problem.y).flatten()
    values, vectors = torch.linalg.eigh(tangent.gram(problem))
    return Start(E, values.clamp(min=0), vectors, 2 * problem.eta / len(problem.y))


def _frozen(start: Start, steps: list[int]) -> tuple[Float[Tensor, " s"], Float[Tensor, " s"]]:
    """Between which norms errors are, if the kernel stands still: the unreachable ones, and the others by the fastest and the slowest factor."""
    parts, t = (start.vectors.T @ start.E).square(), torch.tensor(steps)
    stay, go = parts[~start.positive].sum(), parts[start.positive].sum()
    factors = (1 - start.mu * start.values[start.positive]).abs()
    return tuple((stay + go * factor ** (2 * t)).sqrt() for factor in (factors.min(), factors.max()))


def _linear(start: Start, steps: list[int]) -> Float[Tensor, " s"]:
    """‖(I − μJJᵀ)^t E‖."""
    factors = (1 - start.mu * start.values) ** torch.tensor(steps)[:, None]
    return torch.linalg.vector_norm(factors * (start.vectors.T @ start.E), dim=-1)


def by_kernel(problem: Problem, start: Start) -> Certificate | None:
    """Theorem E: s₀ = σ_min(J⁰), which falls by at most M a unit of length."""
    top = float(start.values[-1]) ** 0.5
    # σ_min is the root of an eigenvalue that is wrong by the rounding of the largest
    s = math.sqrt(max(float(start.values[0]) - ROUNDING * top**2, 0.0))
    return _closed(problem, start, s, lambda bounds, c, delay: (c * bounds.M, c))


def by_layer(problem: Problem, start: Start) -> Certificate | None:
    """Theorem D: s₀ = σ_min of the hidden layer, where C is trained."""
    n = len(problem.y)
    if "C" not in problem.switches.trained or n > problem.m:
        return None
    z = bends.still(problem).z
    values = torch.linalg.svdvals(
        problem.switches.alpha * problem.m**-0.5 * ACTIVATIONS[problem.switches.activation](z)
    )
    s = float(values[-1] - ROUNDING * values[0])
    return _closed(problem, start, s, lambda bounds, c, delay: (bounds.ell, c / delay))


def _closed(
    problem: Problem,
    start: Start,
    s: float,
    slope: Callable[[bends.Bounds, float, float], tuple[float, float]],
) -> Certificate | None:
    """About the smallest set on which the argument closes, or nothing; ``slope`` gives ℓ and c' from c and 1 − μMe₀/(2 − ν)."""
    if s <= 0:
        return None
    at, trained, h = bends.still(problem), problem.switches.trained, len(problem.start["W"])
    e, mu, J = start.e, start.mu, float(start.values[-1]) ** 0.5
    nothing = lambda size: torch.zeros(size, dtype=problem.y.dtype)
    sizes = {"C": problem.m, "U": problem.m, "W": h}
    moved = bends.Moved(*(nothing(size) for size in sizes.values()), 0.0)
    for _ in range(ROUNDS):
        if float((at.across * at.q * moved.W).max()) > 50:  # e^50 times the covariance: there is no hope
            return None
        bounds = bends.bounds(problem, at, moved)
        nu, eps = mu * (J + bounds.M * moved.all) ** 2, mu * s * s
        if not nu + eps + mu * bounds.M * e < 2:
            return None
        c = 1.0 if nu <= 1 else max(1.0, (nu * (2 - nu - eps)) ** -0.5)
        ell, c = slope(bounds, c, 1 - mu * bounds.M * e / (2 - nu))
        least = s * s - 2 * ell * c * e
        if not least > 0:
            return None
        path = 2 * c * e / (s + math.sqrt(least))
        spent = 2 * ell * c
        sums = (e / s**2 if spent == 0 else math.log(s * s / least) / spent) / (1 - mu * bounds.M * e / 2)
        need = {name: (getattr(bounds, name) * sums).clamp(max=path) * (name in trained) for name in sizes}
        if path < moved.all and all(
            bool(((need[k] < getattr(moved, k)) | (need[k] == 0)).all()) for k in sizes
        ):
            return Certificate(s, ell, c, bounds.M, nu)
        moved = bends.Moved(*(ROOM * need[name] for name in sizes), ROOM * path)
    return None


def _between(start: Start, known: Certificate, steps: int) -> tuple[Float[Tensor, " t"], Float[Tensor, " t"]]:
    """Bounds on the norm of the errors after 0, …, steps steps."""
    mu, e, bend = start.mu, start.e, 0.5 * start.mu * known.M
    floor = known.s**2 - 2 * known.ell * known.c * e
    fall = lambda x: max((1 - known.nu) * x - bend * known.nu * x * x, 0.0)
    low, high = [e], [e]
    for _ in range(steps):
        x, y = high[-1], low[-1]
        # e' as a function of e does not fall where μs₀² ≤ ½; else s is that at the end of the path
        s2 = floor + 2 * known.ell * known.c * (x if mu * known.s**2 <= 0.5 else 0.0)
        high.append((1 - mu * s2 * (1 - bend * x)) * x)
        low.append(min(fall(x), fall(y)))  # concave, so that its least value is at an end
    # sums of as many roundings as steps, each of the start's errors
    apart = steps * torch.finfo(start.E.dtype).eps
    return torch.tensor(low, dtype=start.E.dtype) * (1 - apart), torch.tensor(high, dtype=start.E.dtype) * (
        1 + apart
    )
