"""Theorem 1: its constants, the paper's and sharper ones, and its right sides.

Those of ``paper`` need the event E_{U,m}(δ'), those of ``sharp`` are read off the initialisation. Both are proved in the chapter
*Theorem 1, line by line*; ``comparison`` has the quantities that they bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, Positive, contract
from shallowformer.kernel_regime.bounds import approximation, envelopes, linearisation
from shallowformer.kernel_regime.convergence import change_of_features, gradient_norms
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.neighbourhood import norm_event, region


@dataclass(frozen=True)
class Constants:
    """Bounds on the quantities of the proof."""

    f_max: float  # on |f| over Ω_ρ
    y_max: float  # on the labels
    A: float  # on ‖∇f‖ over Ω_ρ
    app: float  # on the approximation error (paper: at every input; sharp: its root mean square)
    lin: float  # on the linearisation error that the step meets (paper: over Ω_ρ; sharp: at φ̃)
    cof: float  # on the change of features (paper), or on the remainder (sharp)
    lin_average: float  # on the linearisation error over Ω_ρ, for the average iterate
    V0: float  # on ‖φ⁽⁰⁾ − φ̃‖²

    @property
    def envelope(self) -> float:
        """F = f^max + y^max, a bound on every residual."""
        return self.f_max + self.y_max

    @property
    def errors(self) -> float:
        """B_app + B_lin + B_CoF (paper), B_app + B_lin + B_rem (sharp)."""
        return self.app + self.lin + self.cof

    @contract
    def optimisation(self, eta: Positive, steps: Count) -> float:
        """V₀/(4ητ) + ηF²A²: what is left for infinitely many heads."""
        return self.V0 / (4 * eta * steps) + eta * (self.envelope * self.A) ** 2

    @property
    def width(self) -> float:
        """F · (B_app + B_lin + B_CoF): what is left for infinitely many steps."""
        return self.envelope * self.errors

    def best(self, eta: float, steps: int) -> float:
        """A bound on the mean loss before step τ, so on the smallest: right side of (44) and (45) of Arda, Cayci, Eryilmaz 2026."""
        return self.optimisation(eta, steps) + self.width

    def average_paper(self, eta: float, steps: int) -> float:
        """A bound on the loss of the average iterate, 4 · best + 6 B_lin²: right side of (46) of Arda, Cayci, Eryilmaz 2026."""
        return 4 * self.best(eta, steps) + 6 * self.lin_average**2

    def average(self, eta: float, steps: int) -> float:
        """(√best + 2B_lin)²: a sharper bound on the loss of the average iterate. Returns: at most 11/12 of ``average_paper``."""
        return (self.best(eta, steps) ** 0.5 + 2 * self.lin_average) ** 2


def paper(
    n: int,
    d: int,
    m: int,
    rho: Sequence[float],
    nu: Sequence[float],
    delta: float,
    delta_norm: float,
    sigma: Activation = TANH,
) -> Constants:
    """The paper's constants, with probability 1 − δ − δ' over the initialisation: δ of Lemma 5, δ', ``delta_norm``, of the event E_{U,m}(δ').

    Source: Arda, Cayci, Eryilmaz 2026, Theorem 1 with Lemmas 2, 3, 5 (appendix) and 6.
    """
    change_of_features.require_inside(rho, nu)
    B = norm_event.B_U(m, d, delta_norm, rho[1])
    lin = linearisation.B_lin_paper(B, rho, m, sigma)
    return Constants(
        f_max=envelopes.f_max_paper(B, rho, sigma),
        y_max=envelopes.y_max_paper(d, nu, sigma),
        A=gradient_norms.A_paper(B, rho[0], m, sigma),
        app=approximation.appendix(tuple(nu), n, m, delta, sigma),
        lin=lin,
        cof=change_of_features.B_cof_paper(B, rho, nu, m, sigma),
        lin_average=lin,
        V0=sum(norm**2 for norm in nu),
    )


def sharp(
    phi0: Parameters, rho: Sequence[float], nu: Sequence[float], delta: float, sigma: Activation = TANH
) -> Constants:
    """Sharper constants, read off the symmetric φ⁽⁰⁾, without n and log m: all hold always, but ``app`` with probability 1 − δ."""
    return sharp_each([phi0], rho, nu, delta, sigma)[0]


def sharp_each(
    starts: Sequence[Parameters],
    rho: Sequence[float],
    nu: Sequence[float],
    delta: float,
    sigma: Activation = TANH,
) -> list[Constants]:
    """The same for several initialisations of one width; the searches for G₂ cost hardly more for many heads than for few."""
    change_of_features.require_inside(rho, nu)
    widths = sorted({phi0.m for phi0 in starts})
    if len(widths) != 1:
        raise ValueError(f"starts must be initialisations of one width, got those of {widths or 'none'}")
    (m,) = widths
    lengths = lambda radius: torch.stack([region.longest(phi0, radius) for phi0 in starts])
    average = lambda of_heads: of_heads.mean(1).tolist()
    R = lengths(rho[1])
    lin_average = average(linearisation.head_bound(R, rho, sigma) / m**0.5)
    lin = lin_average
    if tuple(nu) != tuple(rho):
        lin = average(linearisation.head_bound(lengths(nu[1]), nu, sigma) / m**0.5)
    cof = average(change_of_features.head_remainder(R, m, rho, nu, sigma))
    return [
        Constants(
            f_max=float(envelopes.f_max(R[k], rho, sigma)),
            y_max=envelopes.y_max(nu, sigma),
            A=float(gradient_norms.A(R[k], rho[0], sigma)),
            app=approximation.rms_bernstein(tuple(nu), m, delta, sigma),
            lin=lin[k],
            cof=cof[k],
            lin_average=lin_average[k],
            V0=sum(norm**2 for norm in nu),
        )
        for k in range(len(starts))
    ]
