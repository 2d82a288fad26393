"""Closed forms: never below what they stand for, and where they can be equal, equal."""

import math

import pytest
import torch

from shallowformer.kernel_regime.convergence import change_of_features, closed_forms, no_logs, theorem_1
from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.neighbourhood import norm_event, region

THREES, NU = (3.0, 2.0, 1.0), (1.0, 2.0, 0.5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("m", [8, 64])
def test_closed_forms_dominate_the_head_averages(m, seed):
    phi0 = parameters.symmetric(m, 5, torch.Generator().manual_seed(seed))
    R = region.longest(phi0, THREES[1])
    square = float(R.square().mean().sqrt())
    assert no_logs.turn_over_heads(R, THREES, NU) <= no_logs.turn_closed(square, m, THREES, NU)
    remainder = change_of_features.B_rem_closed(square, m, THREES, NU)
    assert change_of_features.B_rem(R, THREES, NU) <= remainder
    closed, averaged = closed_forms.sharp(5, m, 1e-9, THREES, NU), theorem_1.sharp(phi0, THREES, NU, 0.5e-9)
    for name in ("f_max", "y_max", "A", "app", "lin", "cof", "lin_average", "V0"):
        # A of theorem_1 keeps σ₀², which tanh can do without.
        assert getattr(averaged, name) <= getattr(closed, name) * (1.2 if name == "A" else 1) + 1e-12, name


def test_the_failure_is_shared():
    paper = closed_forms.paper(8, 64, 100, 0.1, THREES, NU)
    assert paper == theorem_1.paper(100, 8, 64, THREES, NU, 0.05, 0.05)
    ours = closed_forms.self_bounding(8, 64, 0.1, THREES, NU)
    R = norm_event.root_mean_square_bound(64, 8, math.log(10), 2.0)
    assert ours.square == pytest.approx((1 + 3 / 8) ** 2 * (1 + R**2))
    assert ours.V0 == 1 + 4 + 0.25


def test_theorem_a_needs_short_steps():
    ours = closed_forms.self_bounding(8, 64, 0.1, THREES, NU)
    assert ours.at(1 / ours.square, 100) == math.inf
    halfway = (ours.epsilon + math.sqrt(ours.epsilon**2 + ours.square * ours.V0 / 100)) ** 2
    assert ours.halfway(100) == pytest.approx(halfway)


def test_the_best_step_is_the_best_of_all_steps():
    ours = closed_forms.self_bounding(8, 64, 0.1, THREES, NU)
    grid = [ours.at(k / 20_000 / ours.square, 100) for k in range(1, 20_000)]
    assert ours.best(100) <= min(grid) == pytest.approx(ours.best(100), rel=1e-6)


def test_smallest_even():
    assert closed_forms.smallest_even(lambda m: m >= 7) == 8
    assert closed_forms.smallest_even(lambda m: m >= 2) == 2
    assert closed_forms.smallest_even(lambda m: m**2 >= 10**40) == 10**20
    with pytest.raises(ValueError, match="holds must be true for some even number up to 16, got none"):
        closed_forms.smallest_even(lambda m: False, 16)


def test_a_mapping_that_leads_outside_is_refused():
    with pytest.raises(ValueError, match="nu_w must be at most rho_w"):
        closed_forms.self_bounding(8, 64, 0.1, (1.0, 1.0, 1.0), (1.0, 1.0, 2.0))
