"""Counting the entries of what a computation makes."""

import torch

from shallowformer.exercises.feedback import Feedback
from shallowformer.exercises.memory import largest_tensor, without_matrix

X, U = torch.ones(3, 50), torch.ones(50)


def test_what_is_made_counts_and_views_do_not():
    assert largest_tensor(lambda a: a[:, None] * a, U) == 50 * 50
    assert largest_tensor(lambda a: a.expand(1000, 50).T[:2], U) == 0
    assert largest_tensor(lambda a, b: a.T @ (a @ b), X, U) == 50


def test_only_what_is_right_is_judged_by_its_memory():
    passed, wrong = Feedback("ex", "passed", ""), Feedback("ex", "wrong", "no")
    matrix, lean = (lambda X, U: (X.T @ X) @ U), (lambda X, U: X.T @ (X @ U))
    assert without_matrix(passed, lean, (X, U), "instead") is passed
    assert without_matrix(wrong, matrix, (X, U), "instead") is wrong
    assert without_matrix(passed, matrix, (X, U), "instead").message == (
        "right, but for d = 50 you make a tensor of d² entries: instead"
    )
