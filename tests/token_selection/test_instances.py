"""Instances, their scores and gaps, and the coordinates of what attention can learn."""

import pytest
import torch

from checks import refused
from shallowformer.token_selection.instances import Instance, all_tied
from shallowformer.token_selection.span import Span


@pytest.mark.parametrize("shape", [(1, 2, 1), (3, 4, 5), (4, 3, 2)])
def test_scores_pairs_and_gram_by_loops(shape, case):
    data = case(*shape)
    W = torch.randn(data.d, data.d, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    E, ahead, gaps = [], [], []
    for i in range(data.n):
        scores = [float(data.y[i] * (data.u @ token)) for token in data.X[i]]
        best = scores.index(max(scores))
        assert int(data.optimal[i]) == best
        for t in range(data.T):
            if t != best:
                D = data.X[i, best] - data.X[i, t]
                E.append(torch.outer(D, data.X[i, 0]))
                ahead.append(scores[best] - scores[t])
                gaps.append(float(D @ W @ data.X[i, 0]))
    E = torch.stack(E).flatten(1)
    assert torch.allclose(data.gram, E @ E.T, atol=1e-12)
    assert data.advantages.flatten().tolist() == pytest.approx(ahead, abs=1e-12)
    assert data.gaps(W).flatten().tolist() == pytest.approx(gaps, abs=1e-12)
    span = Span.of(data)
    assert torch.allclose(span.R @ span.R.T, data.gram, atol=1e-12)
    z, rest = span.coordinates(W)
    assert torch.allclose(span.R @ z, data.gaps(W).flatten(), atol=1e-12)
    assert float(W.square().sum()) == pytest.approx(float(z.square().sum()) + rest**2)
    for k, row in enumerate(span.R):
        assert torch.allclose(span.matrix(row).flatten(), E[k], atol=1e-12)


def test_a_start_in_two_factors_is_the_matrix(case):
    data = case(2, 3, 6)
    a, b = torch.randn(2, 6, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    (z, rest), (w, other) = Span.of(data).coordinates((a, b)), Span.of(data).coordinates(a @ b.T)
    assert torch.allclose(z, w, atol=1e-12)
    assert rest == pytest.approx(other)


def test_the_rank_is_that_of_independent_pairs(case):
    data = case(3, 3, 6)
    X = data.X.clone()
    X[1] = X[0]  # the same sequence twice
    twice = Instance(X, data.y.new_ones(3), data.u)
    assert Span.of(twice).R.shape == (6, 4)
    assert Span.of(data).R.shape == (6, 6)


def test_queries_that_are_not_the_first_token(case):
    vectors = torch.arange(15, dtype=torch.float64).reshape(3, 5)
    assert torch.equal(case(query=2).queries, case().X[:, 2])
    assert torch.equal(case(query=torch.tensor([0, 3, 1])).queries[1], case().X[1, 3])
    assert torch.equal(case(query=vectors).queries, vectors)


def test_equal_scores(case):
    X = torch.tensor([[[1.0, 0.3], [0.1, 5.0], [0.1, -2.0]]], dtype=torch.float64)
    u = torch.tensor([1.0, 0.0], dtype=torch.float64)
    data = Instance(X, X.new_ones(1), u)
    assert data.equal_scores()
    assert float(data.Delta) == pytest.approx(0.9)
    assert not case().equal_scores()
    assert case().equal_scores(tolerance=100.0)
    with refused("Delta", "scores as far apart as", "Assumption 2"):
        _ = case().Delta


def test_ties():
    X = torch.tensor([[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]], dtype=torch.float64)
    data = Instance(X, X.new_ones(1), torch.tensor([1.0, 0.0], dtype=torch.float64))
    with refused("opt", "1 sequences with a tie", "one largest"):
        _ = data.optimal
    nothing = Instance(X, X.new_ones(1), torch.zeros(2, dtype=torch.float64), opt=torch.tensor([2]))
    assert int(nothing.optimal) == 2
    assert all_tied(nothing).tolist() == [True]
    assert all_tied(data).tolist() == [False]


def test_a_tie_up_to_rounding_is_one():
    """0.1 + 0.2 and 0.3 differ by rounding only."""
    X = torch.tensor([[[0.1, 0.2], [0.3, 0.0], [0.0, 0.0]]], dtype=torch.float64)
    with pytest.raises(ValueError, match="tie"):
        _ = Instance(X, X.new_ones(1), X.new_ones(2)).optimal


X = torch.ones(2, 3, 4, dtype=torch.float64)
y, u = torch.ones(2, dtype=torch.float64), torch.ones(4, dtype=torch.float64)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((X[:, :1], y, u), ("X", "T = 1", "at least 2")),
        ((X, y[:1], u), ("y", "(1,)", "(2,)")),
        ((X, y, u[:3]), ("u", "(3,)", "(4,)")),
        ((X, 0 * y, u), ("y", "0.0", "+1 and −1")),
        ((X * float("nan"), y, u), ("X", "NaN", "finite")),
        ((X, y.float(), u), ("y", "float32", "float64")),
        ((X, y, u, 3), ("query", "3", "0 to T − 1")),
        ((X, y, u, True), ("query", "True", "0 to T − 1")),
        ((X, y, u, torch.tensor([0, 3])), ("query", "[0, 3]", "0 to T − 1")),
        ((X, y, u, u), ("query", "(4,)", "[n d]")),
        ((X, y, u, 0, torch.tensor([0])), ("opt", "[0]", "2 such indices")),
    ],
)
def test_what_is_no_instance(parts, said):
    refused(*said, Instance, *parts)
