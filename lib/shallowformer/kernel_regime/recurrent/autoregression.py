"""Series with a long memory: the autoregression AR(L), windows of it, and channels that say where in a window a token stands."""

import math

import torch
from jaxtyping import Float
from scipy.signal import lfilter
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Positive, contract

#: Period of the fastest positional pair, in tokens; each further pair is twice as slow (the released code's numbers).
FASTEST = 32


@contract
def series(
    length: Count, lag: Count, alpha: float, variance: Positive, generator: Generator
) -> Float[Tensor, " {length}"]:
    """X_t = α X_{t−L} + ε_t with independent ε_t ~ N(0, σ_ε²), stationary from its first value on.

    Source: Arda, Cayci, Eryilmaz 2026, section 6.2.
    """
    arguments.below_one("alpha", abs(alpha))
    X = torch.randn(math.ceil(length / lag), lag, generator=generator, dtype=torch.float64) * variance**0.5
    X[0] /= (1 - alpha**2) ** 0.5
    X = torch.from_numpy(lfilter([1.0], [1.0, -alpha], X.numpy(), axis=0))  # L series of lag 1, side by side
    return X.flatten()[:length]


@contract
def windows(X: Float[Tensor, " k"], T: Count) -> tuple[Float[Tensor, "n {T}"], Float[Tensor, " n"]]:
    """All windows of T consecutive values of a longer series, and the value that follows each."""
    if len(X) <= T:
        raise ValueError(f"X must have more than T = {T} values, got {len(X)}")
    return X.unfold(0, T, 1)[:-1], X[T:]


@contract
def positions(T: Count, pairs: Count = 8) -> Float[Tensor, "{T} 2*{pairs}"]:
    """Sine and cosine of the place in a window, with periods 32, 64, 128, …; every row has the norm √pairs."""
    place = torch.arange(T, dtype=torch.float64)[:, None]
    periods = FASTEST * 2.0 ** torch.arange(pairs, dtype=torch.float64)
    angles = 2 * math.pi * place / periods
    return torch.cat([angles.sin(), angles.cos()], 1)


def tokens(values: Float[Tensor, "n T"], pairs: int = 8) -> Float[Tensor, "n T 1+2*{pairs}"]:
    """Each value with the positional channels of its place, ``pairs`` of sine and cosine.

    Norms are the roots of ``pairs`` plus a value's square, so not in the unit ball.
    """
    n, T = values.shape
    return torch.cat([values[..., None], positions(T, pairs).to(values).expand(n, -1, -1)], -1)
