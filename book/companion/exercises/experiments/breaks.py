"""Exercises of the chapter *When the assumptions break*."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import data
from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.exercises.heads import Scalar
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model import parameters

#: What people answer instead, by the hint they get; arguments y and K.
LEAST_RADIUS_MISTAKES = {
    "‖(ρ, ρ, ρ)‖ is √3 ρ.": lambda y, K: least_radius(y, K) * 3**0.5,
    "λ_max of K/n, not of K.": lambda y, K: least_radius(y, K) / len(y) ** 0.5,
    "the square root of λ_max/n.": lambda y, K: (
        y.square().mean().sqrt() / (3**0.5 * torch.linalg.eigvalsh(K)[-1] / len(y))
    ),
    "the root of the mean square of the labels, not of its sum.": lambda y, K: (
        least_radius(y, K) * len(y) ** 0.5
    ),
}

#: What people answer instead, by the hint they get; arguments K and y.
PRICE_MISTAKES = {
    "the squared distance of two sections has a third term: K(X, X) − 2K(X, X′) + K(X′, X′).": lambda K, y: (
        _largest((y[:, None] - y) ** 2, K.diagonal()[:, None] + K.diagonal() - K)
    ),
    "the difference of the labels is squared.": lambda K, y: _largest((y[:, None] - y).abs(), _distances(K)),
    "divide by the squared distance.": lambda K, y: _largest((y[:, None] - y) ** 2, _distances(K).sqrt()),
}


def least_radius(y: Float[Tensor, " n"], K: Float[Tensor, "n n"]) -> Float[Tensor, ""]:
    """The radius of three equal balls below which the linear model cannot fit labels: RMS(y)/√(3 λ_max(K)/n)."""
    return (y.square().mean() * len(y) / (3 * torch.linalg.eigvalsh(K)[-1])).sqrt()


def price(K: Float[Tensor, "n n"], y: Float[Tensor, " n"]) -> Float[Tensor, ""]:
    """The largest (y_j − y_l)²/(K_jj − 2K_jl + K_ll), for K without twins: no function with these labels has a smaller squared norm."""
    return _largest((y[:, None] - y) ** 2, _distances(K))


def _distances(K: Tensor) -> Tensor:
    return K.diagonal()[:, None] - 2 * K + K.diagonal()


def _largest(above: Tensor, below: Tensor) -> Tensor:
    off = ~torch.eye(len(above), dtype=torch.bool)
    return (above[off] / below[off]).max()


def _cases() -> list[tuple[str, tuple[Tensor, Tensor]]]:
    generator = Generator().manual_seed(0)
    K = tangent_kernel.finite(data.sphere(6, 5, 3, generator), parameters.symmetric(8, 3, generator)).total
    y = torch.randn(6, generator=generator, dtype=torch.float64)
    small = torch.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
    return [("two samples", (torch.tensor([1.0, -2.0], dtype=torch.float64), small)), ("six", (y, K))]


def check_least_radius(
    answer: Callable[[Float[Tensor, " n"], Float[Tensor, "n n"]], Scalar],
) -> Feedback:
    """Exercise *The least fence*: labels y, Gram matrix K → ρ."""
    return judge("ex-breaks-fence", answer, least_radius, _cases(), LEAST_RADIUS_MISTAKES)


def check_price(
    answer: Callable[[Float[Tensor, "n n"], Float[Tensor, " n"]], Scalar],
) -> Feedback:
    """Exercise *What two labels cost*: the largest two-point bound; K, y → number."""
    cases = [(name, (K, y)) for name, (y, K) in _cases()]
    return judge("ex-breaks-price", answer, price, cases, PRICE_MISTAKES)


#: What people answer instead, by the hint they get.
LAZY_WIDTH_MISTAKES = {
    "the distance itself is cubic in s, and f is linear: compare s²/m.": 64 * 16,
    "relative to f: one power of s goes into f itself.": 64 * 16**3,
}


def check_lazy_width(answer: Answer) -> Feedback:
    """Exercise *As lazy as before*: the width that labels of size 1 need to be as lazy as labels of size 1/16 with 64 heads."""
    return judge_number(
        "ex-breaks-lazy",
        answer,
        64 * 16**2,
        LAZY_WIDTH_MISTAKES,
        "keep s²/m as it was.",
        "s²/m is the same: 64 · 16².",
        tolerance=0.0,
    )


#: What people answer instead, by the hint they get.
SHARE_MISTAKES = {
    "that is the share in reach.": 1 / 4,
    "the last token is the query: only the T − 1 before it change places.": 4 / 5,
}


def check_share(answer: Answer) -> Feedback:
    """Exercise *Order*: the share of the variance of ⟨e₁, X_1⟩ that is out of reach for 5 independent tokens."""
    return judge_number(
        "ex-breaks-share",
        answer,
        3 / 4,
        SHARE_MISTAKES,
        "the reachable part is the mean of ⟨e₁, X_t⟩ over t < T. What is its variance?",
        "1 − 1/(T − 1).",
        tolerance=0.02,
        near=0.03,
    )
