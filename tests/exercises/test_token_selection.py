"""Exercises of the room token_selection, chapter by chapter: right answers pass, other routes to them too; others are told why they are not."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import brentq

from companion.exercises.token_selection import (
    bridge,
    every_step,
    how_fast,
    joint,
    margins,
    real_tokens,
    selection,
    sparse,
)
from shallowformer.token_selection import svm
from shallowformer.token_selection.batches import shortest


def one_by_one(X, y, c, U):
    """By the outputs themselves, head by head and token by token."""
    found = torch.zeros(len(X), len(c), dtype=torch.long)
    for j, tokens in enumerate(X):
        for i in range(len(c)):
            found[j, i] = max(
                range(len(tokens)), key=lambda t: float(y[j] * c[i] * torch.tanh(U[i] @ tokens[t] / 10))
            )
    return found


def test_own_tokens_by_the_outputs_of_heads_are_right():
    assert bridge.check_own_tokens(one_by_one).passed


def test_the_decoder_solves_the_law():
    gained = lambda u: u**2 / 8 - (9 + math.log(9)) + (1 / 3 + math.log(1 / 3))
    assert bridge.check_decoder(brentq(gained, 1, 100)).passed


def test_the_limit_is_that_of_a_run():
    assert bridge.check_slow(2.0).passed
    assert not bridge.check_slow(1.9).passed


def test_a_pull_by_the_logarithm_of_one_plus_an_exponential_is_right():
    softplus = lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x)))
    assert every_step.check_log_pull(lambda h: -softplus(h) - softplus(-h)).passed


def test_a_pull_that_underflows_is_told():
    sigma = lambda x: 1 / (1 + math.exp(-x)) if x > -700 else 0.0
    feedback = every_step.check_log_pull(lambda h: math.log(sigma(h) * sigma(-h)))
    assert feedback.state == "wrong"
    assert "h = 1000" in feedback.told


def test_overlap_and_copies_are_those_of_their_formulas():
    assert every_step.check_overlap(180 - math.degrees(math.acos(2 / 3))).passed
    assert every_step.check_copies(next(r for r in range(1, 20) if math.e / r <= 1 / 3)).passed


def test_the_unrounded_number_of_copies_and_its_neighbours_are_told_apart():
    assert "r is whole" in every_step.check_copies(3 * math.e).told
    assert "runs show" in every_step.check_copies(5).told
    assert every_step.check_copies(10).state == "wrong"


def test_the_smaller_length_and_its_square_are_told_apart():
    assert "not the length" in every_step.check_overlap(math.degrees(math.acos(-1 / 3))).told
    assert "smaller squared length" in every_step.check_overlap(180).told


def by_chord(W, best):
    """1 − cos = ½‖difference of the unit matrices‖², without cancellation in the difference's direction."""
    along = (W * best).sum() / best.norm() ** 2
    tangent = (W - along * best).norm() / (along * best.norm())
    return float(2 * torch.sin(torch.atan(tangent) / 2) ** 2)


def test_another_formula_for_the_angle_is_right():
    assert how_fast.check_angle(by_chord).passed


def test_momentum_and_decay_are_those_of_sums():
    beta, v = 0.9, 0.0
    for _ in range(500):
        v = beta * v + 1
    assert how_fast.check_momentum(v**2).passed
    sums = [sum((t + 1) ** -0.5 for t in range(steps)) for steps in (10_000, 1_000_000)]
    assert abs(-2 * math.log(sums[1] / sums[0]) / math.log(100) + 1) < 0.01
    assert how_fast.check_decay(0.5).passed


def test_no_hint_says_what_is_not_so():
    """1 − corr falls like t^{−2(1 − p)}: the exponents that the hints name."""
    for p, said in ((0.25, "t^{−3/2}"), (2 / 3, "t^{−2/3}")):
        assert said in how_fast.check_decay(p).told
    assert "fell like 1/S_t" in how_fast.check_decay(0.0).told


def test_a_step_of_the_decoder_in_another_form():
    def by_losses(Z, margins, s):
        total = sum(torch.exp(margins.min() - m) * z for z, m in zip(Z, margins, strict=True))
        return s * total / total.norm()

    assert joint.check_decoder_half(by_losses).passed


def test_the_norm_of_rows_in_another_form_is_right():
    by_rows = lambda G: torch.nn.functional.normalize(G, dim=1)
    assert margins.check_steepest_rows(by_rows).passed


def test_the_pace_is_that_of_a_long_run():
    m, v, g = 0.0, 0.0, 1.0
    for _ in range(5000):
        g *= math.exp(-0.004)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g**2
    assert margins.check_pace(m / math.sqrt(v)).passed
    assert "was larger before" in margins.check_pace(margins.pace(-0.004, 0.9, 0.99)).told


def test_large_margins_must_not_underflow():
    def naive(Z, margins, s):
        total = torch.exp(-margins) @ Z
        return s * total / total.norm()

    feedback = joint.check_decoder_half(naive)
    assert feedback.state == "wrong"
    assert "margins of 1000" in feedback.told
    assert "divide them by the largest" in feedback.told


def test_a_norm_that_is_kept_from_zero_does_not_help():
    def padded(Z, margins, s):
        total = torch.exp(-margins) @ Z
        return s * total / (total.norm() + 1e-12)

    assert "divide them by the largest" in joint.check_decoder_half(padded).told


@pytest.mark.parametrize(
    ("sign", "outer", "word"), [(1, 1, "sign in the exponent"), (-1, -1, "along the attended tokens")]
)
def test_two_mistakes_at_once_are_both_named(sign, outer, word):
    def naive(Z, margins, s):
        total = torch.exp(sign * margins) @ Z
        return outer * s * total / total.norm()

    message = joint.check_decoder_half(naive).told
    assert word in message
    assert "largest" in message


@pytest.mark.parametrize("losses", [lambda m: torch.exp(-m), lambda m: torch.softmax(-m, 0)])
def test_the_square_of_the_norm(losses):
    def squared(Z, margins, s):
        total = losses(margins) @ Z
        return s * total / total.square().sum()

    assert "not by its square" in joint.check_decoder_half(squared).told


@pytest.mark.parametrize("answer", [43.88, 32.91 * 4 / 3, 44])
def test_the_careful_and_the_rounded_number(answer):
    assert joint.check_power(answer).passed
    assert not joint.check_power(43.5).passed


@pytest.mark.parametrize(
    ("check", "right", "other", "word"),
    [(joint.check_first, 0.2, 0.33, "sign"), (joint.check_power, 44, 50, "multiple")],
)
def test_numbers(check, right, other, word):
    assert check(right).passed
    feedback = check(other)
    assert feedback.state == "wrong"
    assert word in feedback.told


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


def by_matrix(phi, gamma):
    return (torch.diag(phi) - torch.outer(phi, phi)) @ gamma


def test_a_pull_by_the_explicit_matrix_is_right():
    assert selection.check_pull(by_matrix).passed


def test_the_support_s_size_and_the_aligned_bound_are_those_of_a_matrix():
    G = torch.tensor([[9.0, 4.0], [4.0, 2.0]], dtype=torch.float64)
    lam = torch.tensor([0.0, 0.5], dtype=torch.float64)
    assert bool((G @ lam >= 1).all())
    assert selection.check_support(float(lam.sum())).passed
    c = 3**0.5 / 2
    assert abs(c - (2**2 - 1) ** 0.5 * (1 - c**2) ** 0.5) < 1e-12
    assert selection.check_aligned(1 - c).passed


def test_no_matrix_has_a_smaller_gap_than_the_exercise_says():
    generator = torch.Generator().manual_seed(0)
    E = torch.randn(20000, 2, 3, generator=generator, dtype=torch.float64)
    E[..., 0] = E[..., 0].abs() + 0.1  # both gaps positive at the first axis: a solution exists
    G = E @ E.mT
    lam = shortest(G)
    W = (lam[..., None] * E).sum(1)
    b, size = E.norm(dim=2).amax(1), W.norm(dim=1)
    V = torch.nn.functional.normalize(torch.randn(W.shape, generator=generator, dtype=W.dtype), dim=1)
    c = (V * W).sum(1) / size
    lowest = (E * V[:, None]).sum(2).amin(1)
    bound = c / size - (1 - c**2).sqrt() * (b**2 - size**-2).clamp(min=0).sqrt()
    assert bool((lowest >= bound - 1e-9)[c >= 0].all())
    assert bool((lowest < bound - 1e-3)[c < 0].any())  # c ≥ 0 is needed


def test_a_library_s_logarithms_are_right():
    sums = lambda h: torch.logsumexp(-torch.tensor(h, dtype=torch.float64), 0)
    assert sparse.check_log_off(lambda h: torch.nn.functional.logsigmoid(sums(h))).passed


def test_the_break_and_the_entropy_are_those_of_float32_and_of_e():
    gap = np.float32(0.02) * np.arange(2000, dtype=np.float32)
    first = int(np.argmax(1 / (1 + np.exp(-gap)) == 1))
    assert sparse.check_break(first).passed
    assert sparse.check_entropy(math.e).passed


def test_a_logarithm_of_zero_gets_the_hint_that_1_minus_phi_cancels():
    weight = lambda h: 1 / (1 + sum(math.exp(-each) for each in h))
    raises = lambda h: math.log(1 - weight(h))
    infinite = lambda h: torch.log(torch.tensor(1 - weight(h), dtype=torch.float64))
    for naive in (raises, infinite):
        feedback = sparse.check_log_off(naive)
        assert feedback.state == "wrong"
        assert "cancels" in feedback.told


def test_a_step_between_two_steps_is_told_to_be_whole():
    assert "whole" in sparse.check_break(831.8).told
