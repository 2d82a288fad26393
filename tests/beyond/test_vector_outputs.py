"""Heads with k readouts: what is refused, and what tasks hand out."""

import pytest
import torch

from companion.theory.beyond import vector_certificate, vector_known, vector_outputs, vector_tasks
from shallowformer import data


def source():
    return torch.Generator().manual_seed(0)


def test_an_unknown_reading_is_refused():
    X = data.clipped_gaussian(2, 3, 2, source())
    with pytest.raises(ValueError, match="reading must be one of"):
        list(vector_outputs.views(X, "first"))


def test_a_start_that_is_not_symmetric_and_a_step_that_is_too_long_are_refused():
    X, phi0 = data.clipped_gaussian(2, 3, 2, source()), vector_outputs.start(4, 2, 2, source())
    y = torch.ones(2, 1, 2, dtype=X.dtype)
    with pytest.raises(ValueError, match="symmetric start"):
        vector_known.known(X, y, {**phi0, "c": phi0["c"].abs()}, 0.1, 2, "last")
    with pytest.raises(ValueError, match="eta must be at most"):
        vector_certificate.certify(X, y, phi0, 1e3, 2, "last")


def test_under_a_mask_later_tokens_change_nothing():
    X, phi = data.clipped_gaussian(3, 5, 2, source()), vector_outputs.start(4, 2, 3, source())
    phi = {name: block + 0.1 * torch.randn(block.shape, generator=source()) for name, block in phi.items()}
    whole = vector_outputs.outputs(X, phi, "causal")
    assert torch.allclose(whole[:, :3], vector_outputs.outputs(X[:, :3], phi, "causal"))
    assert torch.allclose(whole[:, -1:], vector_outputs.outputs(X, phi, "last"))


@pytest.mark.parametrize("name", vector_tasks.TASKS)
def test_a_task_hands_out_tokens_in_the_unit_ball_and_standardised_labels(name):
    X, y = vector_tasks.sample(name, 6, source())
    task = vector_tasks.TASKS[name]
    assert X.shape == (6, task.T, vector_tasks.D)
    assert float(X.norm(dim=-1).max()) <= 1 + 1e-12
    assert y.shape == (6, 1 if task.reading == "last" else task.T, task.k)
    assert torch.allclose(y.mean((0, 1)), y.new_zeros(task.k), atol=1e-12)
    assert torch.allclose(y.square().mean((0, 1)), y.new_ones(task.k))


def test_what_is_copied_and_sorted_is_in_the_tokens():
    X, y = vector_tasks.copied(2, 6, source())
    content = X[..., :4] * 2**0.5
    assert torch.allclose(y, torch.cat([content[:, -1:], content[:, :-1]], 1))
    X, y = vector_tasks.sorted_numbers(2, 4, source())
    numbers = torch.atan2(X[..., 4], X[..., 0]) / (torch.pi / 2)
    assert torch.allclose(numbers.sort(1).values, y[:, 0])
