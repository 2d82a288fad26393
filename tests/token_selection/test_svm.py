"""(W-SVM) and (u-SVM) against all active sets, by hand, and what has no solution."""

import itertools
import pickle

import pytest
import torch

from shallowformer.token_selection import datasets, residual, svm
from shallowformer.token_selection.instances import Instance


def by_brute_force(A):
    """The shortest z with Az ≥ 1: of all sets of constraints met with equality, the shortest feasible one."""
    best = None
    for size in range(1, len(A) + 1):
        for chosen in itertools.combinations(range(len(A)), size):
            part = A[list(chosen)]
            z = torch.linalg.pinv(part) @ part.new_ones(size)
            if (A @ z >= 1 - 1e-9).all() and (best is None or z.norm() < best.norm()):
                best = z
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", [(2, 3, 3), (3, 3, 4), (4, 2, 3), (1, 5, 4)])
def test_attention_by_brute_force(shape, seed, case):
    data = case(*shape, seed=seed)
    E = torch.einsum("kd,ke->kde", data.differences, data.pair_queries).flatten(1)
    expected = by_brute_force(E)
    if expected is None:
        with pytest.raises(svm.Infeasible) as caught:
            svm.w_svm(data)
        weights = caught.value.certificate
        assert float(weights.min()) >= 0
        assert float(weights.sum()) == pytest.approx(1)
        assert float((E.T @ weights).norm()) < 1e-9 * float(E.norm(dim=1).max())
    else:
        found = svm.w_svm(data)
        assert torch.allclose(found.W.flatten(), expected, atol=1e-9 * float(expected.norm()))
        assert max(found.residuals.values()) < 1e-10
        W = torch.einsum("k,kd,ke->de", found.multipliers, data.differences, data.pair_queries)
        assert torch.allclose(found.W, W, atol=1e-10 * found.norm)
        assert float(data.gaps(found.W).min()) == pytest.approx(1)
        assert found.margin == pytest.approx(1 / float(found.W.norm()))


@pytest.mark.parametrize("seed", range(6))
def test_the_decoder_by_brute_force(seed, case):
    data = case(4, 2, 3, seed=seed)
    expected = by_brute_force(data.y[:, None] * data.best)
    assert expected is not None  # the instance's own decoder separates, or scores would not all be above 0
    assert torch.allclose(svm.u_svm(data).u, expected, atol=1e-9 * float(expected.norm()))


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_precision_at_the_size_of_experiments(scale):
    data = datasets.example_1(6, 6, 400, 20.0 * scale, scale, torch.Generator().manual_seed(0))
    found = svm.w_svm(data)
    assert max(found.residuals.values()) < 1e-12


def test_one_sequence_of_two_tokens_in_closed_form(case):
    data = case(1, 2, 4)
    D, q = data.differences[0], data.queries[0]
    assert torch.allclose(svm.w_svm(data).W, torch.outer(D, q) / (D @ D) / (q @ q), atol=1e-13)
    x = data.best[0] * data.y[0]
    assert torch.allclose(svm.u_svm(data).u, x / (x @ x), atol=1e-13)


def tensor(rows):
    return torch.tensor(rows, dtype=torch.float64)


def test_strict_complementarity():
    strict = svm.shortest(tensor([[1.0, 0.0], [0.0, 1.0]]))
    assert strict.strict_complementarity() == pytest.approx(1)
    # (1, 1) is met with equality at (1, 0), and needs no multiplier.
    loose = svm.shortest(tensor([[1.0, 0.0], [1.0, 1.0]]))
    assert loose.active.all()
    assert loose.strict_complementarity() == pytest.approx(0, abs=1e-7)
    # Of two equal constraints the solver may use one; together they can share.
    twice = svm.shortest(tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 0.5]]))
    assert twice.strict_complementarity() == pytest.approx(0.5 / (5 / 3))
    inactive = svm.shortest(tensor([[1.0, 0.0], [3.0, 1.0]]))
    assert inactive.active.tolist() == [True, False]
    assert inactive.strict_complementarity() == pytest.approx(1)


def test_infeasible_data_come_with_a_proof():
    with pytest.raises(svm.Infeasible, match=r"has norm at least|none exists") as caught:
        svm.shortest(tensor([[1.0, 0.0], [-2.0, 0.0], [0.0, 1.0]]))
    assert caught.value.certificate.tolist() == pytest.approx([2 / 3, 1 / 3, 0])
    assert caught.value.residual < 1e-15
    assert isinstance(caught.value, ValueError)


def test_the_proof_travels_between_processes():
    sent = svm.Infeasible("(W-SVM)", tensor([0.5, 0.5]), 0.25)
    came = pickle.loads(pickle.dumps(sent))
    assert str(came) == str(sent)
    assert came.certificate.equal(sent.certificate)
    assert came.residual == 0.25


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_single_precision_finds_the_active_constraints_of_double(scale, case):
    for seed in range(20):
        whole = case(4, 5, 12, seed=seed)
        single = Instance((scale * whole.X).float(), whole.y.float(), whole.u.float())
        double = Instance(single.X.double(), single.y.double(), single.u.double())
        fine, coarse = svm.w_svm(double), svm.w_svm(single)
        assert coarse.active.equal(fine.active)
        assert coarse.strict_complementarity() == pytest.approx(fine.strict_complementarity(), abs=1e-4)
        assert residual.harshness(coarse) == pytest.approx(residual.harshness(fine), rel=1e-4)


def test_equal_tokens_cannot_be_told_apart():
    X = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]], dtype=torch.float64)
    data = Instance(X, X.new_ones(1), X.new_ones(2), opt=torch.tensor([0]))
    with pytest.raises(svm.Infeasible, match="none exists"):
        svm.w_svm(data)


def test_a_query_of_zero_cannot_ask():
    X = torch.tensor([[[0.0, 0.0], [1.0, 0.0]]], dtype=torch.float64)
    with pytest.raises(svm.Infeasible):
        svm.w_svm(Instance(X, X.new_ones(1), X.new_ones(2)))


def test_a_small_margin_is_still_one():
    found = svm.shortest(tensor([[1.0, 1e-6], [-1.0, 1e-6]]))
    assert found.z.tolist() == pytest.approx([0.0, 1e6], abs=1e-3)
