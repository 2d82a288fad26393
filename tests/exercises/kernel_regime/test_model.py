"""Pairs of any kind are judged."""

import pytest
import torch

from companion.exercises.kernel_regime import model


def test_a_pair_may_be_a_list():
    assert model.check_merge(lambda Q, K, V, u, beta: [V.T @ u, beta * K.T @ Q]).passed


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (lambda Q, K, V, u, beta: V.T @ u, "must return the pair"),
        (lambda Q, K, V, u, beta: (K.T @ Q, V.T @ u), "must have shape"),
    ],
)
def test_what_is_no_head_is_refused(pair, reason):
    assert reason in model.check_merge(pair).told


def test_a_sequence_of_another_length_is_refused():
    assert "expected shape (6, 3), got (3, 3)" in model.check_pad(lambda X, k: X).told


def test_classes_counted_by_what_heads_say_pass():
    """Outputs of a few random heads on all words of three random tokens, rounded."""
    draw = torch.Generator().manual_seed(0)
    tokens = torch.randn(3, 2, generator=draw, dtype=torch.float64)
    X = tokens[torch.cartesian_prod(*[torch.arange(3)] * 6)]
    W = torch.randn(8, 2, 2, generator=draw, dtype=torch.float64)
    logits = torch.einsum("ntd,hde,ne->nht", X, W, X[:, -1])
    a = torch.softmax(logits, -1) @ X
    classes = len({tuple(row) for row in (a.flatten(1) * 1e7).round().long().tolist()})
    assert model.check_told_apart(classes).passed
