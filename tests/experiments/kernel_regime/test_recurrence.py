"""Figure 2: what a run sees, and that tokens outside the unit ball are run as if they were inside."""

import dataclasses
import math

import pytest
import torch

from companion.experiments.kernel_regime import recurrence
from shallowformer.kernel_regime.model import parameters
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
