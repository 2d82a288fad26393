"""What the theory of token selection says of a run: where it is silent, what is proved, what a planted mistake does, a case in closed form."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from companion.theory.one_layer import ray, selected, selection, sides
from companion.theory.one_layer.dials import Dials, problem
from companion.theory.one_layer.problem import checkpoints
from companion.theory.one_layer.run import run

#: World, sequences, tokens, dimension, noise, α, step, skip.
SPREAD = (
    ("attention", 1, 2, 8, 1.0, 1.0, 0.5, 0.0),
    ("attention", 4, 4, 8, 0.5, 2.0, 0.1, 0.0),
    ("attention", 8, 2, 32, 1.0, 4.0, 0.5, 0.5),
    ("attention", 4, 2, 64, 2.0, 2.0, 1.0, 0.0),
    ("normalised", 1, 3, 8, 0.3, 2.0, 0.1, 0.7),
    ("normalised", 4, 4, 8, 1.0, 0.5, 1.0, 0.0),
    ("normalised", 8, 2, 32, 1.0, 4.0, 0.05, 0.0),
    ("normalised", 2, 4, 64, 2.0, 2.0, 0.1, 0.0),
)


def posed(world, n, T, d, noise, alpha, step, skip, seed=0, moved=0.0):
    """A problem of the world, its step in its own unit; in closed form, as automatic differentiation takes seconds to load."""
    dials = Dials(
        "normalised", "selection", seed, 1, n, T, d, alpha, noise=noise, skip=skip, step=step, steps=64
    )
    made = problem(dials)
    if world == "attention":
        scores = alpha * made.X @ made.start["U"][0]
        slope = ((scores - scores.mean(1, keepdim=True))[..., None] * made.X).mean(1)
        kernel = slope @ slope.T * (made.q @ made.q.T)
        eta = step * n / float(torch.linalg.eigvalsh(kernel)[-1])
        made = replace(made, eta=eta, switches=replace(made.switches, rule="plain"))
    start = moved * torch.randn(1, d, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return replace(made, start=made.start | {"W": start})


@pytest.mark.parametrize("number", range(len(SPREAD)))
@pytest.mark.usefixtures("long")
def test_what_is_proved_holds(number):
    made = posed(*SPREAD[number], seed=number, moved=0.3 * (number % 3))
    said = selection.predict(made)[0]
    assert said.voice == "theorem"
    assert said.holds(run(made)).all()


def test_silent_where_another_layer_is_meant():
    made = posed(*SPREAD[1])
    for change in (
        {"activation": "tanh"},
        {"loss": "squared"},
        {"trained": "UW"},
        {"trained": "C"},
        {"rule": "preconditioned"},
    ):
        assert selection.predict(replace(made, switches=replace(made.switches, **change))) == []


def test_silent_where_scores_differ_and_where_nothing_selects():
    made = posed(*SPREAD[1])
    noisy = made.X + 0.1 * torch.randn(made.X.shape, generator=torch.Generator().manual_seed(0)).double()
    assert selection.predict(replace(made, X=noisy)) == []
    # One query and the same tokens for two samples of different labels: they want opposite things.
    plane = torch.eye(2, dtype=torch.float64)
    torn = replace(
        made,
        X=plane.expand(2, 2, 2),
        q=plane[:1].expand(2, 2),
        y=torch.tensor([[1.0], [-1.0]], dtype=torch.float64),
        start={
            "C": plane[:1, :1],
            "U": torch.tensor([[1.0, -1.0]]).double(),
            "W": torch.zeros(1, 2, 2).double(),
        },
    )
    assert selection.predict(torn) == []


def test_units_and_skip_change_scores_only():
    """Two units with weights make one decoder, and the skip adds a number to all scores of a sequence."""
    made = posed(*SPREAD[2])
    v = made.start["U"]
    split = {"C": torch.tensor([[2.0], [-1.0]]).double(), "U": math.sqrt(2) * torch.cat([v, v])}
    first, second = selection.predict(made), selection.predict(replace(made, start=made.start | split))
    for one, other in zip(first, second, strict=True):
        assert torch.allclose(one.low, other.low, atol=1e-9)
        assert torch.allclose(one.high, other.high, atol=1e-9)


@pytest.mark.parametrize("world", ["attention", "normalised"])
def test_a_norm_of_half_the_size_is_noticed(world, monkeypatch):
    """‖W_mm‖ is what the upper side's rate divides by: at half of it the loss would fall too fast."""
    made = posed(world, 1, 2, 8, 1.0, 2.0, 0.1, 0.0)
    truth = run(made)
    here = selected.selection(made)
    steps = tuple(checkpoints(made.steps))
    assert (sides.theorem(here, steps)[1] >= truth.numpy() - 1e-9).all()
    object.__setattr__(here, "norm", here.best.norm / 2)
    assert (sides.theorem(here, steps)[1] < truth.numpy() - 1e-6).any()


def test_a_path_of_half_the_length_is_noticed():
    made = posed("normalised", 1, 2, 8, 1.0, 2.0, 0.1, 0.0)
    here, truth = selected.selection(made), run(made).numpy()
    path = made.eta * np.array(checkpoints(made.steps))
    low = lambda factor: here.c.sum() + np.array([sides._ball(here, factor * S, np.ones(1)) for S in path])
    assert (low(1.0) <= truth + 1e-9).all()
    assert (low(0.5) > truth + 1e-6).any()


def test_one_pair_is_forecast_in_closed_form():
    """One gap: normalised descent moves it by η‖E‖ a step, and the ray is the run."""
    made = posed("normalised", 1, 2, 8, 1.0, 2.0, 0.05, 0.0)
    here = selected.selection(made)
    steps = tuple(checkpoints(made.steps))
    h = made.eta * here.E[0] * np.array(steps)
    low, high = ray.forecast(here, steps)[1:]
    p = 1 / (1 + np.exp(h))
    x = np.exp(-2.0) * np.expm1(2 * p)
    law = np.exp(-2.0) * np.expm1(1) * np.exp(-h)
    assert np.allclose(low, np.exp(-2.0) + np.minimum(law, x * (1 - p)), atol=1e-9)
    assert np.allclose(high, np.exp(-2.0) + np.maximum(law, x * (1 + p)), atol=1e-9)


def test_tangents_lie_below():
    made = posed(*SPREAD[2])
    here = selected.selection(made)
    for top in (-3.0, 0.0, 3.0, 40.0):
        touch = sides.tangents(here, np.full(8, top))
        for g in np.linspace(-20, top, 300):
            s = selected.sigmoid(touch)
            line = here.excess(s) + here.weight(s) * (g - touch)
            below = np.where(g <= touch, 0, here.excess(selected.sigmoid(np.full(8, g))) - line)
            assert below.min() >= -1e-12


@pytest.mark.parametrize("gap", [-1e6, -800.0, -37.0, -36.25, 800.0, 1e6])
@pytest.mark.filterwarnings("error")
def test_attention_that_is_saturated_either_way_is_covered(gap):
    """On the ray of W_mm at this smallest gap p is 0 or 1, to the last digits or nearly."""
    for world in ("attention", "normalised"):
        made = posed(world, 4, 2, 8, 0.5, 2.0, 0.1, 0.0, seed=2)
        here = selected.selection(made)
        line = here.best.span.matrix(here.best.z)[None, :-1, :-1] / float(
            (here.R @ here.best.z.numpy()).min()
        )
        made = replace(made, start=made.start | {"W": gap * line})
        truth = run(made)
        for said in selection.predict(made):
            assert not (said.low.isnan() | said.high.isnan()).any()
            assert said.voice == "forecast" or said.holds(truth).all()
