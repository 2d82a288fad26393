"""What labels cost: the definition, and what is stored."""

import pytest
import torch

from companion.experiments.kernel_regime import prices, problems
from shallowformer.experiments.experiment import stored
from shallowformer.kernel_regime.kernel import tangent_kernel, transportation

CPU = torch.device("cpu")


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
    assert len(rows) == 11
    for row in rows:
        for name in prices.OWN:
            assert all(a < b for a, b in zip(row[name]["price"], row[name]["ceiling"], strict=True))


def test_the_linear_model_leaves_what_descent_on_it_leaves():
    config = prices.Left(2, 6, heads=64, teacher=64)
    given = problems.problem("mixed", 2, 6, 64)
    kernel = tangent_kernel.limit(given.X, 64, torch.Generator().manual_seed(6002)).total
    residual = y = given.labels.mean
    for _ in range(4000):
        residual = residual - 2 / 4000**0.5 / 6 * kernel @ residual
    left = float(residual.square().sum() / y.square().sum())
    assert prices.compute_left(config, CPU)["left"]["mixed"] == pytest.approx(left, rel=1e-6)


def test_what_is_left_of_every_problem_is_stored():
    assert [row["seed"] for row in stored(prices.LEFT)] == list(prices.SEEDS)
