"""Data on which token selection is studied: Example 1, (DM), Gaussian tokens, two tokens, a bad direction, patches of digits."""

import math

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, NonNegative, Positive, contract
from shallowformer.token_selection.instances import Instance

Draws = torch.float64


@contract
def example_1(n: Count, T: int, d: int, U: Positive, rho: Positive, generator: Generator) -> Instance:
    """Example 1 in our reading: the optimal token is one of two orthogonal means of norm U, all others are noise orthogonal to both.

    Scores are 1 for the optimal token and 0 for all others: Assumption 2 holds exactly, Υ = e. ρ is the noise's standard deviation.
    Source: Vasudeva, Deora, Thrampoulidis 2024, Example 1: means without noise, noise orthogonal to them, random places and this decoder.
    """
    arguments.count("T", T, 2)
    arguments.count("d", d, 3)
    X = rho * torch.randn(n, T, d, generator=generator, dtype=Draws)
    X[..., :2] = 0  # the means are the first two axes, up to a rotation that changes nothing
    y = _signs(n, generator)
    opt = torch.randint(T, (n,), generator=generator)
    X[torch.arange(n), opt] = 0.0
    X[torch.arange(n), opt, (y < 0).long()] = U
    u = torch.zeros(d, dtype=Draws)
    u[0], u[1] = 1 / U, -1 / U
    return Instance(X, y, u)


@contract
def gaussian(n: Count, T: int, d: Count, generator: Generator) -> Instance:
    """Gaussian tokens whose scores meet Assumption 2, as different as they come: scores of a sample Gaussian, Δ_i log-normal.

    The decoder is the first axis; (W-SVM) may be infeasible.
    """
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=Draws)
    X = draw(n, arguments.count("T", T, 2), d)
    y = torch.where(draw(n) > 0, 1.0, -1.0).to(Draws)
    best = torch.randint(T, (n,), generator=generator)
    scores = draw(n)[:, None].repeat(1, T)
    scores[torch.arange(n), best] += draw(n).exp()
    X[..., 0] = y[:, None] * scores
    return Instance(X, y, torch.eye(d, dtype=Draws)[0])


@contract
def dm(n: Count, d: Count, alpha: Positive, sigma: Positive, generator: Generator, T: int = 2) -> Instance:
    """(DM): Gaussian tokens, the optimal one α times as long; labels are those of a hidden decoder on optimal tokens.

    Returns: an instance with ``u`` the hidden decoder, the optimal tokens given, and one of a sequence's tokens, at random, first.
    Source: Vasudeva, Deora, Thrampoulidis 2024, (DM), in our reading; there α is above 1, and T = 2 in the analysis.

    Args:
        sigma: σ, standard deviation of the other tokens.
        T: tokens a sequence, at least 2.
    """
    arguments.count("T", T, 2)
    X = sigma * torch.randn(n, T, d, generator=generator, dtype=Draws)
    opt = torch.randint(T, (n,), generator=generator)
    X[torch.arange(n), opt] *= alpha
    u = torch.nn.functional.normalize(torch.randn(d, generator=generator, dtype=Draws), dim=0)
    side = X[torch.arange(n), opt] @ u
    return Instance(X, torch.where(side >= 0, 1.0, -1.0).to(Draws), u, opt=opt)


@contract
def two_tokens(d: Count = 2) -> Instance:
    """The example of section 3.3: one sequence, the optimal token e₁ asks, the other token is 0; W_mm = e₁e₁ᵀ.

    Source: Vasudeva, Deora, Thrampoulidis 2024, section 3.3, in our reading.
    """
    X = torch.zeros(1, 2, d, dtype=Draws)
    X[0, 0, 0] = 1
    return Instance(X, torch.ones(1, dtype=Draws), X[0, 0].clone())


@contract
def two_tokens_start(w0: float, C: NonNegative) -> Float[Tensor, "2 2"]:
    """W⁽⁰⁾ for ``two_tokens``: w₀ along e₁e₁ᵀ and a part of norm C that no step moves."""
    return torch.tensor([[w0, C / math.sqrt(2)], [C / math.sqrt(2), 0.0]], dtype=Draws)


def bad_direction() -> Instance:
    """Two sequences of two tokens in the plane, e_i and −½e_i with labels ±1: start at −W_mm, and the wrong tokens are attended.

    Source: Ours, after Figure 8 of Vasudeva, Deora, Thrampoulidis 2024, whose numbers are not readable.
    """
    eye = torch.eye(2, dtype=Draws)
    X = torch.stack([eye, -eye / 2], 1)
    return Instance(X, torch.tensor([1.0, -1.0], dtype=Draws), torch.tensor([1.0, -1.0], dtype=Draws))


@contract
def patches(
    n: Count,
    T: int,
    generator: Generator,
    pictures: Float[Tensor, "N pixels"],
    digits: Int[Tensor, " N"],
    pair: tuple[int, int] = (0, 1),
    noise: Positive = 1.0,
) -> tuple[Float[Tensor, "{n} {T} pixels"], Float[Tensor, " {n}"], Int[Tensor, " {n}"]]:
    """Sequences of one picture of a digit among patches of Gaussian noise, at a random place: tokens, labels, and where the digit is.

    Source: Vasudeva, Deora, Thrampoulidis 2024, Figure 9, in our reading.

    Args:
        n: sequences, at most the pictures of the two digits.
        T: patches a sequence, at least 2.
        pair: the digit with label +1 and that with −1.
        noise: norm of a noise patch over the mean norm of the pictures, in the mean square.
    """
    arguments.count("T", T, 2)
    there = ((digits == pair[0]) | (digits == pair[1])).nonzero()[:, 0]
    if n > len(there):
        raise ValueError(
            f"n must be at most the {len(there)} pictures of the digits {pair[0]} and {pair[1]}, got {n}"
        )
    chosen = there[torch.randperm(len(there), generator=generator)[:n]]
    pixels = pictures.shape[1]
    X = torch.randn(n, T, pixels, generator=generator, dtype=Draws) * (
        noise * float(pictures.norm(dim=1).mean()) / math.sqrt(pixels)
    )
    opt = torch.randint(T, (n,), generator=generator)
    X[torch.arange(n), opt] = pictures[chosen].to(Draws)
    return X, torch.where(digits[chosen] == pair[0], 1.0, -1.0).to(Draws), opt


@contract
def linear_head(
    tokens: Float[Tensor, "n d"], y: Float[Tensor, " n"], ridge: Positive = 1e-3
) -> Float[Tensor, " d"]:
    """A decoder that is trained beforehand: ridge regression of labels on the optimal tokens; ``ridge`` times their mean squared norm."""
    n, d = tokens.shape
    level = ridge * tokens.square().sum(1).mean()
    eye = torch.eye(min(n, d), dtype=tokens.dtype)
    if d < n:  # the same solution from the smaller of two systems
        return torch.linalg.solve(tokens.T @ tokens + level * eye, tokens.T @ y)
    return tokens.T @ torch.linalg.solve(tokens @ tokens.T + level * eye, y)


def _signs(n: int, generator: Generator) -> Tensor:
    return 2.0 * torch.randint(2, (n,), generator=generator).to(Draws) - 1
