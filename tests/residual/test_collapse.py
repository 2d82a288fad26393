"""Where rank is lost: distances from averaging, by the definition; determinants, and points of the affine hull."""

import math

import pytest
import torch

from checks import normal, refused
from companion.theory.residual import collapse, hull
from shallowformer.residual import spectra


def test_the_steepness_is_a_mean():
    t = (torch.arange(20_000, dtype=torch.float64) + 0.5) / 20_000
    for N in (2, 7):
        for omega in (1e-9, 1e-3, 1.0, 20.0):
            mean = float((torch.exp(t * omega) / (N - 1 + torch.exp(t * omega))).mean())
            at = torch.tensor(omega, dtype=torch.float64)
            assert float(collapse.steepness(at, N)) == pytest.approx(mean, rel=1e-6)


def test_bounds_hold_and_the_first_is_attained_by_small_logits():
    L = normal(300, 4, 4) * torch.logspace(-4, 1, 300, dtype=torch.float64)[:, None, None]
    S = torch.softmax(L, -1)
    distance = (S - 0.25).norm(dim=(-2, -1)) / collapse.distance_bound(L)
    assert float(distance.max()) <= 1 + 1e-9
    assert float(distance[0]) > 0.999
    linear = L - L.mean(-1, keepdim=True)
    rest = (S - 0.25 - linear / 4).norm(dim=(-2, -1)) / collapse.remainder_bound(L)
    assert float(rest.max()) <= 1 + 1e-6


def test_what_tells_tokens_apart_by_projections():
    S = torch.softmax(normal(5, 5), -1)
    P = torch.eye(5, dtype=torch.float64) - 0.2
    assert float(collapse.difference(S)) == pytest.approx(float(torch.linalg.matrix_norm(P @ S @ P, 2)))
    assert float(collapse.difference(torch.full((3, 3), 1 / 3, dtype=torch.float64))) < 1e-15


def test_the_range_is_of_the_widest_row():
    L = torch.tensor([[0.0, 1.0], [5.0, 2.0]], dtype=torch.float64)
    assert float(collapse.logit_range(L)) == 3.0
    assert math.isclose(float(collapse.centred(L)[0, 0]), -2.5)


def test_at_an_exceptional_coefficient_rank_is_lost():
    X, W_V = normal(5, 5), normal(5, 5, seed=1)
    S = torch.softmax(normal(5, 5, seed=2), -1)
    for g in hull.exceptional(X, S, W_V):
        Z = g * X.to(g.dtype) + (S @ X @ W_V).to(g.dtype)
        assert float(torch.linalg.svdvals(Z)[-1]) < 1e-12 * float(torch.linalg.svdvals(Z)[0]) * 10


def test_distance_by_least_squares():
    X, point = normal(6, 3, 5), normal(6, 5, seed=1)
    for tokens, at, found in zip(X, point, hull.distance(X, point), strict=True):
        weights = torch.linalg.lstsq((tokens[1:] - tokens[0]).T, (at - tokens[0])[:, None]).solution
        off = at - tokens[0] - ((tokens[1:] - tokens[0]).T @ weights)[:, 0]
        assert float(found) == pytest.approx(float(off.norm()))


def test_distance_to_one_token():
    assert float(hull.distance(normal(1, 3), normal(3, seed=1))) == pytest.approx(
        float((normal(1, 3)[0] - normal(3, seed=1)).norm())
    )


def test_in_the_hull_the_bound_and_the_singular_value_are_zero():
    X = normal(3, 4)
    w = -0.7 * torch.tensor([0.2, 1.3, -0.5], dtype=torch.float64) @ X
    assert float(hull.lower_bound(X, w, 0.7)) < 1e-14
    assert float(spectra.smallest(0.7 * X + w)) < 1e-14


def test_the_bound_holds_one_coefficient_a_case_and_with_nothing_added():
    X, w = normal(200, 3, 4), 3 * normal(200, 4, seed=1)
    g = normal(200, seed=2).exp()
    found = hull.lower_bound(X, w, g)
    assert bool((found <= spectra.smallest(g[:, None, None] * X + w[:, None]) * (1 + 1e-9)).all())
    assert torch.allclose(hull.lower_bound(X, 0 * w, g), g * spectra.smallest(X))


def test_dependent_tokens_are_refused():
    X = normal(2, 3)[[0, 0]]
    with refused("X", "2 in dimension 3", "linearly independent"):
        hull.exceptional(X, torch.full((2, 2), 0.5, dtype=torch.float64), normal(3, 3))
    refused("S", "(3, 3)", "(2, 2)", hull.exceptional, normal(2, 3), normal(3, 3), normal(3, 3))
