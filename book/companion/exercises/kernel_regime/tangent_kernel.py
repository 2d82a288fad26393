"""Exercises of the chapter *The Transformer's tangent kernel*."""

import math
from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from shallowformer import data
from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number
from shallowformer.exercises.heads import Matrix, Scalar, Tokens, Vector, head
from shallowformer.exercises.memory import without_matrix


def _blocks(
    X: Tensor, Z: Tensor, q: Tensor, p: Tensor, U: Tensor, W: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The three blocks of the kernel, but for σ′ at both inputs in the last two."""
    one, other = head(X, q, U, W), head(Z, p, U, W)
    return one.h * other.h, one.a @ other.a, (q @ p) * (one.MU @ other.MU)


def _slopes(X: Tensor, Z: Tensor, q: Tensor, p: Tensor, U: Tensor, W: Tensor) -> Tensor:
    return head(X, q, U, W).slope * head(Z, p, U, W).slope


def _head_kernel(*case: Tensor) -> Tensor:
    c, u, w = _blocks(*case)
    return c + _slopes(*case) * (u + w)


def _without_queries(*case: Tensor) -> Tensor:
    (c, u, w), (_, _, q, p, *_) = _blocks(*case), case
    return c + _slopes(*case) * (u + w / (q @ p))


def _without_attention(*case: Tensor) -> Tensor:
    c, u, _ = _blocks(*case)
    return c + _slopes(*case) * u


def _uncentred(X: Tensor, Z: Tensor, q: Tensor, p: Tensor, U: Tensor, W: Tensor) -> Tensor:
    """The attention block with second moments for covariances."""
    left, right = ((head(S, r, U, W).alpha * (S @ U)) @ S for S, r in ((X, q), (Z, p)))
    return _without_attention(X, Z, q, p, U, W) + _slopes(X, Z, q, p, U, W) * (q @ p) * (left @ right)


#: What people answer instead, by the hint they get.
HEAD_KERNEL_MISTAKES = {
    "the queries are missing: ⟨xqᵀ, x′q′ᵀ⟩ = ⟨x, x′⟩⟨q, q′⟩.": _without_queries,
    "the attention block is missing.": _without_attention,
    "σ′ at both inputs is missing in the feed-forward and attention blocks.": lambda *case: sum(_blocks(*case)),
    "the mean must be subtracted: M is a covariance, not a second moment.": _uncentred,
}  # fmt: skip


def _case(T: int, S: int, d: int, generator: Generator) -> tuple[Tensor, ...]:
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    X, Z = (data.sphere(1, length, d, generator)[0] for length in (T, S))
    q, p = 0.9 * data.sphere(1, 2, d, generator)[0]
    return X, Z, q, p, draw(d), draw(d, d)


def check_head_kernel(
    head_kernel: Callable[[Tokens, Float64[Tensor, "S d"], Vector, Vector, Vector, Matrix], Scalar],
) -> Feedback:
    """Exercise *The kernel of one head*: κ(X, Z) of one head with σ = tanh; X, Z, q, p, U, W → a number."""
    generator = Generator().manual_seed(0)
    shapes = ((3, 3, 2), (5, 2, 3), (16, 9, 8), (1, 4, 3))
    cases = [(f"T = {T} and {S}, d = {d}", _case(T, S, d, generator)) for T, S, d in shapes]
    feedback = judge("ex-kernel-head", head_kernel, _head_kernel, cases, HEAD_KERNEL_MISTAKES)
    instead = "MU is a vector, and an inner product of outer products is a product of inner products"
    return without_matrix(feedback, head_kernel, _case(3, 2, 200, generator), instead)


def _token_blocks(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    c, v = x @ y, (1 + 2 * x @ x) * (1 + 2 * y @ y)
    return 2 / math.pi * torch.asin(2 * c / v.sqrt()), 4 / math.pi * c / (v - 4 * c**2).sqrt()


#: What people answer instead, by the hint they get.
TOKEN_KERNEL_MISTAKES = {
    "this is K_c; the feed-forward vector U is trained as well and adds K_u.": lambda x, y: _token_blocks(x, y)[0],
    "K_u carries ⟨a, a′⟩ = ⟨x, y⟩.": lambda x, y: _token_blocks(x, y)[0] + _token_blocks(x, y)[1] / (x @ y),
    "erf′(z) = 2/√π · e^{−z²}: its square brings 4/π, not 2/π.": lambda x, y: _token_blocks(x, y)[0] + _token_blocks(x, y)[1] / 2,
}  # fmt: skip


def check_token_kernel(token_kernel: Callable[[Vector, Vector], Scalar]) -> Feedback:
    """Exercise *One token, in closed form*: K(x, y) for T = 1 and σ = erf; x, y → a number."""
    generator = Generator().manual_seed(1)
    cases = [
        (f"d = {d}", tuple(data.sphere(1, 2, d, generator)[0] * torch.tensor([[0.9], [0.6]]).double()))
        for d in (1, 3, 8)
    ]
    reference = lambda x, y: sum(_token_blocks(x, y))
    return judge("ex-kernel-token", token_kernel, reference, cases, TOKEN_KERNEL_MISTAKES)


def heads_for_one_per_cent(step: float = 0.1) -> float:
    """2 Var κ / (0.01 K)² for tokens ±e, q = e and tanh, by trapezoidal sums with nodes ``step`` apart in two dimensions.

    So many heads has a symmetric initialisation whose kernel is off by 1 % in root mean square.
    """
    x = np.arange(-9, 9 + step / 2, step)
    weight = np.exp(-(x**2) / 2)
    weight = weight / weight.sum()
    t = np.tanh(x)[:, None]
    h = np.tanh(t * x)
    kappa = h**2 + (1 - h**2) ** 2 * (t**2 + ((1 - t**2) * x) ** 2)
    mean, square = (weight @ power @ weight for power in (kappa, kappa**2))
    return 2 * (square - mean**2) / (0.01 * mean) ** 2


def check_heads_for_one_per_cent(heads: Answer) -> Feedback:
    """Exercise *How many heads for one per cent?*."""
    right = heads_for_one_per_cent()
    mistakes = {
        "heads come in pairs that contribute the same: m heads are m/2 independent draws": right / 2,
        "this is 2 Var κ/K²: an error of 1 % needs 100² times as many heads": right / 1e4,
        "the error falls like 1/√m: the ratio has to be squared": right**0.5,
    }

    def otherwise(number: float) -> str:
        return f"{number:.4g} is too {'large' if number > right else 'small'}"

    praise = f"{right:.0f} heads, by quadrature"
    return judge_number(
        "ex-kernel-heads",
        heads,
        right,
        mistakes,
        otherwise,
        praise,
        tolerance=0.1 * right,
        near=0.1,
        begin="the relative mean square error of m/2 independent pairs is Var κ/(K² m/2): set its root to 0.01.",
    )
