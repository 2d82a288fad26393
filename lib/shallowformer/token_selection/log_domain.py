"""Attention and the exponential loss in log form: no number is ever 1 − φ, and e^{−2580} is −2580.

Arrays are NumPy's, because a step on a few dozen numbers costs the overhead of its operations; leading dimensions are runs side by side.
Weights of a sequence's T − 1 other tokens are worked on together with their gaps h = log φ_opt − log φ_t.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Array = np.ndarray

#: Stands for the largest of logarithms that are all −∞.
LEAST = np.finfo(float).min


def log_sum_exp(a: Float[Array, "*s T"]) -> Float[Array, "*s"] | np.floating:
    """Log-sum-exp: log Σ_t e^{a_t} along the last dimension; entries may be −∞."""
    if a.shape[-1] == 1:
        return a[..., 0]
    top = np.maximum(a.max(-1, keepdims=True), LEAST)
    return np.log(np.exp(a - top).sum(-1)) + top[..., 0]


def log_expm1(log_x: Float[Array, "*s"] | np.floating) -> Float[Array, "*s"]:
    """log(eˣ − 1) from log x, −∞ for x = 0."""
    x = np.exp(log_x)
    large = np.maximum(x, 1e-9)
    return np.where(x < large, log_x + x / 2, large + np.log(-np.expm1(-large)))


@dataclass(frozen=True)
class Weights:
    """Attention weights of sequences whose optimal token is ahead by gaps h."""

    log_best: Float[Array, "*s n"]  # log φ_opt
    log_rest: Float[Array, "*s n others"]  # log φ_t of the others
    log_off: Float[Array, "*s n"]  # log(1 − φ_opt)

    @classmethod
    def of(cls, h: Float[Array, "*s n others"]) -> "Weights":
        """From the gaps."""
        behind = log_sum_exp(-h)
        log_best = -np.logaddexp(0.0, behind)
        return cls(log_best, log_best[..., None] - h, behind + log_best)


def pulls(
    weights: Weights, ahead: Float[Array, "*s n others"], between: Float[Array, "*s n others others"] | None
) -> tuple[Float[Array, "*s n others"], Float[Array, "*s n others"]]:
    """Sign and log of γ̄ − γ_t, the mean score less that of a token: how hard its weight is pushed down.

    γ̄ − γ_t = φ_opt(γ_opt − γ_t) + Σ_s φ_s(γ_s − γ_t) is summed term by term: γ̄ itself is γ_opt or γ_t to all digits once a weight is 1.

    Args:
        ahead: γ_opt − γ_t.
        between: γ_s − γ_t at [t, s]; None if they are all 0 (Assumption 2).
    """
    with np.errstate(divide="ignore"):
        if between is None:
            return np.sign(ahead), weights.log_best[..., None] + np.log(np.abs(ahead))
        terms = np.concatenate(
            [
                (weights.log_best[..., None] + np.log(np.abs(ahead)))[..., None],
                weights.log_rest[..., None, :] + np.log(np.abs(between)),
            ],
            -1,
        )
        top = np.maximum(terms.max(-1, keepdims=True), LEAST)
        signs = np.concatenate([np.sign(ahead)[..., None], np.sign(between)], -1)
        total = (signs * np.exp(terms - top)).sum(-1)
        return np.sign(total), np.log(np.abs(total)) + top[..., 0]
