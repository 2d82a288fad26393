"""Exercises of the chapter *Reproduction notes*."""

from collections.abc import Callable

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer.exercises.feedback import Feedback, judge


def _logits(X: Tensor, W: Tensor) -> Tensor:
    return torch.einsum("nta,hab,nb->nht", X, W, X[:, -1])


#: What people answer instead, by the hint they get; arguments are tokens [n T d] and matrices [H d d].
LOGITS_MISTAKES = {
    "W carries one letter twice: that takes its diagonal.": lambda X, W: torch.einsum("nta,haa,na->nht", X, W, X[:, -1]),
    "that is ⟨X_t, Wᵀ q⟩; the query belongs to the columns of W.": lambda X, W: torch.einsum("nta,hba,nb->nht", X, W, X[:, -1]),
    "the query is the last token, X[:, -1].": lambda X, W: torch.einsum("nta,hab,nb->nht", X, W, X[:, 0]),
    "the axes are inputs, heads, tokens, in this order.": lambda X, W: torch.einsum("nta,hab,nb->nth", X, W, X[:, -1]),
}  # fmt: skip


def check_logits(
    logits: Callable[[Float64[Tensor, "n T d"], Float64[Tensor, "H d d"]], Float64[Tensor, "n H T"]],
) -> Feedback:
    """Exercise *Index letters*: all logits ⟨X_t, W_h X_T⟩ at once; tokens, matrices → logits."""
    generator = Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64)
    cases = [
        (f"{n} inputs of {T} tokens in dimension {d}, {H} heads", (draw(n, T, d), draw(H, d, d)))
        for n, T, d, H in ((1, 2, 2, 1), (3, 4, 2, 5), (2, 5, 3, 4))
    ]
    return judge("ex-reproduction-logits", logits, _logits, cases, LOGITS_MISTAKES)


def _pair_variance(cosine: float, d: int) -> float:
    return (1 + 2 * cosine**2) / (d + 2)


#: What people answer instead, by the hint they get; arguments are the cosine between x and q, and d.
PAIR_VARIANCE_MISTAKES = {
    "that holds for independent x and q only; here their angle is fixed.": lambda cosine, d: 1 / d,
    "that is the case x = q, a cosine of 1.": lambda cosine, d: 3 / (d + 2),
    "at a cosine of 1 the mean must be 3/(d + 2): look at Σ E[q_a⁴] again.": lambda cosine, d: (1 + cosine**2) / (d + 2),
    "the two parts mix with cos² and 1 − cos², not with cos and 1 − cos.": lambda cosine, d: (1 + 2 * abs(cosine)) / (d + 2),
}  # fmt: skip


def check_pair_variance(pair_variance: Callable[[float, int], float]) -> Feedback:
    """Exercise *At a given angle*: the mean of Σ x_a² q_a² over all pairs of unit vectors with a given cosine.

    Args:
        pair_variance: cosine in [−1, 1], d ≥ 2 → a number.
    """
    cases = [(f"cosine {c}, d = {d}", (c, d)) for c, d in ((1.0, 8), (0.0, 8), (-0.5, 3), (0.3, 2))]
    return judge("ex-reproduction-angle", pair_variance, _pair_variance, cases, PAIR_VARIANCE_MISTAKES)


def _alike_error(h: Tensor, h0: Tensor, rho_c: float) -> Tensor:
    return rho_c * (h - h0).mean(-1)


#: What people answer instead, by the hint they get; arguments are outputs [n m/2] after and before, and ρ_c.
ALIKE_MISTAKES = {
    "partners contribute alike: the sum over all heads is twice that over the first half.": lambda h, h0, rho_c: rho_c * (h - h0).mean(-1) / 2,
    "the tangent in the direction of c takes δc_i h_i at the start away.": lambda h, h0, rho_c: rho_c * h.mean(-1),
    "m is the number of all heads, twice that of the columns.": lambda h, h0, rho_c: 2 * rho_c * (h - h0).mean(-1),
    "one factor 1/√m comes with f, another with δc_i = ρ_c/√m.": lambda h, h0, rho_c: rho_c * (h - h0).sum(-1) * (2 / h.shape[-1]) ** 0.5,
}  # fmt: skip


def check_alike_error(
    alike_error: Callable[[Float64[Tensor, "n m/2"], Float64[Tensor, "n m/2"], float], Float64[Tensor, " n"]],
) -> Feedback:
    """Exercise *Without a tangent*: f − f_lin at the released point, from outputs of the first half of the heads.

    Args:
        alike_error: outputs at the point and at the start, ρ_c → f − f_lin.
    """
    generator = Generator().manual_seed(0)
    draw = lambda *shape: torch.rand(shape, generator=generator, dtype=torch.float64)
    cases = [
        (f"{n} inputs, {2 * k} heads", (draw(n, k), draw(n, k), rho))
        for n, k, rho in ((3, 4, 3.0), (1, 8, 1.0))
    ]
    return judge("ex-reproduction-alike", alike_error, _alike_error, cases, ALIKE_MISTAKES)
