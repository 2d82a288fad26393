"""Exercises of the chapter *Attention as token selection*: right answers pass, other routes to them too."""

import torch

from shallowformer.exercises.token_selection import selection


def by_matrix(phi, gamma):
    return (torch.diag(phi) - torch.outer(phi, phi)) @ gamma


def test_a_pull_by_the_explicit_matrix_is_right():
    assert selection.check_pull(by_matrix).passed


def test_the_numbers_are_right():
    G = torch.tensor([[9.0, 4.0], [4.0, 2.0]], dtype=torch.float64)
    lam = torch.tensor([0.0, 0.5], dtype=torch.float64)
    assert bool((G @ lam >= 1).all())
    assert selection.check_support(float(lam.sum())).passed
    c = 2 / 5**0.5
    assert abs(c - 2 * (1 - c**2) ** 0.5) < 1e-12
    assert selection.check_aligned(1 - c).passed
