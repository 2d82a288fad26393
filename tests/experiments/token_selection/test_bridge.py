"""The bridge: steps of the exponential loss, what is measured, and where a level is crossed."""

import dataclasses
import itertools
import math

import pytest
import torch

from companion.experiments.token_selection import bridge, bridge_measures
from shallowformer.experiments.experiment import planned, stored
from shallowformer.kernel_regime.model import linear_model, transformer
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.students import Students
from shallowformer.token_selection import svm
from shallowformer.token_selection.instances import Instance

CPU = torch.device("cpu")
SQUARED, EXPONENTIAL = planned(bridge.EXPERIMENT, "smoke").values()


def test_fresh_draws_share_no_seed_with_those_that_were_looked_at():
    planned_seeds = {config.seed for config in bridge.plan("paper")}
    assert planned_seeds == {*bridge.SEEDS, *bridge.FRESH}
    assert not {*bridge.SEEDS} & {*bridge.FRESH}
    first = [config for config in bridge.plan("paper") if config.seed in bridge.SEEDS]
    assert len(first) == len(bridge.SEEDS) * len(bridge.LOSSES) * len(bridge.SCALES)
    fresh = {(config.loss, config.scale) for config in bridge.plan("paper") if config.seed in bridge.FRESH}
    assert fresh == {*bridge.DECISIVE}
    assert {config.seed for config in bridge.plan("laptop")} == {0, 1}


def test_tokens_lie_in_the_unit_ball_and_the_last_one_asks():
    instance = bridge.data(EXPONENTIAL)
    assert 0.999 < float(instance.X.norm(dim=-1).max()) <= 1
    assert torch.equal(instance.queries, instance.X[:, -1])
    side = (instance.best @ instance.u) * instance.y
    assert bool((side > 0).all())


def test_a_start_is_that_of_part_one_scaled():
    one, small = (bridge.start(dataclasses.replace(SQUARED, scale=s), 4) for s in (1.0, 0.25))
    assert torch.equal(small.c, one.c)
    assert torch.allclose(small.U, one.U / 4)
    assert torch.allclose(small.W, one.W / 4)
    assert torch.equal(one.W[:2], one.W[2:])


def test_a_step_on_the_exponential_loss_is_the_normalised_gradient_of_its_logarithm():
    instance = bridge.data(EXPONENTIAL)
    students = [bridge.start(EXPONENTIAL, m) for m in (2, 4)]
    students = [
        phi.map(lambda block: block + 0.3 * torch.arange(block.numel()).reshape(block.shape).cos())
        for phi in students
    ]
    objective = bridge.Exponential(instance.X, instance.y, (2, 4))
    losses, gradient = objective.losses_and_gradient(Students.of(*students).blocks)
    for k, phi in enumerate(students):
        leaf = phi.map(lambda block: block.clone().requires_grad_())
        L = torch.exp(-instance.y * transformer.f(instance.X, leaf)).mean()
        slopes = torch.autograd.grad(L.log(), leaf.blocks)
        norm = torch.sqrt(sum(slope.square().sum() for slope in slopes))
        found = Students(*gradient, (2, 4)).apart()[k]
        assert float(losses[k]) == pytest.approx(float(L.log().detach()), rel=1e-12)
        assert float(objective.losses(Students.of(*students).blocks)[k]) == pytest.approx(float(losses[k]))
        for block, slope in zip(found.blocks, slopes, strict=True):
            assert torch.allclose(block, phi.m**0.5 * slope / norm, rtol=1e-10, atol=1e-12)


def test_steps_grow_with_the_way():
    assert bridge.path(50, 0.02) == pytest.approx(1.0)
    for step in (bridge.TURN, 700):
        way = bridge.path(step, 0.02)
        assert bridge.path(step + 1, 0.02) - way == pytest.approx(way / bridge.TURN)


def test_steps_half_as_long_go_the_same_way():
    for half, whole in zip(bridge.halved("paper"), bridge.SCALES, strict=False):
        assert (half.scale, half.seed, half.widths) == (whole, 0, bridge.WIDTHS)
        for step in (1, bridge.TURN):
            assert bridge.path(2 * step, half.eta, half.turn) == bridge.path(step, 2 * half.eta)
        there = bridge.path(bridge.LOSSES["exponential"][1], 2 * half.eta)
        assert there < bridge.path(half.steps, half.eta, half.turn) < 1.05 * there
    fine = bridge.compute(bridge.halved("smoke")[0], CPU)
    coarse = bridge.compute(EXPONENTIAL, CPU)
    assert fine["reached"][0][-1] == pytest.approx(coarse["reached"][0][-1], rel=0.02)


@pytest.mark.parametrize("config", [SQUARED, EXPONENTIAL], ids=["squared", "exponential"])
def test_looks_are_where_the_way_has_doubled(config):
    at = bridge.schedule(dataclasses.replace(config, steps=1000))
    assert at[:2] == [0, 1]
    assert at[-1] == 1000
    way = [step if config.loss == "squared" else bridge.path(step, 1.0) for step in at]
    assert all(1 < later / now < 2.01 for now, later in itertools.pairwise(way[1:]))  # a step is 0.5 %


def test_a_level_is_crossed_on_a_straight_line_of_logarithms():
    along = [0.0, 1.0, 2.0, 4.0, 8.0]
    values = [0.0, *(0.01 * x**2 for x in along[1:])]
    assert bridge_measures.crossing(values, along, 0.1) == pytest.approx(math.sqrt(10))
    assert bridge_measures.crossing(values, along, 0.005) == 1.0
    assert bridge_measures.crossing(values, along, 1.0) == math.inf


def test_a_gain_is_a_share_of_what_was_missing():
    assert bridge_measures.gains([0.2, 0.2, 0.6, 1.0]) == pytest.approx([0.0, 0.0, 0.5, 1.0])


def test_what_is_seen_of_a_student():
    instance = bridge.data(EXPONENTIAL)
    phi0 = bridge.start(EXPONENTIAL, 4)
    move = lambda block: block + 0.5 * torch.arange(block.numel()).reshape(block.shape).sin()
    phi = phi0.map(move)
    best = svm.w_svm(instance).W
    seen = bridge_measures.seen(instance, phi, phi0, best)
    f = transformer.f(instance.X, phi)
    gap = f - linear_model.f_lin(instance.X, phi, phi0)
    assert seen["apart"] == pytest.approx(float(gap.norm() / f.norm()))
    own = planted = entropy = 0.0
    for j, tokens in enumerate(instance.X):
        for i in range(4):
            alpha = torch.softmax(tokens @ phi.W[i] @ tokens[-1], 0)
            served = instance.y[j] * phi.c[i] * (tokens @ phi.U[i])
            own += float(alpha[served.argmax()])
            planted += float(alpha[tokens.norm(dim=1).argmax()]) * (
                tokens.norm(dim=1).argmax() == instance.optimal[j]
            )
            entropy -= float((alpha * alpha.log()).sum()) / math.log(instance.T)
    assert seen["own"] == pytest.approx(own / (4 * instance.n))
    assert seen["entropy"] == pytest.approx(entropy / (4 * instance.n))
    still = bridge_measures.seen(instance, phi0, phi0, best)
    assert (still["moved"], still["path"], still["apart"]) == (0, 0, 0)


def test_a_head_at_its_own_solution_is_aligned_with_it():
    instance = bridge.data(EXPONENTIAL)
    phi = bridge.start(EXPONENTIAL, 2)
    heads = [
        Instance(instance.X, instance.y, c * U, instance.query) for c, U in zip(phi.c, phi.U, strict=True)
    ]
    there = Parameters(phi.c, phi.U, torch.stack([3 * svm.w_svm(head).W for head in heads]))
    assert bridge_measures.own_alignment(instance, there) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("config", [SQUARED, EXPONENTIAL], ids=["squared", "exponential"])
def test_a_row_begins_at_the_start(config):
    row = bridge.compute(config, CPU)
    assert row["at"][0] == 0
    for k in range(2):
        assert row["reached"][k][0] == pytest.approx(1.0 if config.loss == "squared" else 0.0, abs=1e-12)
        assert row["path"][k][0] == row["apart"][k][0] == 0
        assert len(row["own"][k]) == len(row["at"])
        if config.loss == "exponential":
            assert all(
                now < later for now, later in zip(row["reached"][k], row["reached"][k][1:], strict=False)
            )
            assert row["path"][k][1] == pytest.approx(config.eta, rel=1e-5)


@pytest.mark.parametrize(
    "row", stored(bridge.EXPERIMENT), ids=lambda row: f"{row['loss']}-{row['scale']}-{row['seed']}"
)
def test_stored_shares_are_shares(row):
    for k, _ in enumerate(row["widths"]):
        assert all(0 <= value <= 1 + 1e-9 for name in ("entropy", "own", "planted") for value in row[name][k])
        assert all(abs(value) <= 1 for name in ("aligned", "aligned_own") for value in row[name][k])
