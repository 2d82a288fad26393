"""Runs on sequences of several lengths."""

import torch

from companion.experiments.kernel_regime import sequence_length
from shallowformer.experiments.experiment import stored
from shallowformer.kernel_regime.model import gradients, parameters
from shallowformer.kernel_regime.model.loss import Loss

CPU = torch.device("cpu")


def test_sizes_and_means_are_those_of_per_sample_gradients():
    source = torch.Generator().manual_seed(0)
    X = torch.nn.functional.normalize(torch.randn(6, 3, 2, generator=source, dtype=torch.float64), dim=-1)
    phi = parameters.random(4, 2, source)
    each = gradients.per_sample_gradient(X, phi)
    rms = [float(block.flatten(1).square().sum(1).mean().sqrt()) for block in each]
    means = [float(block.mean(0).norm()) for block in each]
    torch.testing.assert_close(sequence_length.sizes(X, phi), rms)
    y = torch.zeros(6, dtype=torch.float64)
    torch.testing.assert_close(sequence_length.of_the_mean(Loss(X, y), phi), means)


def test_one_token_has_no_attention_gradient():
    one, eight = (sequence_length.compute(config, CPU) for config in sequence_length.plan("smoke"))
    assert one["gradients"][2] == 0 < eight["gradients"][2]
    assert eight["losses"][0] < eight["trivial"]


def test_stored_losses_fall_along_a_run():
    rows = stored(sequence_length.EXPERIMENT)
    assert len(rows) == len(sequence_length.plan("paper"))
    assert all(row["losses"] == sorted(row["losses"], reverse=True) for row in rows)
    assert all(max(row["gradients"][:2]) <= 1 for row in rows)
