"""How gradients of a recurrence can grow."""

import math

import pytest
import torch
from scipy.optimize import minimize

from companion.theory.kernel_regime import cutoff


def searched(w, T):
    """Largest |∂h_T/∂w| found over states, any of which some inputs produce."""
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(64, T, generator=generator, dtype=torch.float64)
    largest = 0.0

    def negative(flat):
        nonlocal largest
        free = torch.from_numpy(flat).reshape(64, T).requires_grad_()
        h = torch.cat([torch.zeros(64, 1, dtype=torch.float64), torch.tanh(free)], 1)
        p = torch.zeros(64, dtype=torch.float64)
        for t in range(1, T + 1):
            p = (1 - h[:, t] ** 2) * (h[:, t - 1] + w * p)
        largest = max(largest, float(p.detach().abs().max()))
        value = -p.abs().sum()
        (slope,) = torch.autograd.grad(value, free)
        return float(value.detach()), slope.numpy().ravel()

    minimize(negative, start.numpy().ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 1000})
    return largest


@pytest.mark.parametrize(("w", "T"), [(0.4, 4), (0.9, 5), (1.0, 6), (-1.0, 4), (1.5, 5)])
def test_the_supremum_is_approached_and_not_passed(w, T):
    # From above by no more than the rounding of some dozens of operations.
    assert 1 - 1e-6 < searched(w, T) / cutoff.supremum(w, T) <= 1 + 1e-14


def test_one_step_has_no_past():
    assert cutoff.supremum(1.0, 1) == 0
    assert cutoff.supremum(1.0, 2) == 1


def test_growth_on_either_side_of_one():
    assert cutoff.supremum(0.9, 10**4) == pytest.approx(1 / (2 * (0.9 * 0.1) ** 0.5))
    assert cutoff.supremum(1.0, 10**6) / math.sqrt(10**6 / 2) == pytest.approx(1, rel=1e-4)
    assert cutoff.supremum(1.5, 200) / cutoff.supremum(1.5, 199) == pytest.approx(1.5)
    assert math.isinf(cutoff.supremum(1.5, 10**5))


@pytest.mark.parametrize(("w", "drive"), [(1.0, 0.3), (-1.0, 0.3), (1.05, 0.05), (-1.05, 2.0)])
def test_steep_states_are_reached_by_small_drives(w, drive):
    T = 400
    states = cutoff.steep_states(w, T, drive)
    x = cutoff.drives(states, w)
    assert float(x.abs().max()) <= drive * (1 + 1e-12)
    h = p = torch.zeros((), dtype=torch.float64)
    for each, state in zip(x, states, strict=True):
        before, h = h, torch.tanh(w * h + each)
        p = (1 - h**2) * (before + w * p)
        assert float(h) == pytest.approx(float(state), abs=1e-6)
    least = 0.95 * math.sqrt(T / 2) if abs(w) == 1 else 0.99 * float(states[0]) * abs(w) ** (T - 2)
    assert least <= float(p.abs()) <= cutoff.supremum(w, T)


def test_the_largest_weight():
    assert cutoff.largest_weight(0.5, 3.0, 36) == 1.0
