"""What the kernel regime says of a run: what is proved holds, forecasts come to lazy runs, α is small labels; and where it is silent."""

from dataclasses import replace

import pytest
import torch

from companion.theory.one_layer import kernel, tangent
from companion.theory.one_layer.dials import Dials, problem
from companion.theory.one_layer.run import run


def made(seed=0, alpha=32.0, world="layer", **changes):
    given = {"m": 8, "n": 4, "T": 3, "d": 2, "step": 0.5, "steps": 16}
    return problem(Dials(world, "gaussian", seed, alpha=alpha, **given | changes))


def ends(posed):
    """Low and high of each voice."""
    return torch.stack([torch.stack([said.low, said.high]) for said in kernel.predict(posed)])


@pytest.mark.parametrize("seed", range(2))
def test_what_is_said_at_home_holds_and_forecasts_come_to_lazy_runs(seed):
    off = []
    for alpha in (32.0, 64.0):
        posed = made(seed, alpha)
        truth, said = run(posed), kernel.predict(posed)
        assert [each.voice for each in said] == ["theorem", "forecast"]
        assert all(each.holds(truth).all() and each.speaks().all() for each in said)
        off.append(float((said[1].high - truth)[1:].abs().max()))
    # At a mirrored start outputs are odd in the labels y/α, so that errors are even.
    assert 3.9 < off[0] / off[1] < 4.1


def test_outputs_times_alpha_are_labels_over_alpha_with_the_step_times_its_square():
    posed = made()
    alpha, one = posed.switches.alpha, replace(posed.switches, alpha=1.0)
    for power, same in ((2, True), (1, False)):
        other = ends(replace(posed, y=posed.y / alpha, eta=alpha**power * posed.eta, switches=one))
        assert (((ends(posed) - other).abs().amax((1, 2)) < 1e-9) == same).all()


def test_readouts_alone_are_forecast_to_the_last_digit():
    posed = made(world="readout")
    torch.testing.assert_close(ends(posed)[0], run(posed).expand(2, -1), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rule", ["plain", "normalised"])
def test_between_two_checkpoints_a_kernel_is_that_of_the_middle_of_each_step(rule):
    G, H = (tangent.gram(made(seed, 1.0)) for seed in (0, 1))
    posed = made(world="classifier")
    posed = replace(posed, eta=0.1, switches=replace(posed.switches, rule=rule))
    F, F0, at = torch.zeros_like(posed.y), torch.zeros_like(posed.y), (0, 4, 16)
    moving = torch.stack([G + t * H for t in at])
    for t in range(16):
        slope = -posed.y * torch.exp(-posed.y * F) / 4
        change = (G + (t + 0.5) * H) @ slope
        F = F - 0.1 * change / (1 if rule == "plain" else (slope * change).sum().sqrt())
    torch.testing.assert_close(tangent.output_run(posed, moving, F0, at)[0][-1], F, rtol=1e-10, atol=1e-12)
    still, w = tangent.output_run(posed, G.expand(3, -1, -1), F0, at)
    torch.testing.assert_close(still[-1][:, 0], G @ w[-1], rtol=1e-10, atol=1e-12)


def test_a_point_that_is_moved_has_the_tangent_s_outputs_to_first_order():
    posed = made(skip=0.5)
    J = tangent.jacobian(posed)
    delta = 1e-5 * torch.randn(J.shape[1], generator=torch.Generator().manual_seed(0)).double()
    moved = posed.outputs(tangent.moved(posed, delta))[:, 0]
    torch.testing.assert_close(moved, J @ delta, rtol=1e-3, atol=1e-8)


def test_silent_beyond_its_hypotheses():
    posed = made()
    other = lambda **change: replace(posed, switches=replace(posed.switches, **change))
    for change in ({"activation": "identity"}, {"skip": 0.5}, {"trained": "CU"}, {"rule": "normalised"}):
        assert kernel.theorem(other(**change)) == []
    assert kernel.theorem(replace(posed, X=10 * posed.X)) == []
    assert kernel.predict(other(rule="preconditioned")) == []
