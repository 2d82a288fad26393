"""Lemma 3: the linear model, how far the model is from it head by head, and bounds on that, the paper's and sharper ones.

``B_lin_paper`` and ``B_lin_joint`` take a bound B on every ‖U_i‖ over Ω_ρ, as the paper does; ``B_lin`` and ``B_lin_pairs``
take the longest U_i that each head can reach, ``longest(phi0, rho[1])``, and average over heads.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime import model, norm_event, smoothness
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.cumulants import KAPPA, H_star
from shallowformer.kernel_regime.gradients import features
from shallowformer.kernel_regime.neighbourhood import radii
from shallowformer.kernel_regime.pairs import difference
from shallowformer.kernel_regime.parameters import Parameters
from shallowformer.kernel_regime.queries import Query, last_token

#: Heads whose bounds ``second_order`` works on at a time.
CHUNK = 256


def f_lin(
    X: Tensor, phi: Parameters, phi0: Parameters, query: Query = last_token, sigma: Activation = TANH
) -> Tensor:
    """The linear model f(X; φ⁽⁰⁾) + ⟨∇f(X; φ⁽⁰⁾), φ − φ⁽⁰⁾⟩; no matrix of a sample and a head is formed.

    Args:
        X: tokens in the unit ball, Float[Tensor, "n T d"].
        phi: parameters of m heads.
        phi0: where the tangent is taken, with the same shapes (any start; at a symmetric one the first term is 0).
        query: how q_X is made.
        sigma: the activation.

    Returns:
        Float[Tensor, "n"].

    Raises:
        ValueError: as ``model.validated``; shapes, dtypes or devices of the parameters differ.

    Source:
        Arda, Cayci, Eryilmaz 2026, Definition 3.
    """
    delta = difference(phi, phi0)
    start = features(X, phi0, query, sigma)
    return (start.c @ (phi0.c + delta.c) + _slopes(start, delta) @ phi0.c) / phi0.m**0.5


def _slopes(start, delta: Parameters) -> Tensor:
    """⟨∇h_i, δθ_i⟩ of every sample and head, Float[Tensor, "n m"]."""
    along_U = torch.einsum("nmd,md->nm", start.u, delta.U)
    return along_U + torch.einsum("nmd,mde,ne->nm", start.w_left, delta.W, start.q)


def head_errors(
    X: Tensor, phi: Parameters, delta: Parameters, query: Query = last_token, sigma: Activation = TANH
) -> Tensor:
    """Every head's share of the linearisation error f(X; φ + δ) − f(X; φ) − ⟨∇f(X; φ), δ⟩.

    With h_i = h(X; θ_i) and h_i⁺ = h(X; θ_i + δθ_i), head i contributes
    m^{−1/2} [c_i (h_i⁺ − h_i − ⟨∇h_i, δθ_i⟩) + δc_i (h_i⁺ − h_i)].

    Args:
        X: tokens in the unit ball, Float[Tensor, "n T d"].
        phi: parameters of m heads.
        delta: the perturbation δ, with the blocks of ``phi``.
        query: how q_X is made.
        sigma: the activation.

    Returns:
        Float[Tensor, "n m"]; its sum over heads is the error of the model.

    Raises:
        ValueError: as ``model.validated``; ``delta`` of another shape, dtype or device.

    Source:
        Arda, Cayci, Eryilmaz 2026, equation (18), the quantity that Lemma 3 bounds.
    """
    before = features(X, phi, query, sigma)
    arguments.shape("delta.W", delta.W, tuple(phi.W.shape), "[m, d, d] as in phi")
    arguments.same_kind("phi", phi.W, delta=delta.W)
    moved = Parameters(*(block + step for block, step in zip(phi.blocks, delta.blocks, strict=True)))
    step = model.hidden(X, moved, query, sigma) - before.c
    return (phi.c * (step - _slopes(before, delta)) + delta.c * step) / phi.m**0.5


def on_boundary(direction: Parameters, radius: tuple[float, float, float]) -> Parameters:
    """Scale every block of every head to the largest step that Ω_ρ allows: a point on its boundary, as seen from φ⁽⁰⁾.

    Args:
        direction: any direction, with the blocks of the parameters; a block of a head that is 0 stays 0.
        radius: ρ = (ρ_c, ρ_u, ρ_w), each above 0.

    Returns:
        The perturbation δ with |δc_i| = ρ_c/√m, ‖δU_i‖ = ρ_u/√m, ‖δW_i‖_F = ρ_w/√m.

    Raises:
        ValueError: a radius that is not above 0.

    Source:
        Arda, Cayci, Eryilmaz 2026, Definition 2.
    """
    m = direction.m
    size = [arguments.positive(f"radius[{k}]", value) / m**0.5 for k, value in enumerate(radius)]
    unit = [_unit(block.reshape(m, -1)) for block in direction.blocks]
    return Parameters(
        *(
            scale * u.reshape(block.shape)
            for scale, u, block in zip(size, unit, direction.blocks, strict=True)
        )
    )


def _unit(rows: Tensor) -> Tensor:
    """Rows scaled to length 1, however short they are; 0 stays 0."""
    top = rows.abs().amax(-1, keepdim=True)
    return torch.nn.functional.normalize(rows / torch.where(top > 0, top, 1.0), dim=-1)


def longest(phi0: Parameters, rho_u: float) -> Tensor:
    """R_i = ‖U_i⁽⁰⁾‖ + ρ_u/√m, the largest ‖U_i‖ in Ω_ρ, head by head.

    Args:
        phi0: the centre of Ω_ρ.
        rho_u: at least 0.

    Returns:
        Float[Tensor, "m"].

    Raises:
        ValueError: ``rho_u`` below 0.

    Source:
        The sharp form of Arda, Cayci, Eryilmaz 2026, Remark 7.
    """
    return phi0.U.norm(dim=-1) + arguments.at_least("rho_u", rho_u, 0.0) / phi0.m**0.5


def B_lin_paper(B: float, rho: Sequence[float], m: int, sigma: Activation = TANH) -> float:
    """The paper's bound on |f − f_lin| over Ω_ρ: m^{−1/2}(L₁ρ_c r + L₂r²) with r² = ρ_u² + ρ_w².

    Args:
        B: bound on every ‖U_i‖ over Ω_ρ, at least 0 (the paper's B_{U,m}).
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        m: number of heads.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: ``B`` or a radius below 0, ``m`` below 1.

    Source:
        Arda, Cayci, Eryilmaz 2026, Lemma 3.
    """
    c, u, w = radii(rho, m)
    r = math.hypot(u, w)
    return m**0.5 * (smoothness.L1_paper(B, sigma) * c * r + smoothness.L2_paper(B, sigma) * r**2)


def B_lin_joint(B: float, rho: Sequence[float], m: int, sigma: Activation = TANH) -> float:
    """The form of the paper's bound with Taylor's factor ½ and the sharper constants: m^{−1/2}(L₁ρ_c r + ½L₂^♯r²).

    Args:
        B: bound on every ‖U_i‖ over Ω_ρ, at least 0.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        m: number of heads.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: ``B`` or a radius below 0, ``m`` below 1.
    """
    c, u, w = radii(rho, m)
    r = math.hypot(u, w)
    return m**0.5 * (smoothness.L1(B, sigma) * c * r + 0.5 * smoothness.L2(B, sigma) * r**2)


def B_lin(R: Tensor, rho: Sequence[float], sigma: Activation = TANH) -> Tensor:
    """The head average m^{−1/2} · (1/m) Σ_i [σ₁ρ_c G₁(R_i) + ½G₂(R_i)]: a bound on |f − f_lin| over Ω_ρ, whatever X.

    Args:
        R: the largest ‖U_i‖ of each head in Ω_ρ (``longest``), or any bounds on them, Float[Tensor, "m"]; m entries B
            give the bound with the supremum over heads, block by block.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        sigma: the activation.

    Returns:
        The bound, a scalar tensor.

    Raises:
        ValueError: an entry or a radius below 0.
    """
    m = lengths(R)
    c, u, w = (m**0.5 * radius for radius in radii(rho, m))
    per_head = sigma.bounds[1] * c * first_order(R, u, w) + 0.5 * second_order(R, u, w, sigma)
    return per_head.mean() / m**0.5


def B_lin_no_log(m: int, d: int, rho: Sequence[float], x: float, sigma: Activation = TANH) -> float:
    """A bound on ``B_lin`` that holds with probability 1 − ½ exp(−x) over the initialisation, and has no logarithm of m.

    m^{−1/2}[σ₁ρ_cγ̄ + ½σ₂γ̄² + σ₁(ρ_uρ_w + ½κρ_w²R̄)], γ̄² = ρ_u² + ρ_w²R̄², with R̄ the root of
    ``norm_event.mean_square_bound`` plus ρ_u/√m.

    Args:
        m: number of heads, even.
        d: dimension, at least 1.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        x: at least 0.
        sigma: the activation.

    Returns:
        The bound.

    Raises:
        ValueError: an odd ``m``, ``d`` below 1, a radius or ``x`` below 0.
    """
    c, u, w = (m**0.5 * radius for radius in radii(rho, m))
    R = math.sqrt(norm_event.mean_square_bound(m, d, x)) + u / m**0.5
    return averaged_bound(torch.tensor([R], dtype=torch.float64), (c, u, w), sigma).item() / m**0.5


def averaged_bound(R: Tensor, rho: Sequence[float], sigma: Activation = TANH) -> Tensor:
    """σ₁ρ_cγ̄ + ½σ₂γ̄² + σ₁(ρ_uρ_w + ½κρ_w²R), γ̄² = ρ_u² + ρ_w²R²: at the root mean square R of the R_i, a bound on √m B_lin.

    Args:
        R: Float[Tensor, "..."], at least 0.
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        sigma: the activation.

    Returns:
        Float[Tensor, "..."].

    Raises:
        ValueError: an entry or a radius below 0.
    """
    c, u, w = radii(rho, 1)
    if float(arguments.floating("R", R, "...").detach().min()) < 0:
        raise ValueError(f"R must hold lengths of at least 0, got {float(R.min()):g}")
    _, s1, s2, _ = sigma.bounds
    square = u**2 + (w * R) ** 2
    return s1 * c * square.sqrt() + 0.5 * s2 * square + s1 * (u * w + 0.5 * KAPPA * w**2 * R)


def B_lin_pairs(R: Tensor, rho: Sequence[float], sigma: Activation = TANH) -> Tensor:
    """(1/m) · (1/m) Σ_i [G₃(R_i)/6 + ½ρ_c G₂(R_i)]: a bound on |f − f_lin| where partners move oppositely.

    Args:
        R: the largest ‖U_i‖ of each head, Float[Tensor, "m"].
        rho: (ρ_c, ρ_u, ρ_w), each at least 0.
        sigma: the activation; |σ‴| ≤ σ₃ is used, which the paper does not assume.

    Returns:
        The bound, a scalar tensor.

    Raises:
        ValueError: an entry or a radius below 0.
    """
    m = lengths(R)
    c, u, w = (m**0.5 * radius for radius in radii(rho, m))
    per_head = third_order(R, u, w, sigma) / 6 + 0.5 * c * second_order(R, u, w, sigma)
    return per_head.mean() / m


def lengths(R: Tensor) -> int:
    """Number of heads m, from bounds on their ‖U‖.

    Args:
        R: Float[Tensor, "m"].

    Returns:
        m.

    Raises:
        ValueError: not a vector of finite numbers of at least 0.
    """
    m = arguments.floating("R", R, "m").shape[0]
    if float(R.detach().min()) < 0:
        raise ValueError(f"R must hold lengths of at least 0, got {float(R.min()):g}")
    return m


def first_order(R: Tensor, r_u: float, r_w: float) -> Tensor:
    """G₁ of ``smoothness.G1`` for many radii at once.

    Args:
        R: bounds on ‖U‖, Float[Tensor, "m"], at least 0.
        r_u: radius of the block U, at least 0.
        r_w: radius of the block W, at least 0.

    Returns:
        Float[Tensor, "m"].

    Raises:
        ValueError: an argument below 0.
    """
    lengths(R)
    for name, value in (("r_u", r_u), ("r_w", r_w)):
        arguments.at_least(name, value, 0.0)
    inside = r_u < 2 * r_w * R
    safe = torch.where(inside, r_w * R, 1.0)
    return torch.where(inside, safe + r_u**2 / (4 * safe), r_u)


def second_order(
    R: Tensor, r_u: float, r_w: float, sigma: Activation = TANH, other: tuple[float, float] | None = None
) -> Tensor:
    """G₂ of ``smoothness.G2`` for many radii at once, or of two directions: a bound on |∇²h[δ, δ′]| over blocks.

    Args:
        R: bounds on ‖U‖, Float[Tensor, "m"], at least 0.
        r_u: radius of the block U of δ, at least 0.
        r_w: radius of the block W of δ, at least 0.
        sigma: the activation.
        other: radii of δ′, each at least 0; those of δ if not given.

    Returns:
        Float[Tensor, "m"], to about 1e-5 (relative, and from below).

    Raises:
        ValueError: an argument below 0.
    """
    o_u, o_w = (r_u, r_w) if other is None else other
    for name, value in (("r_u", r_u), ("r_w", r_w), ("other[0]", o_u), ("other[1]", o_w)):
        arguments.at_least(name, value, 0.0)

    def value(R: Tensor, z: Tensor, s: Tensor) -> Tensor:
        spread = 1 - s**2
        bend = sigma.second(z).abs() * (r_u * s + r_w * spread * R) * (o_u * s + o_w * spread * R)
        return bend + sigma.first(z).abs() * spread * (r_u * o_w + o_u * r_w + 2 * r_w * o_w * s * R)

    return _over_laws(value, R)


def smoothness_of_heads(R: Tensor, sigma: Activation = TANH) -> Tensor:
    """L₂^♯ of ``smoothness.L2`` for many radii at once.

    Args:
        R: bounds on ‖U‖, Float[Tensor, "m"], at least 0.
        sigma: the activation.

    Returns:
        Float[Tensor, "m"], to about 1e-5 (relative, and from below).

    Raises:
        ValueError: an entry below 0.
    """

    def value(R: Tensor, z: Tensor, s: Tensor) -> Tensor:
        bend, slope, spread = sigma.second(z).abs(), sigma.first(z).abs(), 1 - s**2
        first, last = bend * s**2, (bend * spread * R + 2 * slope * s) * spread * R
        return (first + last) / 2 + torch.hypot((first - last) / 2, (bend * s * R + slope) * spread)

    return _over_laws(value, R)


def third_of_heads(R: Tensor, sigma: Activation = TANH) -> Tensor:
    """L₃ of ``smoothness.L3`` for many radii at once.

    Args:
        R: bounds on ‖U‖, Float[Tensor, "m"], at least 0.
        sigma: the activation; |σ‴| ≤ σ₃ is used, which the paper does not assume.

    Returns:
        Float[Tensor, "m"].

    Raises:
        ValueError: an entry below 0.
    """
    lengths(R)
    B, (_, s1, s2, s3) = R.clamp(min=1), sigma.bounds
    return s3 * B**3 + 3 * s2 * B * H_star(R) + s1 * (2 * R + 8 / 9)


def _over_laws(value: Callable[[Tensor, Tensor, Tensor], Tensor], R: Tensor) -> Tensor:
    """Maximum of value(R, z, s) over 0 ≤ s ≤ 1, |z| ≤ sR for each R [m].

    From two grids: the ridge of the maximum follows the axes of the first for long U, of the second for short.
    """
    lengths(R)

    def from_z(R: Tensor, x: Tensor, y: Tensor) -> Tensor:
        cube = x.abs() ** 3
        return value(R, R * x**3, cube + (1 - cube) * y**3)

    def from_s(R: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return value(R, x * y * R, y)

    if not R.requires_grad:  # partners have the same length
        R, partner = R.unique(return_inverse=True)
    chunks = [chunk[:, None, None] for chunk in R.split(CHUNK)]
    found = torch.cat([torch.maximum(_peaks(from_z, chunk), _peaks(from_s, chunk)) for chunk in chunks])
    return found if R.requires_grad else found[partner]


def _peaks(value: Callable[[Tensor, Tensor, Tensor], Tensor], R: Tensor) -> Tensor:
    """Maximum of value(R, x, y) over −1 ≤ x ≤ 1, 0 ≤ y ≤ 1 for each R [m 1 1], coarse to fine; differentiable in R."""
    like = {"dtype": R.dtype, "device": R.device}
    with torch.no_grad():
        x, y = torch.linspace(-1, 1, 121, **like), torch.linspace(0, 1, 31, **like)
        coarse = value(R, x[:, None], y[None])
        padded = torch.nn.functional.max_pool2d(coarse, 3, stride=1, padding=1)
        order = torch.where(padded == coarse, coarse, -math.inf).flatten(1).topk(4).indices  # [m 4]
        x, y = x[order // 31][..., None], y[order % 31][..., None]
        wide, high = 1 / 30, 1 / 15
        steps = torch.linspace(-1, 1, 7, **like)
        across, along = steps.repeat_interleave(7), steps.repeat(7)
        for _ in range(30):
            around_x, around_y = (x + wide * across).clamp(-1, 1), (y + high * along).clamp(0, 1)
            place = value(R, around_x, around_y).argmax(-1, keepdim=True)
            x, y = around_x.gather(-1, place), around_y.gather(-1, place)
            wide, high = wide / 1.6, high / 1.6
    return value(R, x, y).amax((1, 2))


def third_order(R: Tensor, r_u: float, r_w: float, sigma: Activation = TANH) -> Tensor:
    """G₃ = σ₃G₁³ + 3σ₂G₁Z₂ + σ₁(3κ r_u r_w² + 2R r_w³), a bound on |∇³h[δ, δ, δ]| over blocks.

    Z₂ = max_s 2(1 − s²)(r_u r_w + r_w² sR) bounds |∇²z[δ, δ]|.

    Args:
        R: bounds on ‖U‖, Float[Tensor, "m"], at least 0.
        r_u: radius of the block U, at least 0.
        r_w: radius of the block W, at least 0.
        sigma: the activation.

    Returns:
        Float[Tensor, "m"].

    Raises:
        ValueError: an argument below 0.
    """
    G1 = first_order(R, r_u, r_w)
    flat, tilt = r_u * r_w, r_w**2 * R
    s = tilt / (flat + torch.sqrt(flat**2 + 3 * tilt**2)).clamp(min=1e-300)
    Z2 = 2 * (1 - s**2) * (flat + tilt * s)
    _, s1, s2, s3 = sigma.bounds
    return s3 * G1**3 + 3 * s2 * G1 * Z2 + s1 * (3 * KAPPA * r_u * r_w**2 + 2 * R * r_w**3)
