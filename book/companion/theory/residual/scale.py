"""A residual coefficient is a scale: the network with coefficient 1 that computes the same, and the steps that keep it the same."""

from shallowformer import arguments
from shallowformer.contracts import Positive, contract
from shallowformer.residual.parameters import Parameters, PerBlock, Setting
from shallowformer.residual.smoothed import SmoothedReLU


def standard(theta: Parameters, setting: Setting) -> tuple[Parameters, Setting]:
    """The network with g = 1 that has the same outputs as one with g > 0: W_V/g, gW_U, and φ of width τ/g. Source: Ours."""
    g = arguments.positive("g", setting.g)
    activation = SmoothedReLU(setting.activation.tau / g)
    return (
        theta._replace(W_V=theta.W_V / g, W_U=g * theta.W_U),
        Setting(1.0, setting.g_f, activation, setting.temperature),
    )


@contract
def steps(g: Positive, mu: Positive) -> PerBlock:
    """Steps of that network that keep its outputs those of the other with step μ: μ/g² for W_V, μg² for W_U, μ else. Source: Ours."""
    square = g**2
    return PerBlock(W_Q=mu, W_K=mu, W_V=mu / square, W_1=mu, W_2=mu, W_U=mu * square)


def step(theta: Parameters, slope: Parameters, mu: PerBlock) -> Parameters:
    """One step of descent with a step a block."""
    return Parameters(*(W - size * change for W, size, change in zip(theta, mu, slope, strict=True)))
