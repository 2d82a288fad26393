"""What the kernel regime says: the run of the tangent model, with Theorem F's band where its hypotheses hold, else with its first neglected term.

The tangent model F(φ⁽⁰⁾) + J(φ − φ⁽⁰⁾) is trained in the space of outputs, F ← F − ηG∇ℓ, with the kernel G = JJᵀ of the start. What it neglects first is
that the kernel moves. The forecast takes the kernels of the layer at the points that the tangent's own run visits, runs in the space of outputs
once more with these, and allows ``BAND`` times the difference of the two runs: once for what was neglected, once for what that neglects.
Outputs multiplied by α with labels y are outputs with labels y/α, and the step η on the first is the step α²η on the second (Proposition K of
part two, with k copies, α = √k).
"""

import torch

from companion.theory.one_layer import tangent
from companion.theory.one_layer.prediction import Prediction
from companion.theory.one_layer.problem import Problem, checkpoints
from shallowformer.kernel_regime.linear_run import theorem_f
from shallowformer.kernel_regime.model.parameters import Parameters

#: How many times its first neglected term a forecast allows the tangent model.
BAND = 2.0


def predict(problem: Problem) -> list[Prediction]:
    """Both voices; nothing of preconditioned steps, which the tangent in the layer's own blocks does not make."""
    return theorem(problem) + forecast(problem)


def theorem(problem: Problem) -> list[Prediction]:
    """Theorem F's band: own heads, tanh, all trained, squared loss, plain steps, a symmetric start with readouts ±1, tokens in the unit ball."""
    switches, C = problem.switches, problem.start["C"]
    home = (switches.heads, switches.activation, switches.skip, switches.loss, switches.rule)
    if (
        home != ("own", "tanh", 0.0, "squared", "plain")
        or set(switches.trained) != set("CUW")
        or C.shape[1] > 1
    ):
        return []
    y, at = problem.y[:, 0] / switches.alpha, checkpoints(problem.steps)
    phi0 = Parameters(C[:, 0], problem.start["U"], problem.start["W"])
    try:
        certified = theorem_f.certify(
            problem.X,
            y,
            phi0,
            switches.alpha**2 * problem.eta,
            problem.steps,
            every=8,
            query=lambda _: problem.q,
        )
    except ValueError:
        # A token outside the unit ball, a start that is not symmetric, a step that is too long.
        return []
    trivial = y.square().mean()
    low, high = certified.lower[at] / trivial, certified.upper[at] / trivial
    return [Prediction("kernel", "theorem", "loss", tuple(at), low, high, ("kr-theorem-f",))]


def forecast(problem: Problem) -> list[Prediction]:
    """The tangent model's run, and ``BAND`` times how far a kernel that moves along it would lead away."""
    if problem.switches.rule == "preconditioned":
        return []
    at, J = checkpoints(problem.steps), tangent.jacobian(problem)
    F0 = problem.outputs(problem.start)
    G = (J @ J.T).expand(len(at), -1, -1)
    F, w = tangent.output_run(problem, G, F0, at)
    drifting = [tangent.jacobian(problem, tangent.moved(problem, J.T @ each)) for each in w]
    other = tangent.output_run(problem, torch.stack([K @ K.T for K in drifting]), F0, at)[0]
    band = BAND * (other - F).square().mean((1, 2), keepdim=True).sqrt()
    if problem.switches.loss == "squared":
        root, reach = (F - problem.y).square().mean((1, 2)).sqrt(), band[:, 0, 0]
        ends = (root - reach).clamp(min=0).square(), (root + reach).square()
        low, high = (end / problem.y.square().mean() for end in ends)
    else:
        low, high = problem.loss(F + band * problem.y), problem.loss(F - band * problem.y)
    low, high = low.nan_to_num(0.0), high.nan_to_num(torch.inf, torch.inf)
    return [Prediction("kernel", "forecast", "loss", tuple(at), low, high, ("kr-theorem-f-identity",))]
