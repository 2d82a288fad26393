"""Exercises of the chapter *Attention as token selection*: right answers pass, other routes to them too."""

import torch

from companion.exercises.token_selection import selection
from shallowformer.token_selection.batches import shortest


def by_matrix(phi, gamma):
    return (torch.diag(phi) - torch.outer(phi, phi)) @ gamma


def test_a_pull_by_the_explicit_matrix_is_right():
    assert selection.check_pull(by_matrix).passed


def test_the_numbers_are_right():
    G = torch.tensor([[9.0, 4.0], [4.0, 2.0]], dtype=torch.float64)
    lam = torch.tensor([0.0, 0.5], dtype=torch.float64)
    assert bool((G @ lam >= 1).all())
    assert selection.check_support(float(lam.sum())).passed
    c = 3**0.5 / 2
    assert abs(c - (2**2 - 1) ** 0.5 * (1 - c**2) ** 0.5) < 1e-12
    assert selection.check_aligned(1 - c).passed


def test_no_matrix_has_a_smaller_gap_than_the_exercise_says():
    generator = torch.Generator().manual_seed(0)
    E = torch.randn(20000, 2, 3, generator=generator, dtype=torch.float64)
    E[..., 0] = E[..., 0].abs() + 0.1  # both gaps positive at the first axis: a solution exists
    G = E @ E.mT
    lam = shortest(G)
    W = (lam[..., None] * E).sum(1)
    b, size = E.norm(dim=2).amax(1), W.norm(dim=1)
    V = torch.nn.functional.normalize(torch.randn(W.shape, generator=generator, dtype=W.dtype), dim=1)
    c = (V * W).sum(1) / size
    lowest = (E * V[:, None]).sum(2).amin(1)
    bound = c / size - (1 - c**2).sqrt() * (b**2 - size**-2).clamp(min=0).sqrt()
    assert bool((lowest >= bound - 1e-9)[c >= 0].all())
    assert bool((lowest < bound - 1e-3)[c < 0].any())  # c ≥ 0 is needed
