"""Instances satisfy Assumption 2, counts are those of runs one by one, and what is lost is lost with shorter steps too."""

import pytest
import torch

from checks import unchecked
from companion.experiments.token_selection import lost_samples
from companion.theory.token_selection import limits
from shallowformer.token_selection import descent, gaps, rules

CPU = torch.device("cpu")


@pytest.mark.parametrize("T", [2, 3, 4])
def test_tokens_have_a_common_mean_and_equal_scores(T):
    data = lost_samples.draw(4, T, 2000, 3.0, torch.Generator().manual_seed(1))
    assert data.equal_scores(1e-9)
    assert bool((data.Delta > 0).all())
    products = data.X.flatten(0, 1) @ data.X.flatten(0, 1).T / 2000
    off = ~torch.eye(4 * T, dtype=torch.bool)
    assert float(products[off].mean()) == pytest.approx(9.0, rel=0.1)
    assert float(products.diagonal().mean()) == pytest.approx(10.0, rel=0.1)


def test_counts_are_those_of_runs_one_by_one():
    config = lost_samples.Config(2, 2, 10.0, 3, instances=25, steps=300)
    with unchecked():
        found = lost_samples.compute(config, CPU)
        instances, bests = lost_samples.drawn(config)
        lost = late = 0
        for data, best in zip(instances, bests, strict=True):
            longest = float(data.gram.diagonal().max()) ** 0.5
            run = descent.run(gaps.problem(data, towards=best), rules.NGD(0.1 / longest), 300, at=[150, 300])
            # in units of the longest E_k a step of 0.1 moves the same gaps by as much
            half, end = run.gaps.flatten(1).amin(1)
            if end < 0:
                kept = (run.gaps[-1] > 0).all(1)
                known = any(torch.equal(kept, each) for each in limits.losable(best, 3))
                lost, late = lost + bool(known and end < half), late + (not (known and end < half))
    assert found["lost"] + found["open"] == lost + late > 0
    assert abs(found["lost"] - lost) <= 1
    assert found["feasible"] == len(instances)


def test_a_sample_that_is_lost_is_lost_with_a_tenth_of_the_step():
    config = lost_samples.Config(2, 3, 3.0, 0, instances=60)
    with unchecked():
        instances, bests = lost_samples.drawn(config)
        signs = [
            lost_samples.trained(instances, bests, steps, step).gaps[-1].flatten(1).amin(1) < 0
            for steps, step in ((1000, 0.1), (10_000, 0.01))
        ]
    assert bool(signs[1].any())
    assert int((signs[0] != signs[1]).sum()) <= 1  # one that starts on the border may fall to either side


def test_a_longer_run_begins_like_the_shorter_and_ends_as_one_of_its_length():
    config = lost_samples.Longer(2, 2, 10.0, 3, instances=25, steps=300, times=4)
    with unchecked():
        found = lost_samples.go_on(config, CPU)
        early, late = (
            lost_samples.compute(lost_samples.Config(2, 2, 10.0, 3, instances=25, steps=steps), CPU)
            for steps in (300, 1200)
        )
    assert [found[name] for name in ("lost", "open")] == [early[name] for name in ("lost", "open")]
    for name in ("lost", "open"):
        assert found[f"lost_{name}"] + found[f"open_{name}"] <= late[name]
        assert found[f"{name}_lost"] + found[f"{name}_open"] <= found[name]
    assert found["lost_lost"] > 0
