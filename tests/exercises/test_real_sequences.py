"""Exercises of the chapter *On real sequences*: other routes to the right answer pass, and who errs is told how."""

import torch

from companion.exercises.kernel_regime import real_sequences


def by_search(band, m, size, larger, allowed):
    """The first even number that is enough."""
    heads = 2
    while band * m / heads * (larger / size) ** 2 > allowed:
        heads += 2
    return heads


def test_heads_found_by_search_pass():
    assert real_sequences.check_heads_needed(by_search).passed


def test_who_forgets_that_partners_cancel_is_told():
    wrong = real_sequences.HEADS_MISTAKES["partners cancel: E falls like 1/m, not like the root of it."]
    assert "partners cancel" in real_sequences.check_heads_needed(wrong).told


def test_a_share_by_singular_vectors_passes():
    def share(K, y, k):
        left, _, _ = torch.linalg.svd(K)  # of a positive semidefinite matrix, in descending order
        return (left[:, :k].mT @ y).norm() ** 2 / y.norm() ** 2

    assert real_sequences.check_share(share).passed


def test_an_average_of_drawn_tokens_is_as_short_as_said():
    tokens = torch.randn(20_000, 8, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert abs(float(tokens.mean(1).square().sum(1).mean()) - real_sequences.mean_square(3.0, 8)) < 0.01
