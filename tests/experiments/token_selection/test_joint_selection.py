"""Figure 3: every rule is what it is called, and a row says what the run did."""

import math

import pytest
import torch

from companion.experiments.token_selection import joint_selection
from shallowformer.token_selection import datasets, gradients

CPU = torch.device("cpu")


def multipliers(rule, eta, t, loss, u, W):
    both = math.hypot(u, W)
    return {
        "schedule": (eta * (t + 1) ** (-2 / 3) / u, eta / (t + 1) / W if W else 0.0),
        "ngd": (eta / u, eta / W if W else 0.0),
        "ngd-joint": (eta / both, eta / both),
        "gd": (eta, eta),
        "polyak": (min(0.5 * loss / both**2, 1e4),) * 2,
    }[rule]


@pytest.mark.parametrize("rule", list(joint_selection.RULES))
def test_a_row_is_descent_on_the_model(rule):
    config = joint_selection.Config(rule, 3, joint_selection.ETA[rule], 20, n=2, d=12)
    found = joint_selection.compute(config, CPU)
    data = datasets.dm(2, 12, 3.0, 0.1, torch.Generator().manual_seed(3))
    u, W = torch.zeros(12, dtype=torch.float64), torch.zeros(12, 12, dtype=torch.float64)
    logs = []
    for t in range(21):
        loss, of_W, of_u = gradients.loss_and_gradients(data.X, data.y, W, u, data.queries)
        logs.append(math.log(float(loss)))
        norm_u, norm_W = float(u.norm()), float(W.norm())
        m_u, m_W = multipliers(rule, config.eta, t, float(loss), float(of_u.norm()), float(of_W.norm()))
        u, W = u - m_u * of_u, W - m_W * of_W
    assert found["at"][0] == 0
    assert found["at"][-1] == 20
    assert found["log_loss"] == pytest.approx([logs[t] for t in found["at"]], abs=1e-9)
    assert found["norm_u"][-1] == pytest.approx(norm_u, rel=1e-8)
    assert found["norm_W"][-1] == pytest.approx(norm_W, rel=1e-8)
    assert ("raised" in found) == (rule == "schedule")


def test_what_both_halves_do_adds_up():
    config = joint_selection.Config("schedule", 1, 0.05, 20, n=3, d=40)
    found = joint_selection.compute(config, CPU)
    assert found["raised"] < 0
    assert found["gained"] < 0 < found["spent"]


def test_the_plan_is_ten_seeds_of_five_rules():
    plan = joint_selection.plan("paper")
    assert len(plan) == 50
    assert {config.steps for config in plan if config.rule == "schedule"} == {100_000}
