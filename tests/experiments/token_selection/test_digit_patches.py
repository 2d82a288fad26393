"""What is posed, and numbers of a row against the data."""

import pytest
import torch

from checks import unchecked
from companion.experiments.token_selection import digit_patches
from companion.theory.token_selection import limits
from shallowformer.real import images
from shallowformer.real.source import given

CPU = torch.device("cpu")
SMALL = digit_patches.Config(1.0, 0.1, 2, n=6, T=3, steps=100)


def test_the_head_is_scaled_and_tells_the_digits_apart():
    shown = images.digits()
    pictures, digits = shown.values, shown.labels
    data, place = digit_patches.posed(SMALL, shown)
    known = digits <= 1
    scores = pictures[known] @ data.u * torch.where(digits[known] == 0, 1.0, -1.0)
    assert float(scores.abs().mean()) == pytest.approx(1.0)
    assert bool((scores > 0).all())
    tokens = data.X[torch.arange(6), place]
    assert all(bool((pictures == token).all(1).any()) for token in tokens)


def test_numbers_of_a_row():
    data, place = digit_patches.posed(SMALL, images.digits())
    with unchecked():
        found = digit_patches.compute(SMALL, CPU)
    assert found["selected"] == float((data.scores.argmax(1) == place).double().mean())
    rest = [[float(s) for t, s in enumerate(row) if t != int(row.argmax())] for row in data.scores]
    assert found["unequal"] == pytest.approx(max(max(row) - min(row) for row in rest))
    assert len(found["NGD"]["apart"]) == len(found["GD"]["least"]) == 3
    assert found["NGD"]["apart"][-1] < found["GD"]["apart"][-1]
    step = digit_patches.rates(data)["NGD"].eta
    longest = max(
        float(D.norm() * q.norm()) for D, q in zip(data.differences, data.pair_queries, strict=True)
    )
    assert step * longest == pytest.approx(0.2)


def test_pictures_of_another_size_do_as_well():
    generator = torch.Generator().manual_seed(0)
    pictures = torch.rand(40, 144, generator=generator, dtype=torch.float64)
    shown = images.Pictures(pictures, torch.arange(40) % 4, given("nowhere.npz", b""))
    data, _ = digit_patches.posed(SMALL, shown)
    assert data.X.shape == (6, 3, 144)
    with unchecked():
        found = digit_patches.compute(SMALL, CPU, shown)
    assert found["dominance"] == limits.dominance(data)
