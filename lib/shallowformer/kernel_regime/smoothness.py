"""How smooth a head is: the constants of Lemma 2, the paper's and sharper ones, as functions of R ≥ ‖U‖.

``*_paper`` are the paper's; ``L1``, ``L2_generic``, ``L2``, ``L3``, ``G1``, ``G2`` are proved in the chapter *How smooth
is a head?*. These are nondecreasing in R, so they hold for every head with ‖U‖ ≤ R, whatever the tokens in the unit ball,
W, and the query with ‖q‖ ≤ 1. ``two_camps`` and ``L2_two_camps`` are attained values, hence lower bounds.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.cumulants import H_star


def preactivation_paper(R: float) -> float:
    """√(2 + 64R²): the paper's bound on ‖∇²z‖_F.

    Args:
        R: bound on ‖U‖, at least 0.

    Returns:
        The bound.

    Raises:
        ValueError: ``R`` below 0.

    Source:
        Arda, Cayci, Eryilmaz 2026, equation (17).
    """
    return math.sqrt(2 + 64 * arguments.at_least("R", R, 0.0) ** 2)


def L1_paper(R: float, sigma: Activation = TANH) -> float:
    """The paper's Lipschitz constant σ₁√(1 + R²) of a head.

    Args:
        R: bound on ‖U‖, at least 0 (the paper's B_{U,m}).
        sigma: the activation.

    Returns:
        The constant.

    Raises:
        ValueError: ``R`` below 0.

    Source:
        Arda, Cayci, Eryilmaz 2026, Lemma 2.
    """
    return sigma.bounds[1] * math.sqrt(1 + arguments.at_least("R", R, 0.0) ** 2)


def L1(R: float, sigma: Activation = TANH) -> float:
    """The Lipschitz constant σ₁ max(1, R) of a head; attained if |σ′(0)| = σ₁ (and T ≥ 2 or R ≤ 1).

    Args:
        R: bound on ‖U‖, at least 0.
        sigma: the activation.

    Returns:
        The constant.

    Raises:
        ValueError: ``R`` below 0.

    Source:
        The sharp form of Arda, Cayci, Eryilmaz 2026, Lemma 2.
    """
    return sigma.bounds[1] * max(1.0, arguments.at_least("R", R, 0.0))


def L2_paper(R: float, sigma: Activation = TANH) -> float:
    """The paper's smoothness constant σ₂(1 + R²) + 8σ₁√(1 + R²) of a head.

    Args:
        R: bound on ‖U‖, at least 0 (the paper's B_{U,m}).
        sigma: the activation.

    Returns:
        The constant.

    Raises:
        ValueError: ``R`` below 0.

    Source:
        Arda, Cayci, Eryilmaz 2026, Lemma 2.
    """
    square = 1 + arguments.at_least("R", R, 0.0) ** 2
    return sigma.bounds[2] * square + 8 * sigma.bounds[1] * math.sqrt(square)


def L2_generic(R: float, sigma: Activation = TANH) -> float:
    """The smoothness constant σ₂ max(1, R²) + σ₁H⋆(R), which knows σ by its bounds only.

    Args:
        R: bound on ‖U‖, at least 0.
        sigma: the activation.

    Returns:
        The constant.

    Raises:
        ValueError: ``R`` below 0.
    """
    return sigma.bounds[2] * max(1.0, arguments.at_least("R", R, 0.0) ** 2) + sigma.bounds[1] * H_star(R)


def L2(R: float, sigma: Activation = TANH) -> float:
    """The smoothness constant L₂^♯(R), with ∇z, ∇²z, σ′ and σ″ taken at one and the same law and z.

    Args:
        R: bound on ‖U‖, at least 0.
        sigma: the activation.

    Returns:
        The maximum over r_u² + r_w² = 1 of ``G2``, to about 1e-12 (relative, and from below) for R up to 1e8.

    Raises:
        ValueError: ``R`` below 0.
    """
    arguments.at_least("R", R, 0.0)

    def value(z: Tensor, s: Tensor) -> Tensor:
        bend, slope, spread = sigma.second(z).abs(), sigma.first(z).abs(), 1 - s**2
        return _top(
            bend * s**2,
            (bend * s * R + slope) * spread,
            (bend * spread * R + 2 * slope * s) * spread * R,
        )

    return _largest(value, R)


def L3(R: float, sigma: Activation = TANH) -> float:
    """A bound on the third derivative of a head: σ₃B³ + 3σ₂B·H⋆(R) + σ₁(2R + 8/9) with B = max(1, R).

    Args:
        R: bound on ‖U‖, at least 0.
        sigma: the activation; |σ‴| ≤ σ₃ is used, which the paper does not assume.

    Returns:
        The constant.

    Raises:
        ValueError: ``R`` below 0.
    """
    B = max(1.0, arguments.at_least("R", R, 0.0))
    _, s1, s2, s3 = sigma.bounds
    return s3 * B**3 + 3 * s2 * B * H_star(R) + s1 * (2 * R + 8 / 9)


def G1(R: float, r_u: float, r_w: float) -> float:
    """The largest |⟨∇z, δ⟩| over blocks ‖δU‖ ≤ r_u, ‖δW‖_F ≤ r_w: max_s {r_u s + r_w(1 − s²)R}.

    Args:
        R: bound on ‖U‖, at least 0.
        r_u: radius of the block U, at least 0.
        r_w: radius of the block W, at least 0.

    Returns:
        The bound, in closed form; σ₁ times it bounds |⟨∇h, δ⟩|.

    Raises:
        ValueError: an argument below 0.
    """
    for name, value in (("R", R), ("r_u", r_u), ("r_w", r_w)):
        arguments.at_least(name, value, 0.0)
    return r_w * R + r_u**2 / (4 * r_w * R) if r_u < 2 * r_w * R else r_u


def G2(R: float, r_u: float, r_w: float, sigma: Activation = TANH) -> float:
    """A bound on |∇²h[δ, δ]| over blocks ‖δU‖ ≤ r_u, ‖δW‖_F ≤ r_w.

    The maximum over 0 ≤ s ≤ 1, |z| ≤ sR of |σ″|(r_u s + r_w(1 − s²)R)² + 2|σ′|(1 − s²)(r_u r_w + r_w² sR), both at z.

    Args:
        R: bound on ‖U‖, at least 0.
        r_u: radius of the block U, at least 0.
        r_w: radius of the block W, at least 0.
        sigma: the activation.

    Returns:
        The bound, to about 1e-12 (relative, and from below).

    Raises:
        ValueError: an argument below 0.
    """
    for name, value in (("R", R), ("r_u", r_u), ("r_w", r_w)):
        arguments.at_least(name, value, 0.0)

    def value(z: Tensor, s: Tensor) -> Tensor:
        spread = 1 - s**2
        bend = sigma.second(z).abs() * (r_u * s + r_w * spread * R) ** 2
        return bend + 2 * sigma.first(z).abs() * spread * (r_u * r_w + r_w**2 * s * R)

    return _largest(value, R)


def two_camps(R: float, s: Tensor, sigma: Activation = TANH) -> Tensor:
    """‖∇²h‖_op for tokens ±U/R that carry the masses (1 ± s)/2: a lower bound on every smoothness constant.

    Args:
        R: ‖U‖, at least 0 (for 0, any direction).
        s: mean of the camps along U, Float[Tensor, "..."] in [-1, 1].
        sigma: the activation.

    Returns:
        Float[Tensor, "..."].

    Raises:
        ValueError: ``R`` below 0, ``s`` outside [-1, 1].
    """
    arguments.at_least("R", R, 0.0)
    if float(arguments.floating("s", s, "...").abs().max()) > 1:
        raise ValueError(f"s must be in [-1, 1], got an entry of size {float(s.abs().max()):g}")
    bend, slope, spread = sigma.second(s * R), sigma.first(s * R), 1 - s**2
    blocks = (
        bend * s**2,
        (bend * s * R + slope) * spread,
        (bend * spread * R - 2 * slope * s) * spread * R,
    )
    return torch.maximum(_top(*blocks), _top(*(-block for block in blocks)))


def L2_two_camps(R: float, sigma: Activation = TANH) -> float:
    """The largest ‖∇²h‖_op over two camps: attained, and no search has found a larger value of ‖∇²h‖_op for tanh.

    Args:
        R: ‖U‖, at least 0.
        sigma: the activation.

    Returns:
        The maximum over s of ``two_camps``, to about 1e-12 (relative, and from below).

    Raises:
        ValueError: ``R`` below 0.
    """
    arguments.at_least("R", R, 0.0)
    return _largest(lambda z, s: two_camps(R, torch.sign(z) * s, sigma), R, free=False)


def _top(first: Tensor, cross: Tensor, second: Tensor) -> Tensor:
    """Largest eigenvalue of the symmetric matrices ((first, cross), (cross, second))."""
    return (first + second) / 2 + torch.hypot((first - second) / 2, cross)


def _largest(value: Callable[[Tensor, Tensor], Tensor], R: float, free: bool = True) -> float:
    """Maximum of value(z, s) over 0 ≤ s ≤ 1 and |z| ≤ sR, or over |z| = sR if ``free`` is False.

    From two grids, because the ridge of the maximum follows the axes of one or of the other: z = t³R, s = |t|³ + (1 − |t|³)η³, dense
    near 0, where the maximum lies for large R; and z = tηR, s = η.
    """

    def from_z(t: Tensor, eta: Tensor) -> Tensor:
        cube = t.abs() ** 3
        return value(R * t**3, cube + (1 - cube) * eta**3)

    def from_s(t: Tensor, eta: Tensor) -> Tensor:
        return value(R * t * eta, eta)

    return max(_peak(at, free) for at in ((from_z, from_s) if free else (from_z,)))


def _peak(at: Callable[[Tensor, Tensor], Tensor], free: bool) -> float:
    """Maximum over −1 ≤ t ≤ 1, 0 ≤ η ≤ 1 (η = 0 if not ``free``): local maxima of a grid, each refined twenty times threefold."""
    t = torch.linspace(-1, 1, 801, dtype=torch.float64)[:, None]
    eta = torch.linspace(0, 1, 201 if free else 1, dtype=torch.float64)[None]
    coarse = at(t, eta).expand(t.shape[0], eta.shape[1])
    peaks = torch.nn.functional.max_pool2d(coarse[None], 3, stride=1, padding=1)[0] == coarse
    order = torch.where(peaks, coarse, -math.inf).flatten().topk(min(16, coarse.numel())).indices
    t, eta = t.expand_as(coarse).flatten()[order], eta.expand_as(coarse).flatten()[order]
    best = coarse.max()
    wide, high = 0.005, 0.01 if free else 0.0
    steps = torch.linspace(-1, 1, 9, dtype=torch.float64)
    for _ in range(20):
        around_t = (t[:, None, None] + wide * steps[:, None]).clamp(-1, 1).expand(-1, 9, 9).flatten(1)
        around_eta = (eta[:, None, None] + high * steps[None]).clamp(0, 1).expand(-1, 9, 9).flatten(1)
        fine, place = at(around_t, around_eta).max(-1)
        t, eta = (a.gather(1, place[:, None])[:, 0] for a in (around_t, around_eta))
        best, wide, high = torch.maximum(best, fine.max()), wide / 3, high / 3
    return float(best)
