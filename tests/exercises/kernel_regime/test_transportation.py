"""Mappings and readouts, of which more than one is right, are told what they fail at."""

import pytest
import torch

from companion.exercises.kernel_regime import transportation
from shallowformer import data
from shallowformer.kernel_regime.model import gradients, linear_model, parameters


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (lambda c, U, W: c[:, None] * U / U.norm(dim=1, keepdim=True), "looks at c"),
        (lambda c, U, W: U, "norm 1"),
        (lambda c, U, W: torch.nn.functional.normalize(W[:, 0], dim=1), "not zero"),
        (lambda c, U, W: U[:, 0], "shape"),
        (lambda c, U, W: U.nothing, "AttributeError"),
        (3.0, "give the function"),
    ],
)
def test_an_idle_mapping_that_is_none_is_told_why(answer, word):
    feedback = transportation.check_idle(answer)
    assert feedback.state == "wrong"
    assert word in feedback.told


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (lambda U: -U[:, 0], "minus the function"),
        (lambda U: torch.ones(len(U), dtype=U.dtype), "by parts"),
        (lambda U: U, "shape"),
        (lambda U: U.nothing, "AttributeError"),
        (1.0, "give the function"),
    ],
)
def test_a_readout_that_does_not_do_what_moving_does_is_told_why(answer, word):
    feedback = transportation.check_readout_for(answer)
    assert feedback.state == "wrong"
    assert word in feedback.told


def test_the_readout_that_does_what_moving_does_passes():
    assert transportation.check_readout_for(lambda U: None).state == "not yet"
    assert transportation.check_readout_for(lambda U: U[:, 0]).passed


@pytest.mark.parametrize("options", [{"R": 0}, {"R": 1, "draws": 0}])
def test_a_label_size_needs_anchors_and_draws(options):
    with pytest.raises(ValueError, match="must be a whole number of at least 1"):
        transportation.label_size(**options)


def test_an_idle_mapping_may_be_any_odd_one():
    assert transportation.check_idle(lambda c, U, W: None).state == "not yet"
    assert transportation.check_idle(lambda c, U, W: torch.nn.functional.one_hot(torch.zeros(len(U), dtype=int), U.shape[1]) * U[:, :1].sign()).passed  # fmt: skip


def test_from_readouts_of_any_size_the_linear_model_is_the_mean_of_features_on_instructions():
    generator = torch.Generator().manual_seed(0)
    start, v = parameters.symmetric(6, 3, generator), parameters.random(6, 3, generator)
    size = torch.tensor([2.0, 0.3, 1.0], dtype=torch.float64).repeat(2)
    start = parameters.Parameters(size * start.c, start.U, start.W)
    there = parameters.Parameters(*transportation._transport(*start.blocks, *v.blocks))
    X = data.clipped_gaussian(5, 4, 3, generator)
    phi = gradients.features(X, start)
    mean = (phi.c * v.c + (phi.u * v.U).sum(-1) + (phi.w * v.W).sum((-2, -1))).mean(1)
    assert torch.allclose(linear_model.f_lin(X, there, start), mean, rtol=1e-12)
