"""Distances from averaging, by the definition; the integral that the bound is."""

import math

import pytest
import torch

from companion.theory.residual import collapse


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_the_steepness_is_a_mean():
    t = (torch.arange(20_000, dtype=torch.float64) + 0.5) / 20_000
    for N in (2, 7):
        for omega in (1e-9, 1e-3, 1.0, 20.0):
            mean = float((torch.exp(t * omega) / (N - 1 + torch.exp(t * omega))).mean())
            at = torch.tensor(omega, dtype=torch.float64)
            assert float(collapse.steepness(at, N)) == pytest.approx(mean, rel=1e-6)


def test_bounds_hold_and_the_first_is_attained_by_small_logits():
    L = draw(300, 4, 4) * torch.logspace(-4, 1, 300, dtype=torch.float64)[:, None, None]
    S = torch.softmax(L, -1)
    distance = (S - 0.25).norm(dim=(-2, -1)) / collapse.distance_bound(L)
    assert float(distance.max()) <= 1 + 1e-9
    assert float(distance[0]) > 0.999
    linear = L - L.mean(-1, keepdim=True)
    rest = (S - 0.25 - linear / 4).norm(dim=(-2, -1)) / collapse.remainder_bound(L)
    assert float(rest.max()) <= 1 + 1e-6


def test_what_tells_tokens_apart_by_projections():
    S = torch.softmax(draw(5, 5), -1)
    P = torch.eye(5, dtype=torch.float64) - 0.2
    assert float(collapse.difference(S)) == pytest.approx(float(torch.linalg.matrix_norm(P @ S @ P, 2)))
    assert float(collapse.difference(torch.full((3, 3), 1 / 3, dtype=torch.float64))) < 1e-15


def test_the_range_is_of_the_widest_row():
    L = torch.tensor([[0.0, 1.0], [5.0, 2.0]], dtype=torch.float64)
    assert float(collapse.logit_range(L)) == 3.0
    assert math.isclose(float(collapse.centred(L)[0, 0]), -2.5)
