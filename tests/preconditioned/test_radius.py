"""The best radius of orthogonal attention and the best factorisation."""

import pytest
import torch

from checks import refused
from shallowformer.preconditioned import covariances, noise, radius

S = covariances.geometric(5, 1.5, 0.375)


@pytest.mark.parametrize("d", [1, 3, 50])
def test_a_closed_form_and_a_minimiser(d):
    b, least = radius.orthogonal(d)
    found = noise.best_radius(torch.ones(d, dtype=torch.float64))
    assert found == pytest.approx((b, d * least), rel=1e-6)


def test_values_are_those_of_the_noise_constant(draw):
    """B̃ = QK^½ with M̃ diagonal, Ã = M̃B̃^{−T}."""
    k = torch.tensor([0.2, 0.1, 0.05, 0.15, 0.3], dtype=torch.float64)
    rotation, _ = torch.linalg.qr(draw(5, 5))
    B = k.sqrt().diag() @ rotation
    A = S.diag() @ torch.linalg.inv(B).T
    one = torch.eye(5, dtype=torch.float64)
    assert radius.value(S, k) == pytest.approx(noise.constant(A, B, one), rel=1e-10)


def test_no_neighbour_is_better(draw):
    k = radius.best(S)
    least = radius.value(S, k)
    assert least == pytest.approx(73.305, abs=1e-3)
    assert noise.best_radius(S)[1] > least
    for seed in range(20):
        assert radius.value(S, k * (1 + 0.02 * draw(5, seed=seed))) > least


def test_refused():
    with refused("k", "0.5", "between 0 and 1/2"):
        radius.value(torch.ones(1, dtype=torch.float64), torch.tensor([0.5], dtype=torch.float64))
    refused("singular_values", "0.0", "above 0", radius.best, torch.zeros(2, dtype=torch.float64))
