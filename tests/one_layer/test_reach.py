"""An attention that all units share, from a mirrored start: the first step leaves it, and what moves it then falls like α⁻², whatever the width."""

import pytest

from companion.experiments.one_layer import reach


@pytest.mark.parametrize("m", [8, 32])
def test_partners_cancel_in_the_first_step_and_part_in_the_second(m):
    move = lambda alpha, steps: reach.shared_move(alpha=alpha, m=m, steps=steps, seeds=2)
    second = move(8.0, 2)
    assert move(8.0, 1) < 1e-12 * second
    assert move(4.0, 2) / second == pytest.approx(4, rel=0.02)
    # Its gradient grows with the steps: 1 + 2 after three, less what the loss has fallen; if it stood still, 1 + 1.
    assert 2.5 < move(8.0, 3) / second < 3


def test_the_second_step_hardly_depends_on_the_width():
    # Terms of random signs would leave a quarter.
    few, many = (reach.shared_move(alpha=8.0, m=m, steps=2) for m in (8, 128))
    assert 0.7 < many / few < 1.8
