"""A run against one written here, and what the theorems' rows say of themselves."""

import itertools
import math

import pytest
import torch

from companion.experiments.residual import admissible_runs, admissible_starts
from companion.experiments.residual.admissible_starts import SIZES, Config
from companion.theory.residual import certificates, tangent
from shallowformer.residual import model
from shallowformer.residual.parameters import Parameters

CPU = torch.device("cpu")


def short(proof, seed=3, worst=True, **more):
    tau = 0.0 if proof == "kinks" else 0.3
    return Config(proof, seed, worst, tau=tau, watched=4, decades=9.0, most=5, **more)


def test_a_row_is_a_run_by_automatic_differentiation():
    config = short("kernel", worst=False)
    X, Y, theta, setting, begun = admissible_starts.begun(config)
    found = admissible_runs.compute(config, CPU)
    W = [part.clone().requires_grad_() for part in theta]
    errors, path = [], 0.0
    for _ in range(6):
        loss = model.loss(X, Y, Parameters(*W), setting)
        errors.append(math.sqrt(2 * float(loss.detach())))
        slopes = torch.autograd.grad(loss, W)
        if len(errors) < 6:
            path += begun.mu * math.sqrt(sum(float(slope.square().sum()) for slope in slopes))
            W = [(a - begun.mu * b).detach().requires_grad_() for a, b in zip(W, slopes, strict=True)]
    assert found["steps"] == 5
    assert found["shrunk"] == pytest.approx(errors[-1] / errors[0])
    assert found["path"] == pytest.approx(path / begun.length)
    known = certificates.by_kernel(X, theta, setting, 0.5)
    e = 0.999 * known.error
    assert errors[0] == pytest.approx(e)
    promised = [-math.log(known.factor(e, value)) for value in errors[:5]]
    measured = [2 * math.log(a / b) for a, b in itertools.pairwise(errors)]
    assert found["exponent"] == pytest.approx(max(p / m for p, m in zip(promised, measured, strict=True)))
    last = [(a - b).detach() for a, b in zip(W, theta, strict=True)]
    far = math.sqrt(sum(float(part.square().sum()) for part in last)) + known.distance(e, errors[-1])
    assert found["distance"] == pytest.approx(far / known.distance(e, e))


@pytest.mark.parametrize("proof", SIZES)
@pytest.mark.parametrize("worst", [True, False])
def test_nothing_is_above_its_bound(proof, worst):
    found = admissible_runs.compute(short(proof, worst=worst), CPU)
    for name in ("fall", "least", "step_norm", "path", "moved", "exponent", "average"):
        assert 0 <= found[name] <= 1, name
    assert found["shrunk"] < 1
    assert found["admitted"] > 0


@pytest.mark.parametrize("proof", ["layers", "kernel", "unembedding", "both"])
def test_the_worst_errors_are_what_the_proof_cannot_remove_faster(proof):
    config = short(proof)
    X, theta, setting, generator = admissible_starts.instance(config)
    E = admissible_starts.direction(config, X, theta, setting, generator)
    assert float(E.norm()) == pytest.approx(1)
    J = tangent.jacobian(X, theta, setting)
    sizes = [W.numel() for W in theta]
    parts = dict(zip(Parameters._fields, J.split(sizes, 1), strict=True))
    e = E.flatten()
    value = admissible_starts.begun(config)[-1].value(theta)
    c = float(torch.linalg.svdvals(theta.W_U)[-1])
    removed = {
        "layers": lambda: (parts["W_2"].T @ e).norm(),
        "kernel": lambda: (J.T @ e).norm(),
        "unembedding": lambda: (parts["W_U"].T @ e).norm(),
        # The part of W_2 counts with c = σ_U/2 for σ_U.
        "both": lambda: ((parts["W_2"].T @ e).square().sum() / 4 + (parts["W_U"].T @ e).square().sum()).sqrt(),
    }[proof]()  # fmt: skip
    assert c > 0
    assert float(removed) == pytest.approx(value)


def test_relu_is_planned_for_kinks_and_theorem_a_stops_early():
    plan = admissible_runs.plan("paper")
    assert {config.tau for config in plan if config.proof == "kinks"} == {0.0}
    assert {config.tau for config in plan if config.proof != "kinks"} == {0.3}
    assert {config.decades for config in plan if config.proof == "blocks"} == {2.0}
    assert {config.seed for config in plan} == set(range(10))
