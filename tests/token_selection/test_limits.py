"""Local SVM directions against brute force, and the condition that excludes them."""

import pytest
import torch

from shallowformer.experiments.token_selection import lost_samples
from shallowformer.token_selection import limits, svm
from shallowformer.token_selection.batches import shortest


def instance(seed, n=3, T=2, d=3, common=3.0):
    return lost_samples.draw(n, T, d, common, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("T", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_gaps_under_a_local_svm_are_those_of_the_gram_matrix(seed, T):
    data = instance(seed, T=T, d=5)
    best = svm.w_svm(data)
    kept = torch.tensor([True, seed % 2 == 0, False])
    pairs = kept.repeat_interleave(T - 1)
    G = data.gram
    lam = shortest(G[pairs][:, pairs][None])[0]
    found = best.A @ limits.local(best, kept).z
    torch.testing.assert_close(found, G[:, pairs] @ lam, rtol=1e-7, atol=1e-7)


def test_two_samples_of_two_tokens_are_decided_by_three_numbers():
    seen = set()
    for seed in range(60):
        data = instance(seed, n=2)
        G = data.gram
        found = {tuple(each.tolist()) for each in limits.losable(svm.w_svm(data), 2)}
        wanted = {kept for j, kept in ((0, (True, False)), (1, (False, True))) if -G[0, 1] >= G[j, j]}
        assert found == wanted
        assert bool(found) == (limits.dominance(data) >= 1)
        seen.add(len(found))
    assert {0, 1} <= seen


@pytest.mark.parametrize("T", [2, 3])
def test_a_dominated_instance_has_no_other_direction(T):
    count = 0
    for seed in range(60):
        data = instance(seed, T=T, d=12, common=0.0)
        if limits.dominance(data) < 1:
            count += 1
            assert not limits.losable(svm.w_svm(data), 3)
    assert count > 3


def test_dominance_is_the_formula():
    G = torch.tensor([[4.0, -1.0, 2.0], [-1.0, 5.0, -1.5], [2.0, -1.5, 3.0]], dtype=torch.float64)
    assert float(limits.dominated(G[None], 3)) == pytest.approx(3 * 1.5 / 3)
    assert float(limits.dominated(G.abs()[None], 3)) == 0


def test_what_cannot_be_asked_is_refused():
    data = instance(0)
    best = svm.w_svm(data)
    with pytest.raises(ValueError, match="kept must say"):
        limits.local(best, torch.tensor([False, False, False]))
    with pytest.raises(ValueError, match="n must be from 1 to 12"):
        limits.losable(best, 13)
    with pytest.raises(ValueError, match="at least 2 samples"):
        limits.dominance(instance(0, n=1))
