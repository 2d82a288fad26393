"""The six gradients in closed form, and everything that the backward pass computes on the way to them."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from shallowformer.residual import model
from shallowformer.residual.model import Forward, over_sequences, over_tokens
from shallowformer.residual.parameters import Parameters, Setting


@dataclass(frozen=True)
class Backward:
    """The backward pass."""

    forward: Forward  # what the network computed
    loss: Float[Tensor, "*s"]  # Φ
    E: Float[Tensor, "*s P N K"]  # errors F − Y = ∂Φ/∂F
    G: Float[Tensor, "*s P N d"]  # E W_Uᵀ = ∂Φ/∂H
    D: Float[Tensor, "*s P N d_1"]  # φ′(Z W_1) ⊙ (G W_2ᵀ) = ∂Φ/∂(Z W_1)
    B: Float[Tensor, "*s P N d"]  # g_f G + D W_1ᵀ = ∂Φ/∂Z
    M: Float[Tensor, "*s P N N"]  # B (X W_V)ᵀ = ∂Φ/∂S
    T: Float[Tensor, "*s P N N"]  # S ⊙ (M − ((S ⊙ M)1)1ᵀ) = ∂Φ/∂L, L the logits
    gradients: Parameters  # of the six blocks


def backward(
    X: Float[Tensor, "*s P N d"], Y: Float[Tensor, "*s P N K"], theta: Parameters, setting: Setting
) -> Backward:
    """The loss, its six gradients and what they are made of.

    Source: Qin, Zhou, Jiang, Zhu 2025, Appendix A, equations (10) to (17), in our reading.
    """
    model.check(X, theta, setting, Y)
    return unchecked(X, Y, theta, setting)


def unchecked(
    X: Float[Tensor, "*s P N d"], Y: Float[Tensor, "*s P N K"], theta: Parameters, setting: Setting
) -> Backward:
    """``backward`` for loops whose arguments have been checked before."""
    now, W, scale = model.unchecked(X, theta, setting), over_sequences(theta), setting.divisor(theta)
    E = now.F - Y
    G = E @ W.W_U.mT
    D = setting.activation.first(now.pre) * (G @ W.W_2.mT)
    B = over_tokens(setting.g_f) * G + D @ W.W_1.mT
    M = B @ (X @ W.W_V).mT
    T = now.S * (M - (now.S * M).sum(-1, keepdim=True))
    found = Parameters(
        W_Q=summed(X, T @ (X @ W.W_K)) / scale,
        W_K=summed(X, T.mT @ (X @ W.W_Q)) / scale,
        W_V=summed(now.S @ X, B),
        W_1=summed(now.Z, D),
        W_2=summed(now.A, G),
        W_U=summed(now.H, E),
    )
    return Backward(now, model.half_square(E), E, G, D, B, M, T, found)


def gradients(
    X: Float[Tensor, "*s P N d"], Y: Float[Tensor, "*s P N K"], theta: Parameters, setting: Setting
) -> Parameters:
    """∇Φ, block by block. Source: Qin, Zhou, Jiang, Zhu 2025, Appendix A, equations (10) to (17), in our reading."""
    return backward(X, Y, theta, setting).gradients


def summed(left: Float[Tensor, "*s P N a"], right: Float[Tensor, "*s P N b"]) -> Float[Tensor, "*s a b"]:
    """Σ_p left_pᵀ right_p, as one product of matrices stacked over the sequences."""
    return left.flatten(-3, -2).mT @ right.flatten(-3, -2)
