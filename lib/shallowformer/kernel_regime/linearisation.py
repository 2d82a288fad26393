"""How far the model is from its linearisation, head by head, on the boundary of the set Ω_ρ around the initialisation."""

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime import model
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.gradients import features
from shallowformer.kernel_regime.parameters import Parameters
from shallowformer.kernel_regime.queries import Query, last_token


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
        Arda, Cayci, Eryilmaz 2026, the quantity that Lemma 3 bounds.
    """
    before = features(X, phi, query, sigma)
    arguments.shape("delta.W", delta.W, tuple(phi.W.shape), "[m, d, d] as in phi")
    arguments.same_kind("phi", phi.W, delta=delta.W)
    moved = Parameters(*(block + step for block, step in zip(phi.blocks, delta.blocks, strict=True)))
    step = model.hidden(X, moved, query, sigma) - before.c
    slope = torch.einsum("nmd,md->nm", before.u, delta.U)
    slope += torch.einsum("nmd,mde,ne->nm", before.w_left, delta.W, before.q)
    return (phi.c * (step - slope) + delta.c * step) / phi.m**0.5


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
    unit = [torch.nn.functional.normalize(block.reshape(m, -1), dim=-1) for block in direction.blocks]
    return Parameters(
        *(
            scale * u.reshape(block.shape)
            for scale, u, block in zip(size, unit, direction.blocks, strict=True)
        )
    )
