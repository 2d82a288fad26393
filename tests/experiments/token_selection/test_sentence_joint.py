"""Joint training on sentences: the same run as the chapter's simulator, and directions that are what they are called."""

import pytest
import torch

from companion.experiments.token_selection import sentence_joint
from companion.theory.token_selection import joint

SMALL = sentence_joint.Config(1, n=4, steps=20)


@pytest.mark.parametrize("rule", ["schedule", "NGD", "GD"])
def test_walks_as_the_simulator_does(rule):
    data = sentence_joint.posed(SMALL).instance
    given = sentence_joint.rates(data)[rule]
    points, run = sentence_joint.walked(data, given, [5, 20]), joint.run(data, given, 20, at=[5, 20])
    assert [point.log_loss for point in points] == pytest.approx(run.log_loss.tolist())
    assert torch.allclose(torch.stack([point.u for point in points]), run.u)
    assert [float(point.W.norm()) for point in points] == pytest.approx(run.norm_W.tolist())


def test_directions_of_chosen_tokens():
    data = sentence_joint.posed(SMALL).instance
    chosen = torch.tensor([3, 0, 15, 7])
    u, W = sentence_joint.directions(data, chosen)
    best = data.X[torch.arange(4), chosen]
    assert float((data.y * (best @ u)).min()) == pytest.approx(1.0)
    gaps = ((best[:, None] - data.X) @ W @ data.queries[..., None])[..., 0]
    gaps[torch.arange(4), chosen] = 1.0
    assert float(gaps.min()) == pytest.approx(1.0)


def test_first_step_goes_along_signed_means():
    data = sentence_joint.posed(SMALL).instance
    point = sentence_joint.walked(data, sentence_joint.rates(data)["NGD"], [1])[0]
    assert sentence_joint.apart(point.u, (data.y[:, None] * data.X.mean(1)).sum(0)) == pytest.approx(0.0)
    assert float(point.W.norm()) == 0.0
