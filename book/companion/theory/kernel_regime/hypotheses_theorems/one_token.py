"""What can be written down for one token in one dimension: labels, sequences of losses, and runs of a pair of heads.

With one token x a head is σ(Ux) whatever its W, whose gradient is 0. A pair of heads starts with c = ±1 and one U.
"""

import math
from collections.abc import Callable

import torch
from scipy.integrate import quad

from shallowformer.activations import TANH, Activation
from shallowformer.kernel_regime.convergence import descent
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters


def expected(function: Callable[[float], float]) -> float:
    """E function(G) for a standard Gaussian G."""
    density = lambda u: math.exp(-(u**2) / 2) / math.sqrt(2 * math.pi)
    return quad(lambda u: function(u) * density(u), -12, 12, limit=400, points=(0.0,))[0]


def sech2(u: float) -> float:
    """The slope of tanh."""
    return 1 - math.tanh(u) ** 2


def start(U: float, m: int = 2) -> Parameters:
    """A symmetric initialisation whose heads have one and the same U, and W = 0."""
    signs = torch.tensor([1.0, -1.0], dtype=torch.float64).repeat_interleave(m // 2)
    return Parameters(
        signs, torch.full((m, 1), U, dtype=torch.float64), torch.zeros(m, 1, 1, dtype=torch.float64)
    )


def mean_loss(
    y: float, U: float, eta: float, steps: int, rho: tuple | None, sigma: Activation = TANH
) -> float:
    """Mean loss of a run of a pair of heads on the token 1 with label y, by the package's descent."""
    one = torch.ones(1, 1, 1, dtype=torch.float64)
    loss = Loss(one, torch.tensor([y], dtype=torch.float64), sigma=sigma)
    run = descent.run(loss, start(U), eta=eta, steps=steps, rho=rho, every=steps)
    return float(run.step_losses.mean())


def geometric(first: float, factor: float, steps: int) -> float:
    """Mean of first · factorˢ over s < steps."""
    return first * -math.expm1(steps * math.log(factor)) / (steps * (1 - factor))


def readouts_alone(eta: float, steps: int) -> float:
    """Mean loss on the token 1 with the label E tanh², where only readouts move and the heads' mean square is its expectation.

    Then f_{s+1} = f_s − 2ηM(f_s − y) with M = E tanh², and no readout gets farther than |tanh U|/√m.
    """
    M = expected(lambda u: math.tanh(u) ** 2)
    return geometric(M**2, (1 - 2 * eta * M) ** 2, steps)
