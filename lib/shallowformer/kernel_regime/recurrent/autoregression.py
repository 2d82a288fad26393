"""Series with a long memory: the autoregression AR(L), windows of it, and channels that say where in a window a token stands."""

import math

import torch
from jaxtyping import Float
from scipy.signal import lfilter
from torch import Generator, Tensor

from shallowformer import arguments

#: Period of the fastest positional pair, in tokens; each further pair is twice as slow (the released code's numbers).
FASTEST = 32


def series(
    length: int, lag: int, alpha: float, variance: float, generator: Generator
) -> Float[Tensor, " {length}"]:
    """X_t = α X_{t−L} + ε_t with independent ε_t ~ N(0, σ_ε²), stationary from its first value on.

    Source: Arda, Cayci, Eryilmaz 2026, section 6.2.
    """
    arguments.count("length", length)
    arguments.count("lag", lag)
    arguments.below_one("alpha", abs(alpha))
    arguments.positive("variance", variance)
    X = torch.randn(math.ceil(length / lag), lag, generator=generator, dtype=torch.float64) * variance**0.5
    X[0] /= (1 - alpha**2) ** 0.5
    X = torch.from_numpy(lfilter([1.0], [1.0, -alpha], X.numpy(), axis=0))  # L series of lag 1, side by side
    return X.flatten()[:length]


def windows(X: Float[Tensor, " k"], T: int) -> tuple[Float[Tensor, "n {T}"], Float[Tensor, " n"]]:
    """All windows of T consecutive values, and the value that follows each.

    Args:
        X: a series of more than T values.
        T: length of a window, at least 1.
    """
    if len(X) <= arguments.count("T", T):
        raise ValueError(f"X must have more than T = {T} values, got {len(X)}")
    return X.unfold(0, T, 1)[:-1], X[T:]


def positions(T: int, pairs: int = 8) -> Float[Tensor, "{T} 2*{pairs}"]:
    """Sine and cosine of the place in a window, with periods 32, 64, 128, …; every row has the norm √pairs.

    Args:
        T: length of a window, at least 1.
    """
    place = torch.arange(arguments.count("T", T), dtype=torch.float64)[:, None]
    periods = FASTEST * 2.0 ** torch.arange(arguments.count("pairs", pairs), dtype=torch.float64)
    angles = 2 * math.pi * place / periods
    return torch.cat([angles.sin(), angles.cos()], 1)


def tokens(values: Float[Tensor, "n T"], pairs: int = 8) -> Float[Tensor, "n T 1+2*{pairs}"]:
    """Each value with the positional channels of its place.

    Returns: tokens; their norms are the roots of ``pairs`` plus a value's square, so not in the unit ball.

    Args:
        pairs: of sine and cosine.
    """
    n, T = values.shape
    return torch.cat([values[..., None], positions(T, pairs).to(values).expand(n, -1, -1)], -1)
