"""Theorem 1: its constants, the paper's and sharper ones, and its right sides.

Those of ``paper`` need the event E_{U,m}(δ'), those of ``sharp`` are read off the initialisation. Both are proved in the chapter
*Theorem 1, line by line*; ``comparison`` has the quantities that they bound.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime import approximation, envelopes, linearisation, norm_event, smoothness
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.neighbourhood import radii
from shallowformer.kernel_regime.parameters import Parameters


def A_paper(B: float, rho_c: float, m: int, sigma: Activation = TANH) -> float:
    """The paper's bound A_m = σ₀ + (1 + ρ_c/√m) L₁ on ‖∇f(X; φ)‖ over Ω_ρ.

    Args:
        B: bound on every ‖U_i‖ over Ω_ρ, at least 0 (the paper's B_{U,m}).
        rho_c: at least 0.
        m: number of heads.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: ``B`` or ``rho_c`` below 0, ``m`` below 1.

    Source:
        Arda, Cayci, Eryilmaz 2026, equations (40) and (41).
    """
    c = arguments.at_least("rho_c", rho_c, 0.0) / arguments.count("m", m) ** 0.5
    return sigma.bounds[0] + (1 + c) * smoothness.L1_paper(B, sigma)


def A(R: Tensor, rho_c: float, sigma: Activation = TANH) -> Tensor:
    """The head average [(1/m) Σ_i (σ₀² + (1 + ρ_c/√m)² σ₁² max(1, R_i²))]^{1/2}: a bound on ‖∇f(X; φ)‖ over Ω_ρ.

    Args:
        R: the largest ‖U_i‖ of each head in Ω_ρ (``linearisation.longest``), Float[Tensor, "m"].
        rho_c: at least 0.
        sigma: the activation.

    Returns:
        The bound, a scalar tensor.

    Raises:
        ValueError: an entry or ``rho_c`` below 0.
    """
    m = linearisation.lengths(R)
    readout = 1 + arguments.at_least("rho_c", rho_c, 0.0) / m**0.5
    return (sigma.bounds[0] ** 2 + (readout * sigma.bounds[1]) ** 2 * R.clamp(min=1).square().mean()).sqrt()


@dataclass(frozen=True)
class HeadBounds:
    """The paper's bounds for a single head, over Ω_ρ and every X; φ_i is what belongs to head i.

    Args:
        reach: (32), on ‖φ̃_i − φ_i‖.
        turn_theta: (35), on ‖∇_{θ_i}f(φ) − ∇_{θ_i}f(φ⁽⁰⁾)‖.
        turn_c: (36), on |∇_{c_i}f(φ) − ∇_{c_i}f(φ⁽⁰⁾)|.
        gradient: (40), on ‖∇_{φ_i}f(φ)‖.
    """

    reach: float
    turn_theta: float
    turn_c: float
    gradient: float

    @property
    def turn(self) -> float:
        """(37), on ‖∇_{φ_i}f(φ) − ∇_{φ_i}f(φ⁽⁰⁾)‖: the sum of (35) and (36)."""
        return self.turn_theta + self.turn_c


def heads_paper(
    B: float, rho: Sequence[float], nu: Sequence[float], m: int, sigma: Activation = TANH
) -> HeadBounds:
    """The paper's bounds for each head: of size 1/√m for (32) and (40), of size 1/m for (35) to (37).

    Args:
        B: bound on every ‖U_i‖ over Ω_ρ, at least 0 (the paper's B_{U,m}).
        rho: (ρ_c, ρ_u, ρ_w), each at least 0; r² = ρ_u² + ρ_w².
        nu: sup norms (ν̄_c, ν̄_u, ν̄_w) of the mapping, each at least 0.
        m: number of heads.
        sigma: the activation.

    Returns:
        The bounds.

    Raises:
        ValueError: ``B``, a radius or a norm below 0, ``m`` below 1.

    Source:
        Arda, Cayci, Eryilmaz 2026, equations (32), (35) to (37) and (40).
    """
    c, u, w = radii(rho, 1)
    r, L1 = math.hypot(u, w), smoothness.L1_paper(B, sigma)
    root = arguments.count("m", m) ** 0.5
    return HeadBounds(
        reach=(math.hypot(c, u, w) + math.hypot(*radii(nu, 1))) / root,
        turn_theta=(smoothness.L2_paper(B, sigma) * r + c * L1) / m,
        turn_c=L1 * r / m,
        gradient=A_paper(B, c, m, sigma) / root,
    )


def B_cof_paper(
    B: float, rho: Sequence[float], nu: Sequence[float], m: int, sigma: Activation = TANH
) -> float:
    """The paper's bound m^{−1/2} (L₂r + L₁ρ_c + L₁r)(‖ρ‖ + ‖ν̄‖) on the change of features ⟨∇f(φ) − ∇f(φ⁽⁰⁾), φ̃ − φ⟩.

    Args:
        B: bound on every ‖U_i‖ over Ω_ρ, at least 0 (the paper's B_{U,m}).
        rho: (ρ_c, ρ_u, ρ_w), each at least 0; r² = ρ_u² + ρ_w².
        nu: sup norms (ν̄_c, ν̄_u, ν̄_w) of the mapping, each at least 0.
        m: number of heads.
        sigma: the activation.

    Returns:
        The bound: m heads, each with (37) times (32).

    Raises:
        ValueError: ``B``, a radius or a norm below 0, ``m`` below 1.

    Source:
        Arda, Cayci, Eryilmaz 2026, equations (30) to (38).
    """
    each = heads_paper(B, rho, nu, m, sigma)
    return m * each.turn * each.reach


def B_rem(R: Tensor, rho: Sequence[float], nu: Sequence[float], sigma: Activation = TANH) -> Tensor:
    """A bound on the remainder f(φ̃) − f(φ) − ⟨∇f(φ), φ̃ − φ⟩ for φ in Ω_ρ, φ̃ in Ω_ν̄ and ν̄ ≤ ρ, whatever X.

    The head average m^{−1/2} · (1/m) Σ_i [(ν̄_c + ρ_c) σ₁G₁ + ½(1 + ρ_c/√m) G₂] with G₁, G₂ at (R_i; ν̄_u + ρ_u, ν̄_w + ρ_w).

    Args:
        R: the largest ‖U_i‖ of each head in Ω_ρ (``linearisation.longest``), Float[Tensor, "m"].
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: sup norms (ν̄_c, ν̄_u, ν̄_w) of the mapping, each at least 0 and at most those of ``rho``.
        sigma: the activation.

    Returns:
        The bound, a scalar tensor.

    Raises:
        ValueError: an entry, a radius or a norm below 0, or a norm above its radius.
    """
    m = linearisation.lengths(R)
    require_inside(rho, nu)
    c, u, w = (a + b for a, b in zip(radii(rho, 1), radii(nu, 1), strict=True))
    first = sigma.bounds[1] * linearisation.first_order(R, u, w)
    second = linearisation.second_order(R, u, w, sigma)
    return (c * first + 0.5 * (1 + rho[0] / m**0.5) * second).mean() / m**0.5


def require_inside(rho: Sequence[float], nu: Sequence[float]) -> None:
    """Refuse a mapping that could lead out of the neighbourhood.

    Args:
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: sup norms (ν̄_c, ν̄_u, ν̄_w) of the mapping, each at least 0.

    Raises:
        ValueError: a radius or a norm below 0, or a norm above its radius.
    """
    for name, norm, radius in zip("cuw", radii(nu, 1), radii(rho, 1), strict=True):
        if norm > radius:
            raise ValueError(f"nu_{name} must be at most rho_{name} = {radius:g}, got {norm:g}")


@dataclass(frozen=True)
class Constants:
    """Bounds on the quantities of the proof.

    Args:
        f_max: on |f| over Ω_ρ.
        y_max: on the labels.
        A: on ‖∇f‖ over Ω_ρ.
        app: on the approximation error (paper: at every input; sharp: its root mean square).
        lin: on the linearisation error that the step meets (paper: over Ω_ρ; sharp: at φ̃).
        cof: on the change of features (paper), or on the remainder (sharp).
        lin_average: on the linearisation error over Ω_ρ, for the average iterate.
        V0: on ‖φ⁽⁰⁾ − φ̃‖².
    """

    f_max: float
    y_max: float
    A: float
    app: float
    lin: float
    cof: float
    lin_average: float
    V0: float

    @property
    def envelope(self) -> float:
        """F = f^max + y^max, a bound on every residual."""
        return self.f_max + self.y_max

    @property
    def errors(self) -> float:
        """B_app + B_lin + B_CoF (paper), B_app + B_lin + B_rem (sharp)."""
        return self.app + self.lin + self.cof

    def optimisation(self, eta: float, steps: int) -> float:
        """V₀/(4ητ) + ηF²A²: what is left for infinitely many heads.

        Args:
            eta: step size η, above 0.
            steps: number of steps τ.

        Returns:
            The optimisation term of (44).

        Raises:
            ValueError: ``eta`` not above 0, ``steps`` below 1.
        """
        arguments.positive("eta", eta)
        return self.V0 / (4 * eta * arguments.count("steps", steps)) + eta * (self.envelope * self.A) ** 2

    @property
    def width(self) -> float:
        """F · (B_app + B_lin + B_CoF): what is left for infinitely many steps."""
        return self.envelope * self.errors

    def best(self, eta: float, steps: int) -> float:
        """Right side of (44) and (45): a bound on the mean loss of the iterates before step τ, so on their smallest.

        Args:
            eta: step size η, above 0.
            steps: number of steps τ.

        Returns:
            The bound.

        Raises:
            ValueError: ``eta`` not above 0, ``steps`` below 1.

        Source:
            Arda, Cayci, Eryilmaz 2026, equations (44) and (45).
        """
        return self.optimisation(eta, steps) + self.width

    def average_paper(self, eta: float, steps: int) -> float:
        """Right side of (46), 4 · best + 6 B_lin²: a bound on the loss of the average iterate.

        Args:
            eta: step size η, above 0.
            steps: number of steps τ.

        Returns:
            The bound.

        Raises:
            ValueError: ``eta`` not above 0, ``steps`` below 1.

        Source:
            Arda, Cayci, Eryilmaz 2026, equation (46).
        """
        return 4 * self.best(eta, steps) + 6 * self.lin_average**2

    def average(self, eta: float, steps: int) -> float:
        """(√best + 2B_lin)²: a sharper bound on the loss of the average iterate.

        Args:
            eta: step size η, above 0.
            steps: number of steps τ.

        Returns:
            The bound, at most 11/12 of ``average_paper``.

        Raises:
            ValueError: ``eta`` not above 0, ``steps`` below 1.
        """
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
    """The paper's constants: they hold with probability 1 − δ − δ' over the initialisation.

    Args:
        n: number of samples.
        d: dimension of a token.
        m: number of heads, even.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: sup norms ν̄ of the mapping, at most those of ``rho``.
        delta: δ of Lemma 5, in (0, 1).
        delta_norm: δ' of the event E_{U,m}(δ'), in (0, 1).
        sigma: the activation.

    Returns:
        The constants.

    Raises:
        ValueError: an argument out of range, or a norm above its radius.

    Source:
        Arda, Cayci, Eryilmaz 2026, Theorem 1 with Lemmas 2, 3, 5 (appendix) and 6.
    """
    require_inside(rho, nu)
    B = norm_event.B_U(m, d, delta_norm, rho[1])
    lin = linearisation.B_lin_paper(B, rho, m, sigma)
    return Constants(
        f_max=envelopes.f_max_paper(B, rho, sigma),
        y_max=envelopes.y_max_paper(d, nu, sigma),
        A=A_paper(B, rho[0], m, sigma),
        app=approximation.appendix(tuple(nu), n, m, delta, sigma),
        lin=lin,
        cof=B_cof_paper(B, rho, nu, m, sigma),
        lin_average=lin,
        V0=sum(norm**2 for norm in nu),
    )


def sharp(
    phi0: Parameters, rho: Sequence[float], nu: Sequence[float], delta: float, sigma: Activation = TANH
) -> Constants:
    """Sharper constants, read off the initialisation: all but ``app`` hold always, ``app`` with probability 1 − δ; no n, no log m.

    Args:
        phi0: the symmetric initialisation.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        nu: sup norms ν̄ of the mapping, at most those of ``rho``.
        delta: δ of Lemma 5, in (0, 1).
        sigma: the activation.

    Returns:
        The constants.

    Raises:
        ValueError: an argument out of range, or a norm above its radius.
    """
    require_inside(rho, nu)
    R = linearisation.longest(phi0, rho[1])
    return Constants(
        f_max=float(envelopes.f_max(R, rho, sigma)),
        y_max=envelopes.y_max(nu, sigma),
        A=float(A(R, rho[0], sigma)),
        app=approximation.rms_bernstein(tuple(nu), phi0.m, delta, sigma),
        lin=float(linearisation.B_lin(linearisation.longest(phi0, nu[1]), nu, sigma)),
        cof=float(B_rem(R, rho, nu, sigma)),
        lin_average=float(linearisation.B_lin(R, rho, sigma)),
        V0=sum(norm**2 for norm in nu),
    )
