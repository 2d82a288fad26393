"""The regulariser that does not see the scale."""

import pytest
import torch

from checks import refused
from shallowformer.preconditioned import factorisation, invariance


def case(draw):
    return draw(4, 3), 2 * draw(5, 3, seed=1)


@pytest.mark.parametrize("c", [0.1, 1.0, 30.0])
def test_it_is_invariant(c, draw):
    U, V = case(draw)
    found = invariance.regulariser(*invariance.rescaled(U, V, c), 0.7)
    assert torch.allclose(found, invariance.regulariser(U, V, 0.7), rtol=1e-12)


def test_it_is_the_balanced_form_at_equal_norms(draw):
    U, V = case(draw)
    left, right, c = invariance.equal_norms(U, V)
    assert torch.allclose(left.norm(), right.norm(), rtol=1e-14)
    assert torch.allclose(left @ right.T, U @ V.T, rtol=1e-12)
    assert torch.allclose(left, c * U, rtol=1e-14)
    balanced = 0.7 / 4 * factorisation.imbalance(left, right).square().sum()
    assert torch.allclose(invariance.regulariser(U, V, 0.7), balanced, rtol=1e-12)


def test_its_gradient(draw):
    U, V = (factor.requires_grad_() for factor in case(draw))
    expected = torch.autograd.grad(invariance.regulariser(U, V, 0.7), (U, V))
    found = invariance.regulariser_gradient(U.detach(), V.detach(), 0.7)
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-11, atol=1e-12)
    # Along the ambiguity it does not change (Euler).
    along = float((found[0] * U.detach()).sum() - (found[1] * V.detach()).sum())
    assert abs(along) < 1e-11 * float(expected[0].norm() * U.detach().norm())


def test_refused(draw):
    U, V = case(draw)
    refused("U", "0.0", "not 0", invariance.regulariser, 0 * U, V)
    refused("V", "nan", "finite", invariance.equal_norms, U, torch.nan * V)
