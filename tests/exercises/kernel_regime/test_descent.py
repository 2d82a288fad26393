"""A contact that is wrong is told why, and the right one passes."""

import math

import pytest
import torch

from companion.exercises.kernel_regime import descent


def first(losses, eta, rho_c):
    """The right answer."""
    length = 0.0
    for step, value in enumerate(losses, start=1):
        length += 2 * eta * float(value) ** 0.5
        if length >= rho_c:
            return step
    return None


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (lambda losses, eta, rho_c: 0, "got 0"),
        (lambda losses, eta, rho_c: None, "long enough"),
        (lambda losses, eta, rho_c: "soon", "number of steps"),
        (lambda losses, eta, rho_c: 1 / 0, "ZeroDivisionError"),
        (lambda losses, eta, rho_c: 2, "count steps"),
        (lambda losses, eta, rho_c: first(losses, eta / 2, rho_c), "a factor 2"),
        (lambda losses, eta, rho_c: first(losses, eta, rho_c) or len(losses), "the answer is None"),
        (lambda losses, eta, rho_c: 3 if len(losses) > 3 else 7, "expected 3"),
    ],
)
def test_a_wrong_contact_is_told_why(answer, word):
    feedback = descent.check_earliest_contact(answer)
    assert feedback.state == "wrong"
    assert word in feedback.told


def test_the_right_contact_passes():
    assert descent.check_earliest_contact(first).passed
    assert not descent.check_earliest_contact(3).passed


def test_a_loss_with_weights_never_grows_up_to_its_edge_and_does_beyond():
    K, w = torch.tensor([[3.0, 1.0], [1.0, 2.0]]).double(), torch.tensor([0.2, 0.9]).double()
    loss = lambda r: float(w @ r**2)
    starts = [torch.tensor([math.cos(t), math.sin(t)]).double() for t in torch.arange(0, 3.15, 0.01)]
    grows = lambda eta: max(loss(r - 2 * eta * K @ (w * r)) / loss(r) for r in starts)
    edge = descent._edge(K, w)
    assert grows(0.999 * edge) <= 1 < grows(1.01 * edge)
    assert descent._edge(K, torch.full((2,), 0.5).double()) == pytest.approx(
        2 / float(torch.linalg.eigvalsh(K)[-1])
    )


def test_the_kernel_after_a_step_by_autograd_passes():
    def kernel_after(kernel, f, eta):
        # u ± v from u² + v² and uv
        plus, minus = (kernel + 2 * f) ** 0.5, (kernel - 2 * f) ** 0.5
        w = torch.tensor([(plus + minus) / 2, (plus - minus) / 2], dtype=torch.float64, requires_grad=True)
        (w.prod() ** 2).backward()
        return (w - eta * w.grad).detach().square().sum()

    assert descent.check_kernel_after(kernel_after).passed
