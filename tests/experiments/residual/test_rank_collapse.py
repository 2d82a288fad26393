"""A run against one by automatic differentiation, and what is posed."""

import pytest
import torch

from checks import refused
from companion.experiments.residual import rank_collapse
from companion.experiments.residual.rank_collapse import Config
from shallowformer.residual import model
from shallowformer.residual.parameters import Parameters

CPU = torch.device("cpu")


def small(start, g, steps=100, **more):
    return Config(start, g, 1.0, 1, P=2, N=3, d=5, d_k=2, d_1=8, K=2, steps=steps, **more)


@pytest.mark.parametrize(("start", "g"), [("drawn", 1.0), ("1e-3", 0.0)])
def test_a_row_is_a_run(start, g):
    config = small(start, g)
    row = rank_collapse.compute(config, CPU)
    X, Y, theta, setting = rank_collapse.posed(config)
    W = [block.clone().requires_grad_() for block in theta]
    losses = []
    for _ in range(config.steps + 1):
        loss = model.loss(X, Y, Parameters(*W), setting)
        losses.append(float(loss.detach()))
        slopes = torch.autograd.grad(loss, W)
        W = [(w - row["mu"] * s).detach().requires_grad_() for w, s in zip(W, slopes, strict=True)]
    assert row["loss"] == pytest.approx([losses[step] for step in (0, 50, 100)], rel=1e-8)
    assert row["loss"][-1] < row["loss"][0]


def test_silent_attention_stays_silent_above_the_floor():
    row = rank_collapse.compute(small("silent", 0.0, steps=400), CPU)
    assert row["grown"] == 1.0
    assert all(loss >= row["floor"] * (1 - 1e-12) for loss in row["loss"])


def test_cases_of_a_seed_share_all_but_attention():
    X, Y, theta, _ = rank_collapse.posed(small("drawn", 0.0))
    other_X, other_Y, other, _ = rank_collapse.posed(small("no queries", 1.0))
    assert torch.equal(X, other_X)
    assert torch.equal(Y, other_Y)
    assert not other.W_Q.any()
    for block in (1, 2, 3, 4, 5):
        assert torch.equal(theta[block], other[block])


def test_plans_and_refusal():
    assert len(rank_collapse.plan("paper")) == 10 * len(rank_collapse.CASES)
    assert len(rank_collapse.plan("smoke")) == len(rank_collapse.CASES)
    refused("start", "'loud'", "one of drawn", rank_collapse.posed, small("loud", 0.0))
