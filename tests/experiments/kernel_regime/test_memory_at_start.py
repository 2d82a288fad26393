"""The tangent model's run against plain descent on it, and what is said of the start against loops."""

import dataclasses
import math

import pytest
import torch

from companion.experiments.kernel_regime import memory_at_start, recurrence
from shallowformer.kernel_regime.model.students import Students

CPU = torch.device("cpu")
SMALL = recurrence.Config("transformer", 2, 5, 0.0, 3, n=50, m=4, steps=40, eta=0.05, dtype="float64")


def start(config):
    """Windows of the tangent model, labels, and parameters for tokens as they are."""
    seen, subject = memory_at_start.begun(config, CPU)
    R = seen.radius if config.tokens == "raw" else 1.0
    if config.model == "transformer":
        phi = Students(*subject.start, (config.m,)).apart()[0]
        blocks = phi.c, phi.U / R, phi.W / R**2
    else:
        blocks = subject.start[0], subject.start[1] / R, subject.start[2]
    each = slice(None, None, memory_at_start.SPACING)
    return R * seen.X[each], seen.y[each], R * seen.X_later[each], seen.y_later[each], blocks


def attention(X, c, U, W):
    alpha = torch.softmax(torch.einsum("ntd,mde,ne->nmt", X, W, X[:, -1]), -1)
    return torch.tanh(((alpha @ X) * U).sum(-1)) @ c / len(c) ** 0.5


def recurrent(X, c, U, w):
    h = torch.zeros(len(X), len(c), dtype=X.dtype)
    for t in range(X.shape[1]):
        h = torch.tanh(X[:, t] @ U.T + w * h)
    return h @ c / len(c) ** 0.5


def of_each(f, Z, blocks):
    jacobian = torch.autograd.functional.jacobian(lambda *parts: f(Z, *parts), blocks)
    return torch.cat([part.flatten(1) for part in jacobian], 1)


@pytest.mark.parametrize("planned", [c for c in memory_at_start.plan("paper") if (c.lag, c.seed) == (4, 1)])
def test_the_start_is_that_of_the_run(planned, monkeypatch):
    started = []

    def no_run(objective, start, **_):
        started.append(start)
        raise recurrence.descent.Diverged("not run")

    monkeypatch.setattr(recurrence.descent, "run", no_run)
    run = dataclasses.replace(planned, dtype="float32", n=50)
    assert dataclasses.replace(run, n=planned.n) in recurrence.plan("paper")
    with pytest.raises(ValueError):  # nothing was looked at
        recurrence.compute(run, CPU)
    _, subject = memory_at_start.begun(dataclasses.replace(planned, n=50), CPU)
    for found, block in zip(subject.start, started[0], strict=True):
        assert found.dtype == torch.float64
        torch.testing.assert_close(found, block.double(), rtol=1e-6, atol=1e-6)


def test_a_saturated_slope_has_a_logarithm():
    z = torch.tensor([0.0, -1.0, 5.0, -30.0, 400.0], dtype=torch.float64)
    exact = [-2 * math.log(math.cosh(x)) for x in z.tolist()]
    assert memory_at_start.log_slope(z).tolist() == pytest.approx(exact, abs=1e-12)
    torch.testing.assert_close(memory_at_start.log_slope(z)[:3], (1 - torch.tanh(z[:3]) ** 2).log())


@pytest.mark.parametrize("model", ["transformer", "indrnn"])
@pytest.mark.parametrize("tokens", ["raw", "unit"])
def test_the_tangent_model_is_trained_as_by_plain_descent(model, tokens):
    config = dataclasses.replace(SMALL, model=model, tokens=tokens, gamma=0.7 * (model == "indrnn"))
    found = memory_at_start.compute(config, CPU)
    X, y, X_later, y_later, blocks = start(config)
    f = attention if model == "transformer" else recurrent
    J, J_later = (of_each(f, Z, blocks) for Z in (X, X_later))
    delta, train, later = torch.zeros(J.shape[1], dtype=J.dtype), [], []
    for step in range(config.steps + 1):
        if step % 2 == 0:
            train.append(float((J @ delta - y).square().mean()))
            later.append(float((J_later @ delta - y_later).square().mean()))
        delta = delta - config.eta * 2 / len(y) * J.T @ (J @ delta - y)
    assert found["train"] == pytest.approx(min(train), rel=1e-9)
    assert found["validation"] == pytest.approx(min(later), rel=1e-9)


def test_losses_are_those_of_forecasts_of_the_series_whatever_labels_are_divided_by():
    raw, divided = (
        memory_at_start.compute(dataclasses.replace(SMALL, targets=targets), CPU)
        for targets in ("raw", "standardised")
    )
    assert divided["rests"] == raw["rests"]
    assert divided["trivial"] == pytest.approx(raw["trivial"], rel=1e-6)


def test_where_attention_rests():
    config = SMALL
    X, _, X_later, _, (_, _, W) = start(config)
    numbers = []
    for tokens in torch.cat([X, X_later]):
        for head in W:
            weights = [math.exp(float(token @ head @ tokens[-1])) for token in tokens]
            numbers.append(sum(weights) ** 2 / sum(weight**2 for weight in weights))
    found = memory_at_start.compute(config, CPU)["rests"]
    assert found == pytest.approx(sum(numbers) / len(numbers), rel=1e-9)


def test_how_fast_the_recurrence_forgets():
    config = dataclasses.replace(SMALL, model="indrnn", gamma=0.7)
    X, _, X_later, _, (_, U, w) = start(config)
    logs = []
    for tokens in torch.cat([X, X_later]):
        for vector, weight in zip(U, w, strict=True):
            h = 0.0
            for token in tokens:
                h = math.tanh(float(vector @ token) + float(weight) * h)
                logs.append(math.log(abs(float(weight)) * (1 - h**2)))
    assert memory_at_start.compute(config, CPU)["rests"] == pytest.approx(sum(logs) / len(logs), rel=1e-8)
