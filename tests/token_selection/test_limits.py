"""Local SVM directions against brute force, and the condition that excludes them."""

import pytest
import torch

from companion.experiments.token_selection import lost_samples
from companion.theory.token_selection import limits
from shallowformer.token_selection import svm
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


@pytest.mark.parametrize(("T", "d"), [(2, 2), (2, 4), (3, 2), (3, 4)])
def test_every_set_of_pairs_finds_what_every_set_of_samples_finds(T, d):
    data = [instance(seed, T=T, d=d) for seed in range(40)]
    feasible = []
    for each in data:
        try:
            feasible.append((each, svm.w_svm(each)))
        except svm.Infeasible:
            continue
    found = limits.others(torch.stack([each.gram for each, _ in feasible]), 3)
    wanted = [bool(limits.losable(best, 3)) for _, best in feasible]
    assert found[:, 0].tolist() == wanted
    assert {True, False} == set(wanted)
    assert bool((found[:, 1] | ~found[:, 0]).all())  # between two fates there is an edge


def test_an_edge_without_a_set_that_passes():
    rows = [[-0.14, -0.73, -1.64], [-1.58, 0.42, 1.43], [-0.81, 0.39, -1.47], [-0.74, -0.55, -0.45], [-0.03, -0.28, 1.19], [-0.2, -0.72, 0.97]]  # fmt: skip
    R = torch.tensor(rows, dtype=torch.float64)
    assert limits.others((R @ R.T)[None], 3).tolist() == [[False, True]]
    # the edge is the shortest matrix with gaps of at least 1 on sample 3 and of at least −1 on the token that is lost
    V = torch.linalg.solve(R[[2, 4, 5]], torch.tensor([-1.0, 1.0, 1.0], dtype=torch.float64))
    assert float((R @ V)[:2].min()) < -1
    multipliers = torch.linalg.solve(R[[2, 4, 5]].T, V)
    assert bool((multipliers > 0).all())


@pytest.mark.parametrize("seed", range(4))
def test_chosen_tokens_are_ahead_of_all_that_are_worse(seed):
    data = instance(seed, n=2, T=3, d=6)
    best = svm.w_svm(data)
    kept = limits.selecting(data, best, data.optimal)
    torch.testing.assert_close(kept.z, best.z)
    wrong = (data.optimal[1] + 1) % 3
    one = limits.selecting(data, best, torch.stack([data.optimal[0], wrong]))
    torch.testing.assert_close(one.z, limits.local(best, torch.tensor([True, False])).z)
    X = data.X.clone()
    X[0, 2 if int(data.optimal[0]) != 2 else 1] -= 0.4 * data.u * data.y[0]  # a worst token: scores differ
    uneven = type(data)(X, data.y, data.u)
    best = svm.w_svm(uneven)
    second = int(uneven.scores[0].argsort()[1])
    chosen = torch.tensor([second, int(uneven.optimal[1])])
    found = limits.selecting(uneven, best, chosen)
    i, worst = 0, int(uneven.scores[0].argmin())
    E = [torch.outer(uneven.X[i, second] - uneven.X[i, worst], uneven.queries[i])]
    E += [torch.outer(D, uneven.queries[1]) for D in uneven.differences[2:]]
    G = torch.stack([each.flatten() for each in E])
    wanted = svm.shortest(G)
    assert found.norm == pytest.approx(wanted.norm, rel=1e-8)
    assert bool((G @ wanted.z > 1 - 1e-8).all())


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
    with pytest.raises(ValueError, match="at most 6"):
        limits.others(torch.eye(8, dtype=torch.float64)[None], 2)
    two = instance(1)
    with pytest.raises(ValueError, match="better score"):
        limits.selecting(two, svm.w_svm(two), two.scores.argmin(1))
    with pytest.raises(ValueError, match="at least 2 samples"):
        limits.dominance(instance(0, n=1))
