"""Exercises of the chapter *When the assumptions break*."""

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from shallowformer.exercises.feedback import Feedback, judge, judge_number
from shallowformer.kernel_regime import data, parameters, tangent_kernel

#: What people answer instead, by the hint they get; arguments y and K.
FENCE_MISTAKES = {
    "‖(ρ, ρ, ρ)‖ is √3 ρ.": lambda y, K: least_fence(y, K) * 3**0.5,
    "λ_max of K/n, not of K.": lambda y, K: least_fence(y, K) / len(y) ** 0.5,
    "the square root of λ_max/n.": lambda y, K: (
        y.square().mean().sqrt() / (3**0.5 * torch.linalg.eigvalsh(K)[-1] / len(y))
    ),
    "the root of the mean square of the labels, not of its sum.": lambda y, K: (
        least_fence(y, K) * len(y) ** 0.5
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


def least_fence(y: Tensor, K: Tensor) -> Tensor:
    """The radius of three equal balls below which the linear model cannot fit labels: RMS(y)/√(3 λ_max(K)/n).

    Args:
        y: labels, Float[Tensor, "n"].
        K: Gram matrix of the tangent kernel, Float[Tensor, "n n"].

    Returns:
        ρ, a scalar tensor.
    """
    return (y.square().mean() * len(y) / (3 * torch.linalg.eigvalsh(K)[-1])).sqrt()


def price(K: Tensor, y: Tensor) -> Tensor:
    """The largest (y_j − y_l)²/(K_jj − 2K_jl + K_ll): no function with these labels has a smaller squared norm.

    Args:
        K: Gram matrix without twins, Float[Tensor, "n n"].
        y: labels, Float[Tensor, "n"].

    Returns:
        The number, a scalar tensor.
    """
    return _largest((y[:, None] - y) ** 2, _distances(K))


def _distances(K: Tensor) -> Tensor:
    return K.diagonal()[:, None] - 2 * K + K.diagonal()


def _largest(above: Tensor, below: Tensor) -> Tensor:
    off = ~torch.eye(len(above), dtype=torch.bool)
    return (above[off] / below[off]).max()


def _cases() -> list[tuple[str, tuple[Tensor, Tensor]]]:
    """Labels and Gram matrices."""
    generator = Generator().manual_seed(0)
    K = tangent_kernel.finite(data.sphere(6, 5, 3, generator), parameters.symmetric(8, 3, generator)).total
    y = torch.randn(6, generator=generator, dtype=torch.float64)
    small = torch.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
    return [("two samples", (torch.tensor([1.0, -2.0], dtype=torch.float64), small)), ("six", (y, K))]


def check_least_fence(answer: Callable[[Tensor, Tensor], Tensor]) -> Feedback:
    """Exercise *The least fence*: ρ from labels and Gram matrix.

    Args:
        answer: y, K → ρ.

    Returns:
        The feedback.
    """
    return judge("ex-breaks-fence", answer, least_fence, _cases(), FENCE_MISTAKES)


def check_price(answer: Callable[[Tensor, Tensor], Tensor]) -> Feedback:
    """Exercise *What two labels cost*: the largest two-point bound.

    Args:
        answer: K, y → number.

    Returns:
        The feedback.
    """
    cases = [(name, (K, y)) for name, (y, K) in _cases()]
    return judge("ex-breaks-price", answer, price, cases, PRICE_MISTAKES)


def check_lazy_width(answer: object) -> Feedback:
    """Exercise *As lazy as before*: the width that labels of size 1 need to be as lazy as labels of size 1/16 with 64 heads.

    Args:
        answer: the width.

    Returns:
        The feedback.
    """

    def verdict(number: float) -> Feedback:
        wrong = lambda message: Feedback("ex-breaks-lazy", "wrong", message)
        if number == 64 * 256:
            return Feedback("ex-breaks-lazy", "passed", "s²/m is the same: 64 · 16².")
        if number == 64 * 16:
            return wrong("the distance itself is cubic in s, and f is linear: compare s²/m.")
        if number == 64 * 16**3:
            return wrong("relative to f: one power of s goes into f itself.")
        return wrong("keep s²/m as it was.")

    return judge_number("ex-breaks-lazy", answer, verdict)


def check_share(answer: object) -> Feedback:
    """Exercise *Order*: the share of the variance of ⟨e₁, X_1⟩ that is out of reach for 5 independent tokens.

    Args:
        answer: the share.

    Returns:
        The feedback.
    """

    def verdict(number: float) -> Feedback:
        wrong = lambda message: Feedback("ex-breaks-share", "wrong", message)
        if abs(number - 3 / 4) < 0.02:
            return Feedback("ex-breaks-share", "passed", "1 − 1/(T − 1).")
        if abs(number - 1 / 4) < 0.02:
            return wrong("that is the share in reach.")
        if abs(number - 4 / 5) < 0.02:
            return wrong("the last token is the query: only the T − 1 before it change places.")
        return wrong("the reachable part is the mean of ⟨e₁, X_t⟩ over t < T. What is its variance?")

    return judge_number("ex-breaks-share", answer, verdict)
