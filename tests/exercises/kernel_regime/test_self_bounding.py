"""Right answers pass, as a grid and a search give them anew."""

import math

from companion.exercises.kernel_regime import self_bounding


def test_the_bound_at_the_best_step_of_a_grid_passes():
    def bound(V0, A2, H, kappa, steps):
        longest = kappa / (H * A2)
        etas = [longest * k / 2000 for k in range(1, 2000)]
        return min(V0 / (2 * eta * (kappa - eta * H * A2) * steps) for eta in etas)

    assert self_bounding.check_other_loss(bound).passed


def test_one_input_of_a_linear_model_stays_below_the_bound_for_log_cosh():
    x, eta, label, total = 0.0, 0.5, 3.0, 0.0
    for _ in range(40):
        total += math.log(math.cosh(x - label))
        x -= eta * math.tanh(x - label)
    assert total / 40 < self_bounding.other_loss(label**2, 1.0, 1.0, 1.0, 40)
