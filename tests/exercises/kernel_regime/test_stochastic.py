"""Noise by enumeration passes, and the floor of the exact law."""

import itertools

import torch

from companion.exercises.kernel_regime import stochastic


def test_noise_over_all_batches_of_different_samples_passes():
    def noise(gram, r, b):
        g = 2 * r[:, None] * torch.linalg.cholesky(gram)  # any vectors with this Gram matrix
        batches = torch.tensor(list(itertools.combinations(range(len(r)), b)))
        return (g[batches].mean(1) - g.mean(0)).square().sum(1).mean()

    assert stochastic.check_noise(noise).passed


def test_the_floor_of_the_exact_law_of_the_state_passes():
    """All 2¹² sequences of labels, from 0; after k steps 1 − (1 − 2η)²ᵏ of the floor is reached."""

    def floor(eta):
        draws = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0], dtype=torch.float64)] * 12)
        x = torch.zeros(len(draws), dtype=torch.float64)
        for label in draws.T:
            x = x - 2 * eta * (x - label)
        return x.square().mean() / (1 - (1 - 2 * eta) ** 24)

    assert stochastic.check_floor(floor).passed
