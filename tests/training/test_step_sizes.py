"""Rules for the step size."""

import pytest
import torch

from checks import refused
from shallowformer.training.step_sizes import Constant, Polyak

LOSS, GRADIENT = torch.tensor([3.0]), (torch.tensor([1.0, 2.0]), torch.tensor([[2.0]]))


def test_a_constant_step_is_constant():
    assert Constant(0.25)(7, LOSS, GRADIENT) == 0.25


def test_a_polyak_step_by_hand():
    assert Polyak(0.5)(0, LOSS, GRADIENT) == pytest.approx(0.5 * 3 / 9)
    assert Polyak(2.0, least=1.0)(5, LOSS, dict(zip("ab", GRADIENT, strict=True))) == pytest.approx(2 * 2 / 9)


def test_where_the_gradient_is_0_a_polyak_step_is_0():
    assert Polyak(1.0)(0, torch.tensor([0.0]), (torch.zeros(3),)) == 0.0


def test_rules_refuse_what_they_cannot_do():
    refused("eta", "0.0", "above 0", Constant, 0.0)
    refused("factor", "-1.0", "above 0", Polyak, -1.0)
    refused("least", "nan", "finite", Polyak, 1.0, least=float("nan"))
    refused("losses", "2", "one model", Polyak(1.0), 0, torch.ones(2), GRADIENT)
