"""Floor and barrier against an adversary who pushes towards the saddle by δ at every step."""

import pytest
import torch

from checks import refused
from companion.theory.preconditioned import biased
from shallowformer.preconditioned import bounds, factorisation

S = torch.tensor([2.0, 0.7], dtype=torch.float64)


def pushed(f0, delta, eta, steps):
    """What f is after so many steps from the optimum with only s_d off, towards the saddle, and δ added in that direction."""
    x = (2 * float(S[-1]) - 2 * (2 * f0) ** 0.5) ** 0.5
    for _ in range(steps):
        x -= eta * ((x**2 - 2 * float(S[-1])) * x / 2 + delta)
        x = max(x, 0.0)
    U = (torch.tensor([2 * float(S[0]), x**2], dtype=torch.float64) / 2).sqrt().diag()
    return float(factorisation.value(U, U, S.diag()))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.25])
def test_floor_and_barrier_are_exact(share):
    delta = (share * 0.7**3) ** 0.5
    floor, barrier = biased.floor_and_barrier(S, delta)
    for f in (floor, barrier):
        assert bounds.pl_constant(S, f) * f == pytest.approx(delta**2)
    eta = bounds.step(S, barrier)
    assert pushed(0.99 * barrier, delta, eta, 3000) == pytest.approx(floor)
    assert pushed(1.01 * barrier, delta, eta, 3000) == pytest.approx(bounds.saddle_free(S))


def test_ends():
    assert biased.floor_and_barrier(S, 0.0) == pytest.approx((0.0, bounds.saddle_free(S)))
    floor, barrier = biased.floor_and_barrier(S, biased.most_bias(S))
    assert floor == pytest.approx(barrier, rel=1e-6)
    assert floor == pytest.approx(2 / 9 * 0.49, rel=1e-6)


def test_in_the_basin():
    delta = (0.7**3 / 4) ** 0.5
    bound = biased.in_the_basin(S, bounds.step(S), delta)
    floor, _ = biased.floor_and_barrier(S, delta)
    assert floor == pytest.approx(bound.floor) == pytest.approx(bound.most_f0)
    assert bound.contraction == pytest.approx(1 - 0.7 / (4 + 1.05))
    assert bound.at(3, 0.01) == pytest.approx(bound.contraction**3 * 0.01 + bound.floor)


def test_refused():
    refused("eta", "1", "its limit", biased.in_the_basin, S, 1.0, 0.0)
    refused("delta", "1", "its limit", biased.in_the_basin, S, 0.01, 1.0)
    refused("delta", "1", "most_bias", biased.floor_and_barrier, S, 1.0)
    refused("f0", "1", "most_f0", biased.in_the_basin(S, 0.01, 0.0).at, 3, 1.0)
