"""Targets beyond the paper's teachers: a jump, a wave, a match, one sharp head, and three that the model cannot represent at all.

The model with q_X = X_T and an odd activation sees the tokens before the last as a set, and changes its sign with its input. What of a
target has both symmetries is its ``reachable`` part; the rest is out of reach of every width and every training.
"""

import itertools
import math
from collections.abc import Callable, Mapping

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments, data, softmax
from shallowformer.kernel_regime.kernel import mappings, transportation

Target = Callable[[Float[Tensor, "n T d"]], Float[Tensor, " n"]]

#: Logits of ``sharp_head`` reach this size.
SHARPNESS = 6.0


def jump(X: Float[Tensor, "n T d"]) -> Float[Tensor, " n"]:
    """The sign of ⟨e₁, X_T⟩: discontinuous, and in reach of both symmetries."""
    return torch.where(X[:, -1, 0] < 0, -1.0, 1.0).to(X.dtype)


def wave(X: Float[Tensor, "n T d"]) -> Float[Tensor, " n"]:
    """sin(4π⟨e₁, X_T⟩): smooth, of high frequency."""
    return torch.sin(4 * math.pi * X[:, -1, 0])


def match(X: Float[Tensor, "n T d"]) -> Float[Tensor, " n"]:
    """⟨e₁, X_t⟩ of the token before the last that has the largest ⟨X_t, X_T⟩, T ≥ 2: retrieval.

    Not a limit of one head with W = βI, whose attention includes the last token: on tokens of length 1 that head returns X_T.
    """
    best = (X[:, :-1] @ X[:, -1, :, None])[..., 0].argmax(1)
    return X[torch.arange(len(X), device=X.device), best, 0]


def sharp_head(X: Float[Tensor, "n T d"]) -> Float[Tensor, " n"]:
    """tanh(3⟨e₁, a(X; 6I)⟩): a single head, far from a random one."""
    W = SHARPNESS * torch.eye(X.shape[-1], dtype=X.dtype, device=X.device)[None]
    return torch.tanh(3 * softmax.pooled_attention(X, W, X[:, -1])[:, 0, 0])


def first_token(X: Float[Tensor, "n T d"]) -> Float[Tensor, " n"]:
    """⟨e₁, X_1⟩: linear, and dependent on the order of the tokens."""
    return X[:, 0, 0]


def product(X: Float[Tensor, "n T d"]) -> Float[Tensor, " n"]:
    """⟨e₁, X_T⟩⟨e₂, X_T⟩: even, where the model is odd."""
    return X[:, -1, 0] * X[:, -1, 1]


#: Targets that are functions of the input alone.
FIXED: Mapping[str, Target] = {
    "sharp head": sharp_head,
    "jump": jump,
    "match": match,
    "wave": wave,
    "first token": first_token,
    "product": product,
}

#: All that ``labels`` makes: a realisable one first, labels without rule last.
NAMES = ("teacher", *FIXED, "noise")


def labels(
    X: Float[Tensor, "n T d"], generator: Generator, heads: int = 2048, anchors: int = 16
) -> dict[str, Float[Tensor, " n"]]:
    """Labels of every target; those of the teacher (the paper's, ν̄ = (3, 3, 3)) and of the noise are drawn.

    Returns: name → labels, in the order of ``NAMES``, not scaled.
    """
    arguments.tokens(X)
    centres = data.clipped_gaussian(anchors, *X.shape[1:], generator, X.dtype)
    v = mappings.teacher(centres, (3.0, 3.0, 3.0))
    drawn = transportation.represented(X, v, heads, generator).mean
    noise = torch.randn(len(X), generator=generator, dtype=X.dtype)
    return {"teacher": drawn, **{name: f(X) for name, f in FIXED.items()}, "noise": noise}


def reachable(target: Target, X: Float[Tensor, "n T d"]) -> Float[Tensor, " n"]:
    """The part of a target that has the model's symmetries: odd, and blind to the order of the tokens before the last, for T ≤ 7.

    (Py)(X) is the mean of (y(πX) − y(−πX))/2 over all (T − 1)! orders π.
    """
    return torch.stack([(target(Z) - target(-Z)) / 2 for Z in _reordered(X)]).mean(0)


def orbit(X: Float[Tensor, "n T d"]) -> Float[Tensor, "k T d"]:
    """All 2(T − 1)!·n images of inputs under the model's symmetries, T ≤ 7: every order of the tokens before the last, and both signs."""
    return torch.cat([sign * Z for Z in _reordered(X) for sign in (1, -1)])


def _reordered(X: Tensor) -> list[Tensor]:
    T = X.shape[1]
    if T > 7:
        raise ValueError(f"X must hold at most 7 tokens a sample, as all orders are tried, got {T}")
    return [X[:, [*order, T - 1]] for order in itertools.permutations(range(T - 1))]
