"""What is seen while a function is evaluated: comparisons without an answer, and how much rounding moves a value."""

import math

import pytest
import torch

from shallowformer.verify import watched

X = torch.tensor([1.0, math.inf, math.nan])
SAME = X.clone()


@pytest.mark.parametrize(
    ("compare", "unanswered"),
    [
        (lambda: X < SAME, 2),
        (lambda: X == SAME, 1),
        (lambda: torch.ge(input=X, other=SAME), 2),
        (lambda: X.clone().gt_(SAME), 2),
        (lambda: X > 0.5, 1),
        (lambda: math.nan > X, 3),
        (lambda: X != X, 0),
        (lambda: X[:2] < math.inf, 0),
        (lambda: X[:2] < -SAME[:2], 0),
        (lambda: torch.vmap(lambda row: (row > 0.5).sum())(torch.stack([X, X])), 2),
        (lambda: torch.vmap(lambda row, other: row < other, (0, None))(torch.stack([X, X]), SAME), 4),
    ],
)
def test_comparisons_without_an_answer_are_counted(compare, unanswered):
    """However they are called; a question for NaN or infinity has an answer."""
    with watched.Comparing() as compared:
        compare()
    assert compared.unanswered == unanswered


def test_other_roundings_beyond_the_edge_of_a_domain_say_nothing():
    one = {"x": torch.ones(1, 1, dtype=torch.float64)}
    assert watched.least(lambda x: 2 + (1 - x[:, 0] ** 2).sqrt(), one) > 1.99
    assert watched.least(lambda x: (1 - x[:, 0] ** 2).sqrt() * math.nan, one) == math.inf


def test_what_counts_is_shaken_too():
    assert (
        watched.least(lambda x: (x > 0).sum(-1, dtype=x.dtype), {"x": torch.ones(1, 3, dtype=torch.float64)})
        > 2.99
    )
