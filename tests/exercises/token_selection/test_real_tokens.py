"""Right answers pass, as the mathematics gives them anew; others are told where to look."""

import numpy as np
import torch

from companion.exercises.token_selection import real_tokens
from shallowformer.token_selection import svm


def test_the_gap_is_that_of_the_svm_of_one_sample():
    def gap(G, kept, other):
        root = torch.linalg.cholesky(torch.tensor(G, dtype=torch.float64))
        return float(root[other] @ svm.shortest(root[kept : kept + 1]).z)

    assert real_tokens.check_gap(gap).passed


def test_two_pull_as_the_svm_says():
    low, high = 0.0, 1.0
    for _ in range(60):
        c = (low + high) / 2
        root = np.linalg.cholesky([[1, -0.25, -c], [-0.25, 1, -c], [-c, -c, 1]])
        rows = torch.from_numpy(root)
        low, high = (c, high) if float(rows[2] @ svm.shortest(rows[:2]).z) > -1 else (low, c)
    assert real_tokens.check_pull(low).passed


def test_a_mean_of_five_thirds_is_where_a_sample_can_be_lost():
    for M, lost in ((5 / 3 - 1e-6, False), (5 / 3 + 1e-6, True)):
        m, z = M**0.5 * np.eye(3)[2], np.eye(3)[:2]
        D = np.array([[1, 0], [-1.6, 1.2]])
        G = (D @ D.T) * ((m + z) @ (m + z).T)
        assert (min(G[0, 1] / G[0, 0], G[0, 1] / G[1, 1]) < -1) == lost
    assert real_tokens.check_mean(5 / 3).passed
