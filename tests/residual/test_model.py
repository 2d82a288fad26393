"""The forward pass against loops over tokens; networks side by side; a coefficient is a scale; what is refused."""

import math

import pytest
import torch

import reference_residual as naive
from checks import assert_agrees, refused
from companion.theory.residual import scale
from shallowformer.residual import gradients, model, starts
from shallowformer.residual.parameters import BLOCKS, Parameters, PerBlock, Setting
from shallowformer.residual.smoothed import RELU, SmoothedReLU

SIZES = [(2, 3, 4, 2, 5, 2), (1, 1, 1, 1, 1, 1), (3, 1, 2, 3, 4, 2), (1, 4, 3, 1, 2, 3)]


@pytest.mark.parametrize("tau", [0.0, 0.3])
@pytest.mark.parametrize(("g", "g_f"), [(1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (1.5, 0.5)])
@pytest.mark.parametrize("sizes", SIZES)
def test_every_quantity_by_loops(case, sizes, g, g_f, tau):
    one = case(*sizes, g=g, g_f=g_f, tau=tau)
    now = model.forward(*one.model)
    temperature = math.sqrt(sizes[3])
    for p, X in enumerate(one.X.tolist()):
        tokens = naive.forward(X, [W.tolist() for W in one.theta], g, g_f, tau, temperature)
        for name, letter in (("S", "s"), ("Z", "z"), ("pre", "pre"), ("A", "a"), ("H", "h"), ("F", "f")):
            assert_agrees(getattr(now, name)[p], [token[letter] for token in tokens], logit=10)
    expected = naive.loss(
        one.X.tolist(), one.Y.tolist(), [W.tolist() for W in one.theta], g, g_f, tau, temperature
    )
    assert float(model.loss(*one.all)) == pytest.approx(expected, rel=1e-12)


def test_the_temperature(case):
    cold, usual = case(temperature=0.7), case()
    tokens = naive.forward(cold.X[0].tolist(), [W.tolist() for W in cold.theta], 1.0, 1.0, 0.3, 0.7)
    assert_agrees(model.outputs(*cold.model)[0], [token["f"] for token in tokens], logit=10)
    assert usual.setting.divisor(usual.theta) == 2
    assert not torch.allclose(model.outputs(*cold.model), model.outputs(*usual.model))


def test_networks_side_by_side(case):
    several = [case(seed=seed, g=g) for seed, g in enumerate((0.0, 0.5, 1.0))]
    setting = Setting(torch.tensor([0.0, 0.5, 1.0]).double(), 1.0, SmoothedReLU(0.3))
    X, theta = torch.stack([one.X for one in several]), starts.side_by_side([one.theta for one in several])
    together = model.forward(X, theta, setting)
    for i, one in enumerate(several):
        alone = model.forward(*one.model)
        for name in model.Forward.__dataclass_fields__:
            assert_agrees(getattr(together, name)[i], getattr(alone, name))
    losses = model.loss(X, torch.stack([one.Y for one in several]), theta, setting)
    assert_agrees(losses, [float(model.loss(*one.all)) for one in several])


def test_attention_ignores_what_softmax_ignores(case):
    """Saturated logits: every token attends to one token only, and nothing is NaN."""
    one = case(scales={"W_Q": 1e3, "W_K": 1e3})
    now = model.forward(*one.model)
    assert torch.allclose(now.S.amax(-1), torch.ones(2, 3).double())
    assert bool(torch.isfinite(now.F).all())


@pytest.mark.parametrize("name", BLOCKS)
def test_a_wrong_block_is_refused(case, name):
    one = case()
    W = getattr(one.theta, name)
    # The columns of W_Q, W_1 and W_U decide about sizes; then it is their rows, or another block, that does not fit.
    with refused(name, str(tuple(W[1:].shape)), "must have shape"):
        model.forward(one.X, one.theta._replace(**{name: W[1:]}), one.setting)
    with refused(name, "1 entries that are NaN", "finite"):
        model.forward(one.X, one.theta._replace(**{name: W.clone().index_put_((torch.tensor(0),) * 2, torch.tensor(math.nan).double())}), one.setting)  # fmt: skip
    with refused(name, "torch.float32", "dtype"):
        model.forward(one.X, one.theta._replace(**{name: W.float()}), one.setting)


def test_what_else_is_refused(case):
    one = case()
    refused("X", "(3, 5)", "P N d", model.forward, one.X[0], one.theta, one.setting)
    refused("Y", "(2, 3, 1)", "(2, 3, 2)", model.loss, one.X, one.Y[..., :1], one.theta, one.setting)
    refused("theta", "tuple", "Parameters", model.forward, one.X, tuple(one.theta), one.setting)
    refused("g", "(2,)", "one a network", model.forward, one.X, one.theta, Setting(torch.ones(2).double()))
    for name in ("g", "g_f"):
        for wrong in (-0.5, math.nan, math.inf):
            refused(name, repr(wrong), "at least 0", Setting, **{name: wrong})
    refused("g", "-1", "at least 0", Setting, torch.tensor([1.0, -1.0]))


# Starts ---------------------------------------------------------------------------------------------------------------


def test_the_variance_is_one_over_fan_in():
    theta = starts.gaussian(60, 70, 200, 50, torch.Generator().manual_seed(0))
    for W in theta:
        assert float(W.square().mean() * W.shape[0]) == pytest.approx(1, abs=5 * math.sqrt(2 / W.numel()))


def test_factors_change_one_block_and_no_draw():
    draw = lambda **factors: starts.gaussian(4, 3, 5, 2, torch.Generator().manual_seed(1), **factors)
    plain, changed = draw(), draw(W_2=0.0, W_Q=1e-3)
    assert not bool(changed.W_2.any())
    assert torch.equal(changed.W_Q, 1e-3 * plain.W_Q)
    assert torch.equal(changed.W_U, plain.W_U)
    assert isinstance(changed, Parameters)


def test_wrong_starts_are_refused(case):
    theta = case().theta
    refused("factors", "W_3", "W_Q, W_K", starts.scaled, theta, W_3=1.0)
    refused("W_Q", "nan", "finite", starts.scaled, theta, W_Q=math.nan)
    refused("thetas", "none", "at least one", starts.side_by_side, [])
    refused("W_Q", "(4, 4)", "(5, 4)", starts.side_by_side, [theta, case(d=4).theta])


def test_relu_is_the_default():
    assert Setting().activation == RELU


@pytest.mark.parametrize("tau", [0.0, 0.3])
@pytest.mark.parametrize("g", [0.4, 1.0, 3.0])
def test_outputs_and_ten_steps_are_the_same(case, g, tau):
    one = case(g=g, g_f=0.6, tau=tau)
    other, setting = scale.standard(one.theta, one.setting)
    theta, mu = one.theta, 1e-3
    assert setting.g == 1.0
    assert setting.activation == SmoothedReLU(tau / g)
    for _ in range(10):
        here = model.outputs(one.X, theta, one.setting)
        assert torch.allclose(here, model.outputs(one.X, other, setting), rtol=1e-9, atol=1e-9)
        slope = gradients.gradients(one.X, one.Y, theta, one.setting)
        theta = scale.step(theta, slope, PerBlock(*[mu] * 6))
        other = scale.step(other, gradients.gradients(one.X, one.Y, other, setting), scale.steps(g, mu))


def test_what_scale_refuses(case):
    refused("g", "0.0", "above 0", scale.standard, case().theta, Setting(0.0))
