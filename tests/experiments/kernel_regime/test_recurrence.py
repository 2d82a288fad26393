"""Figure 2 and the price of memory: what a run sees, the tangent model's run against plain descent, and what answers cost."""

import dataclasses
import math

import pytest
import torch

from companion.experiments.kernel_regime import memory_at_start, price_of_memory, recurrence
from companion.theory.kernel_regime import streaming
from shallowformer import data
from shallowformer.kernel_regime.model import parameters, transformer
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.recurrent import network

CPU = torch.device("cpu")
SMALL = recurrence.Config("transformer", 2, 5, 0.0, 3, n=24, m=4, steps=6, eta=0.05, dtype="float64")


def seen(config):
    generator = torch.Generator().manual_seed(config.seed)
    return recurrence.windows(config, generator), generator


def attention(X, c, U, W):
    alpha = torch.softmax(torch.einsum("ntd,mde,ne->nmt", X, W, X[:, -1]), -1)
    return torch.tanh(((alpha @ X) * U).sum(-1)) @ c / len(c) ** 0.5


def recurrent(X, c, U, w):
    h = torch.zeros(len(X), len(c), dtype=X.dtype)
    for t in range(X.shape[1]):
        h = torch.tanh(X[:, t] @ U.T + w * h)
    return h @ c / len(c) ** 0.5


@pytest.mark.parametrize("model", ["transformer", "indrnn"])
@pytest.mark.parametrize("tokens", ["raw", "unit"])
def test_a_run_is_plain_descent_on_the_tokens_as_they_are(model, tokens):
    config = dataclasses.replace(SMALL, model=model, tokens=tokens, gamma=0.7 * (model == "indrnn"))
    found = recurrence.compute(config, CPU)
    given, generator = seen(config)
    d = given.X.shape[2]
    start = (
        parameters.symmetric(4, d, generator).blocks
        if model == "transformer"
        else network.symmetric(4, d, 0.7, generator).blocks
    )
    f = attention if model == "transformer" else recurrent
    R = given.radius if tokens == "raw" else 1.0
    blocks = [block.clone().requires_grad_() for block in start]
    train, validation, jacobians = [], [], []
    for _ in range(config.steps + 1):
        losses = [
            (f(R * X, *blocks) - y).square().mean()
            for X, y in ((given.X, given.y), (given.X_later, given.y_later))
        ]
        train.append(float(losses[0].detach()))
        validation.append(float(losses[1].detach()))
        jacobians.append(float(torch.autograd.grad(f(R * given.X, *blocks).mean(), blocks[2])[0].norm()))
        steps = torch.autograd.grad(losses[0], blocks)
        blocks = [
            (block - config.eta * step).detach().requires_grad_()
            for block, step in zip(blocks, steps, strict=True)
        ]
    assert found["train"] == pytest.approx(min(train))
    assert found["validation"] == pytest.approx(min(validation))
    assert found["end"] == pytest.approx(validation[-1])
    assert found["norm_of_mean"] == pytest.approx(max(jacobians))


def test_the_blocked_split_shares_no_value():
    given, _ = seen(SMALL)
    values = [
        set((given.radius * X[..., 0]).flatten().tolist()) | set(y.tolist())
        for X, y in ((given.X, given.y), (given.X_later, given.y_later))
    ]
    shared = {round(value, 9) for value in values[0]} & {round(value, 9) for value in values[1]}
    assert not shared
    assert (len(given.X), len(given.X_later)) == (24, 6)


def test_the_random_split_is_of_all_windows():
    given, _ = seen(dataclasses.replace(SMALL, split="random", targets="standardised"))
    assert (len(given.X), len(given.X_later)) == (20, 4)
    assert float(given.y.mean()) == pytest.approx(0, abs=1e-12)
    assert float(given.y.std()) == pytest.approx(1)


def test_tokens_lie_in_the_unit_ball():
    given, _ = seen(SMALL)
    assert all(0.9 < float(X.norm(dim=-1).max()) <= 1 for X in (given.X, given.X_later))


@pytest.mark.parametrize(
    ("model", "lag", "split", "largest_norm", "loose"),
    [
        ("indrnn", 4, "blocked", 7.4, False),
        ("indrnn", 16, "blocked", 7.6, True),
        ("indrnn", 16, "random", 7.4, True),  # fewer windows are trained on
        ("transformer", 96, "blocked", 1e3, False),
    ],
)
def test_norms_are_compared_where_rounding_is_not_amplified(model, lag, split, largest_norm, loose):
    config = recurrence.Config(model, lag, 0, split=split)
    allowed = recurrence.EXPERIMENT.tolerance(config, {"largest_norm": largest_norm})
    assert math.isinf(allowed["largest_norm"]) == loose
    assert max(allowed["train"], allowed["validation"]) <= 0.1
    assert allowed.keys() == recurrence.CLOSE.keys()


def test_a_run_that_diverges_says_when():
    found = recurrence.compute(
        dataclasses.replace(SMALL, model="indrnn", gamma=1.0, eta=1e200, steps=20), CPU
    )
    assert 0 <= found["diverged_at"] <= 20


def test_another_order_of_windows_changes_only_what_rounding_does():
    first = dataclasses.asdict(dataclasses.replace(SMALL, model="indrnn", gamma=0.7))
    plain, same, other = (
        recurrence.compute(recurrence.Config(**first), CPU),
        *(recurrence.reordered(recurrence.Ordered(**first, order=order), CPU) for order in (0, 1)),
    )
    assert same == plain
    assert other != plain
    for name, value in plain.items():
        assert other[name] == pytest.approx(value, rel=1e-9), name


TANGENT = recurrence.Config("transformer", 2, 5, 0.0, 3, n=50, m=4, steps=40, eta=0.05, dtype="float64")


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
    config = dataclasses.replace(TANGENT, model=model, tokens=tokens, gamma=0.7 * (model == "indrnn"))
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
        memory_at_start.compute(dataclasses.replace(TANGENT, targets=targets), CPU)
        for targets in ("raw", "standardised")
    )
    assert divided["rests"] == raw["rests"]
    assert divided["trivial"] == pytest.approx(raw["trivial"], rel=1e-6)


def test_where_attention_rests():
    config = TANGENT
    X, _, X_later, _, (_, _, W) = start(config)
    numbers = []
    for tokens in torch.cat([X, X_later]):
        for head in W:
            weights = [math.exp(float(token @ head @ tokens[-1])) for token in tokens]
            numbers.append(sum(weights) ** 2 / sum(weight**2 for weight in weights))
    found = memory_at_start.compute(config, CPU)["rests"]
    assert found == pytest.approx(sum(numbers) / len(numbers), rel=1e-9)


def test_how_fast_the_recurrence_forgets():
    config = dataclasses.replace(TANGENT, model="indrnn", gamma=0.7)
    X, _, X_later, _, (_, U, w) = start(config)
    logs = []
    for tokens in torch.cat([X, X_later]):
        for vector, weight in zip(U, w, strict=True):
            h = 0.0
            for token in tokens:
                h = math.tanh(float(vector @ token) + float(weight) * h)
                logs.append(math.log(abs(float(weight)) * (1 - h**2)))
    assert memory_at_start.compute(config, CPU)["rests"] == pytest.approx(sum(logs) / len(logs), rel=1e-8)


SOURCE = torch.Generator().manual_seed(0)
X = data.clipped_gaussian(4, 7, 3, SOURCE)
HEADS, UNITS = parameters.random(6, 3, SOURCE), network.symmetric(6, 3, 0.9, SOURCE)


def test_an_answer_from_the_tokens():
    torch.testing.assert_close(price_of_memory.from_the_tokens(X, HEADS), transformer.f(X, HEADS))


def test_an_answer_from_the_stream():
    q = X[0, 0]
    lam = HEADS.W @ q
    stream = streaming.begin(len(X), lam, 1)
    for token in X.unbind(1):
        stream, found = price_of_memory.from_the_stream(stream, token, lam, HEADS)
    torch.testing.assert_close(found, transformer.f(X, HEADS, lambda X: q.expand(len(X), -1)))


def test_an_answer_from_the_state():
    h = X.new_zeros(len(X), UNITS.m)
    for token in X.unbind(1):
        h, found = price_of_memory.from_the_state(h, token, UNITS)
    torch.testing.assert_close(found, network.f(X, UNITS))


def test_bytes_grow_as_counted():
    kept = [
        price_of_memory.compute(price_of_memory.Config(T, n=10, m=8, d=5, repeats=1), torch.device("cpu"))
        for T in (4, 8)
    ]
    for name in ("attention_bytes", "recurrence_bytes"):
        assert (kept[1][name] - kept[0][name]) / 4 == 4 * 10 * (5 + 8)
