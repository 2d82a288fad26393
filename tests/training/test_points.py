"""Points: tuples and mappings alike, block by block."""

import pytest
import torch

from shallowformer.training import points

A, B = torch.tensor([3.0, 4.0]), torch.tensor([[12.0]])
FORMS = [(A, B), {"a": A, "b": B}]


@pytest.mark.parametrize("point", FORMS, ids=["tuple", "mapping"])
def test_arithmetic_keeps_the_form(point):
    moved = points.plus(point, points.mapped(torch.ones_like, point), -2.0)
    assert type(moved) is type(point)
    assert [block.tolist() for block in points.blocks(moved)] == [[1.0, 2.0], [[10.0]]]


@pytest.mark.parametrize("point", FORMS, ids=["tuple", "mapping"])
def test_lengths_are_those_of_all_entries(point):
    zero = points.mapped(torch.zeros_like, point)
    assert float(points.norm(point)) == 13.0
    assert float(points.inner(point, point)) == float(points.squared_distance(point, zero)) == 169.0


def test_blocks_of_a_mapping_meet_by_name():
    other = {"b": -B, "a": -A}
    assert float(points.norm(points.plus(FORMS[1], other))) == 0.0
    assert list(points.plus(FORMS[1], other)) == ["a", "b"]


def test_points_of_different_form_are_refused():
    with pytest.raises(ValueError, match="zip"):
        points.plus((A, B), (A,))
    with pytest.raises(KeyError):
        points.plus(FORMS[1], {"a": A})
