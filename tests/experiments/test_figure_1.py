"""The three experiments of Figure 1: problems as stated, rows as the page reads them, and what is stored."""

import math

import pytest
import torch

from shallowformer.experiments import (
    approximation_error,
    certificates,
    linearisation_error,
    prices,
    problems,
    registry,
    training_loss,
)
from shallowformer.experiments.experiment import stored
from shallowformer.kernel_regime import data, mappings, parameters, tangent_kernel, transportation
from shallowformer.kernel_regime.labels import labelled

CPU = torch.device("cpu")
MODULES = (linearisation_error, approximation_error, training_loss)


@pytest.mark.parametrize("module", [*MODULES, prices])
def test_a_smoke_plan_can_be_computed_and_is_deterministic(module):
    for config in module.plan("smoke"):
        assert module.compute(config, CPU) == module.compute(config, CPU)
    assert registry.get(module.EXPERIMENT.name) is module.EXPERIMENT
    assert registry.EXPERIMENTS[module.EXPERIMENT.name].title == module.EXPERIMENT.title


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_a_plan_names_each_configuration_once(module, scale):
    plan = module.plan(scale)
    assert len(set(plan)) == len(plan) > 0
    assert [config.m for config in plan] == sorted(config.m for config in plan)


def test_the_paper_s_plan_is_of_the_paper_s_size_and_leaves_out_what_is_held():
    plan = training_loss.plan("paper")
    assert {(c.n, c.heads, c.steps) for c in plan} == {(5000, 8192, 4000)}
    held = {(c.m, c.seed) for c in certificates.plan("paper") if c.steps == training_loss.STEPS}
    assert held == training_loss.HELD
    assert not held & {(c.m, c.seed) for c in plan if c.variant == "paper"}


def test_the_paper_s_problem_is_that_of_the_certificates():
    config = certificates.Config(8, 3, n=30, teacher=300)
    loss, _ = certificates.problem(config)
    found = problems.problem("paper", 3, 30, 300)
    assert torch.equal(found.X, loss.X)
    assert torch.allclose(found.labels.mean, loss.y[:, 0], atol=1e-7)
    for mine, theirs in zip(problems.start(8, 3).blocks, certificates.start(config).blocks, strict=True):
        assert torch.equal(mine, theirs)


@pytest.mark.parametrize("variant", problems.FIGURE)
def test_fast_labels_are_those_of_represented(variant):
    X = data.clipped_gaussian(40, 5, 3, problems.source(0))
    teacher = mappings.teacher(X[:4], problems.THREES)
    fast, slow = (
        estimate(X, teacher, 600, torch.Generator().manual_seed(1), law=problems.FIGURE[variant].law)
        for estimate in (labelled, transportation.represented)
    )
    assert torch.allclose(fast.mean, slow.mean, atol=1e-7)
    assert torch.allclose(fast.variance, slow.variance, rtol=1e-4)
    assert torch.allclose(fast.standard_error, slow.standard_error, rtol=1e-4)


def test_released_labels_depend_on_the_diagonal_only():
    given = problems.problem("released", 1, 25, 64)
    assert given.trained == 20
    phi = parameters.diagonal(6, problems.D, problems.source(2))
    assert torch.equal(phi.W, torch.diag_embed(phi.W.diagonal(dim1=1, dim2=2)))
    full = parameters.random(6, problems.D, problems.source(2))
    assert torch.equal(phi.U, full.U)
    assert torch.equal(phi.c, full.c)
    # A plain loop over heads: logits Σ_k W_kk X_tk q_k.
    X, v = given.X[:3], given.teacher(phi)
    for i in range(6):
        weights = torch.softmax((X * (phi.W[i].diagonal() * X[:, -1])[:, None]).sum(-1), -1)
        a = (weights[..., None] * X).sum(1)
        spread = (weights * ((X - a[:, None]) @ phi.U[i]))[..., None] * (X - a[:, None])
        slope = 1 - torch.tanh(a @ phi.U[i]) ** 2
        g = torch.tanh(a @ phi.U[i]) * v.c[i] + slope * (
            a @ v.U[i] + ((spread.sum(1) @ v.W[i]) * X[:, -1]).sum(-1)
        )
        assert torch.allclose(g, transportation.g(X, phi, given.teacher)[:, i], atol=1e-12)


def test_variants_between_take_over_one_difference_at_a_time():
    given = {variant: problems.problem(variant, 1, 25, 64) for variant in problems.VARIANTS}
    assert all(torch.equal(problem.X, given["paper"].X) for problem in given.values())
    assert {variant for variant, problem in given.items() if problem.trained < 25} == {"released"}
    phi = parameters.diagonal(6, problems.D, problems.source(2))
    asked = {variant: problem.teacher(phi).W for variant, problem in given.items()}
    assert torch.equal(asked["diagonal"], asked["paper"])
    assert torch.equal(asked["mixed"], asked["released"])
    assert not torch.allclose(asked["mixed"], asked["paper"])
    # The same draws give the same labels: the released variant is "both", trained on a part.
    assert torch.equal(given["both"].labels.mean, given["released"].labels.mean)
    assert not torch.allclose(given["both"].labels.mean, given["mixed"].labels.mean)


def test_the_price_of_one_label_is_one_over_its_kernel():
    config = prices.Config(3, (1, 6), heads=64, teacher=64)
    X = problems.problem("paper", 3, 6, 64).X
    kernel = tangent_kernel.limit(X, 64, torch.Generator().manual_seed(5003)).total
    for name, lists in prices.compute(config, CPU).items():
        assert lists["price"][0] == pytest.approx(1 / float(kernel[0, 0]), rel=1e-9), name


def test_a_price_by_a_plain_route():
    """Two draws of the labels by ``represented``, and a least norm by linear equations."""
    config = prices.Config(1, (8,), heads=64, teacher=512)
    given, source = problems.problem("paper", 1, 8, 512), torch.Generator().manual_seed(5001)
    kernel = tangent_kernel.limit(given.X, 64, source).total
    again = transportation.represented(given.X, given.teacher, 512, source).mean
    price = 8 * given.labels.mean @ torch.linalg.solve(kernel, again) / (given.labels.mean @ again)
    assert prices.compute(config, CPU)["paper"]["price"] == [pytest.approx(float(price), rel=1e-4)]


def test_stored_prices_stay_below_their_ceiling():
    rows = stored(prices.EXPERIMENT)
    assert len(rows) == 10
    for row in rows:
        for name in prices.OWN:
            assert all(a < b for a, b in zip(row[name]["price"], row[name]["ceiling"], strict=True))


def test_a_variant_must_be_known():
    with pytest.raises(ValueError, match="variant must be one of paper, released"):
        problems.problem("text", 0, 4, 4)


def test_weights_of_anchors_must_not_exceed_one():
    X = data.clipped_gaussian(3, 4, 2, problems.source(0))
    equal = mappings.teacher(X, problems.THREES)
    same = mappings.teacher(X, problems.THREES, weights=torch.full((3,), 1 / 3, dtype=X.dtype))
    phi = parameters.random(5, 2, problems.source(1))
    for a, b in zip(equal(phi).blocks, same(phi).blocks, strict=True):
        assert torch.allclose(a, b, atol=1e-15)
    with pytest.raises(ValueError, match="sum to at most 1"):
        mappings.teacher(X, problems.THREES, weights=torch.ones(3, dtype=X.dtype))
    with pytest.raises(ValueError, match="weights"):
        mappings.teacher(X, problems.THREES, weights=torch.zeros(2, dtype=X.dtype))


def test_losses_of_a_run_are_ordered():
    row = training_loss.compute(training_loss.Config("released", 8, 0, 25, 32, 30), CPU)
    assert row["horizons"] == [1, 4, 10, 25]
    assert row["mins"][0] == row["means"][0] == pytest.approx(row["trivial"], rel=1e-5)
    assert all(low <= mean for low, mean in zip(row["mins"], row["means"], strict=True))
    assert len(row["unseen"]) == 2


def test_first_steps_are_those_of_the_run():
    config = training_loss.Config("paper", 4, 0, 25, 32, 30)
    row, first = training_loss.compute(config, CPU), training_loss.steps_of(config, 25)
    assert first["trivial"] == row["trivial"]
    assert first["mean"] == pytest.approx(row["means"][-1], rel=1e-6)


def test_expected_errors():
    assert approximation_error.expected(2.0, 4, 8) == pytest.approx(math.sqrt(2 * (1 / 2 + 1 / 8)))
    assert approximation_error.expected(2.0, 4, 8, "released") == pytest.approx(
        math.sqrt(2 * (1 / 4 + 1 / 8))
    )


@pytest.mark.parametrize(
    "row", stored(linearisation_error.EXPERIMENT), ids=lambda row: f"{row['m']}-{row['seed']}"
)
def test_no_stored_gap_is_above_the_bound(row):
    gaps = [*row["adversarial"], *(row[way]["sup"] for way in linearisation_error.WAYS)]
    assert max(gaps) < row["bound"]
    assert all(row[way]["mean"] < row[way]["sup"] for way in linearisation_error.WAYS)


@pytest.mark.parametrize("row", stored(approximation_error.EXPERIMENT), ids=lambda row: f"{row['variant']}-{row['m']}-{row['seed']}")  # fmt: skip
def test_stored_errors_are_near_what_is_expected(row):
    usual = approximation_error.expected(row["variance"], row["m"], row["heads"], row["variant"])
    assert row["rms"] < row["sup"]
    assert 0.2 < row["rms"] / usual < 5


@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_stored_runs_descend(scale):
    runs = training_loss.collected(scale)
    assert runs
    for run in runs.values():
        # A run of coarse steps has no horizon shorter than one of them.
        assert run["horizons"] == sorted(set(run["horizons"]))
        assert run["horizons"][-1] == training_loss.HORIZONS[-1]
        assert len(run["mins"]) == len(run["means"]) == len(run["horizons"])
        assert all(a >= b for a, b in zip(run["mins"], run["mins"][1:], strict=False))
        assert run["means"][-1] < run["trivial"]
