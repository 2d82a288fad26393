"""Comparators φ̃ of the convergence proofs: points near the start that fit the labels; here those of the ridge path.

The paper compares with the transported point, ``transportation.transported``. Any other point of Ω_ρ will do. The ridge path needs
no transportation mapping and no target that one could represent: it is computed from the data and the features at the start.
"""

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime import model, tangent_kernel
from shallowformer.kernel_regime.loss import Loss
from shallowformer.kernel_regime.parameters import Parameters


def weights(loss: Loss, phi0: Parameters, lam: float) -> Tensor:
    """The α with (K_m + nλI) α = y − f(φ⁽⁰⁾), K_m the tangent kernel at φ⁽⁰⁾.

    Args:
        loss: the data set, with labels for one student.
        phi0: the start φ⁽⁰⁾.
        lam: λ, at least 0; for 0 the solution of least norm, where there is one.

    Returns:
        Float[Tensor, "n"].

    Raises:
        ValueError: ``lam`` below 0, or labels for several students.
    """
    arguments.at_least("lam", lam, 0.0)
    query = fixed_queries(loss)
    K = tangent_kernel.finite(loss.X, phi0, query=query, sigma=loss.sigma).total
    missing = one_column(loss) - model.f(loss.X, phi0, query, loss.sigma)
    if lam == 0:
        return torch.linalg.pinv(K, hermitian=True) @ missing
    return torch.linalg.solve(K + loss.n * lam * torch.eye(loss.n, dtype=K.dtype, device=K.device), missing)


def ridge(loss: Loss, phi0: Parameters, lam: float) -> Parameters:
    """The point φ̃ that minimises (1/n) Σ_j (f_lin(X⁽ʲ⁾; φ̃) − y⁽ʲ⁾)² + λ‖φ̃ − φ⁽⁰⁾‖².

    φ̃ = φ⁽⁰⁾ + Σ_j α_j ∇f(X⁽ʲ⁾; φ⁽⁰⁾) with the ``weights`` α. At a symmetric start partners move oppositely in U and W, and alike in c.

    Args:
        loss: the data set, with labels for one student.
        phi0: the start φ⁽⁰⁾, where the linear model is taken.
        lam: λ, at least 0; for 0 the nearest point at which the linear model fits the labels as well as it can.

    Returns:
        φ̃.

    Raises:
        ValueError: ``lam`` below 0, or labels for several students.
    """
    return moved(loss, phi0, weights(loss, phi0, lam))


def moved(loss: Loss, phi0: Parameters, alpha: Tensor) -> Parameters:
    """φ⁽⁰⁾ + Σ_j α_j ∇f(X⁽ʲ⁾; φ⁽⁰⁾).

    Args:
        loss: the data set.
        phi0: the start φ⁽⁰⁾.
        alpha: the weights α, Float[Tensor, "n"].

    Returns:
        The point.

    Raises:
        ValueError: parameters or weights that do not fit the data.
    """
    query = fixed_queries(loss)
    # The gradient of a mean squared loss with residuals nα/2 is Σ_j α_j ∇f_j.
    labels = model.f(loss.X, phi0, query, loss.sigma) - loss.n / 2 * alpha
    step = Loss(loss.X, labels, query, loss.sigma, loss.chunk)(phi0)[1]
    return Parameters(*(a + b for a, b in zip(phi0.blocks, step.blocks, strict=True)))


def fixed_queries(loss: Loss):
    """The queries that a loss was prepared with, as a function of its own inputs.

    Args:
        loss: the data set.

    Returns:
        A query; only for ``loss.X``.
    """
    return lambda X: loss.q


def one_column(loss: Loss) -> Tensor:
    """The labels of a loss for one student.

    Args:
        loss: the data set.

    Returns:
        Float[Tensor, "n"].

    Raises:
        ValueError: labels for several students.
    """
    if loss.y.shape[1] != 1:
        raise ValueError(f"loss must have the labels of one student, got {loss.y.shape[1]} columns")
    return loss.y[:, 0]
