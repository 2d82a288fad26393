"""The prepared loss: students side by side, batches, logits that would overflow; its formulas are tested in test_gradients."""

import pytest
import torch
from torch import Generator

from checks import assert_agrees, refused
from shallowformer import activations, data, queries
from shallowformer.kernel_regime.model import gradients, parameters, transformer
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.students import Students


def problem(n=30, T=5, d=3, widths=(4, 8, 6), labels=None, dtype=torch.float64):
    generator = Generator().manual_seed(n)
    X = data.clipped_gaussian(n, T, d, generator, dtype)
    y = torch.randn((n,) if labels is None else (n, labels), generator=generator, dtype=dtype)
    return X, y, [parameters.random(m, d, generator, dtype) for m in widths]


def by_autograd(X, y, phi, query=queries.last_token, sigma=activations.TANH):
    blocks = [block.clone().requires_grad_() for block in phi.blocks]
    loss = (transformer.f(X, parameters.Parameters(*blocks), query, sigma) - y).square().mean()
    return loss.detach(), torch.autograd.grad(loss, blocks)


def assert_same(found, gradient, expected, logit=10.0):
    loss, blocks = expected
    assert_agrees(found, loss, logit)
    for actual, wanted in zip(gradient.blocks, blocks, strict=True):
        assert_agrees(actual, wanted, logit)


def test_students_side_by_side_come_apart_again():
    _, _, students = problem()
    back = Students.of(*students).apart()
    assert all(
        a.equal(b)
        for x, y in zip(students, back, strict=True)
        for a, b in zip(x.blocks, y.blocks, strict=True)
    )


def test_students_apart_share_no_memory_with_those_side_by_side():
    _, _, students = problem()
    together = Students.of(*students)
    copy = together.apart()[1]
    together.U.zero_()
    assert copy.U.equal(students[1].U)


@pytest.mark.parametrize("labels", [None, 1, 3])
@pytest.mark.parametrize("sigma", activations.ALL, ids=lambda sigma: sigma.name)
def test_students_side_by_side_are_as_alone(labels, sigma):
    X, y, students = problem(labels=labels)
    loss = Loss(X, y, sigma=sigma, chunk=7)
    losses, gradient = loss.losses_and_gradient(Students.of(*students))
    assert_agrees(loss.losses(Students.of(*students)), losses, 10)
    columns = y.reshape(len(X), -1).expand(-1, 3)
    for k, (student, slope) in enumerate(zip(students, gradient.apart(), strict=True)):
        assert_same(losses[k], slope, by_autograd(X, columns[:, k], student, sigma=sigma))


@pytest.mark.parametrize("query", [queries.last_token, queries.seeded(3, 1)])
def test_a_batch_counts_repeated_samples_as_often_as_drawn(query):
    X, y, (student, *_) = problem()
    rows = torch.tensor([3, 3, 17, 0, 3])
    losses, gradient = Loss(X, y, query, chunk=2).losses_and_gradient(Students.of(student), rows)
    assert_same(losses[0], gradient.apart()[0], by_autograd(X[rows], y[rows], student, query))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_logits_that_would_overflow_do_not(dtype):
    X, y, (student, *_) = problem(dtype=dtype)
    huge = parameters.Parameters(student.c, student.U, 1e4 * student.W)
    loss, gradient = Loss(X, y)(huge)
    assert torch.isfinite(loss)
    assert all(torch.isfinite(block).all() for block in gradient.blocks)
    expected = by_autograd(X, y, huge)
    # In float32 logits of size 10⁴ carry errors of 10⁻³, which their weights inherit.
    assert_same(loss, gradient, expected, logit=1e5)


def test_both_sides_of_the_limit_agree():
    X, y, (student, *_) = problem()
    loss = Loss(X, y)
    first = loss(student)
    loss._torch._limit = 0.0
    second = loss(student)
    assert_same(second[0], second[1], (first[0], first[1].blocks))


def test_outputs_are_the_model():
    X, y, students = problem()
    found = Loss(X, y, chunk=4).outputs(Students.of(*students))
    for k, student in enumerate(students):
        assert_agrees(found[:, k], transformer.f(X, student), 10)


def test_a_second_evaluation_is_the_first_bit_for_bit():
    X, y, students = problem()
    loss, together = Loss(X, y, chunk=7), Students.of(*students)
    first, second = (loss.losses_and_gradient(together) for _ in range(2))
    assert first[0].equal(second[0])
    assert all(a.equal(b) for a, b in zip(first[1].blocks, second[1].blocks, strict=True))


def test_one_evaluation_is_the_prepared_one():
    X, y, (student, *_) = problem()
    one, many = gradients.loss_and_gradient(X, y, student), Loss(X, y)(student)
    assert one[0].equal(many[0])
    assert one[1].W.equal(many[1].W)


def test_students_that_do_not_fit_are_refused():
    X, y, students = problem()
    refused("students", "none", "at least one", Students.of)
    with refused("students", "2", "d = 3"):
        Students.of(students[0], parameters.random(4, 2, Generator().manual_seed(0)))
    refused("students", "2", "d = 3", Loss(X, y), parameters.random(4, 2, Generator().manual_seed(0)))
    with refused("students", "3", "2, as y has columns"):
        Loss(X, y[:, None].expand(-1, 2)).losses_and_gradient(Students.of(*students))
    refused("students", "torch.float32", "torch.float64", Loss(X, y), students[0].map(torch.Tensor.float))
    refused("y", "(29, 2)", "(30, 2)", Loss, X, y[:29, None].expand(-1, 2))
