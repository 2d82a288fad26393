"""Exercises of the chapter *The model*."""

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from shallowformer.exercises.feedback import Feedback, judge, judge_number
from shallowformer.kernel_regime import data, model, parameters

#: What people answer instead, by the hint they get.
MERGE_MISTAKES = {
    "which of the two multiplies the token, and which the query? Write the logit as X_tᵀ (…) q.": lambda Q, K, V, u, beta: (V.T @ u, beta * Q.T @ K),
    "the softmax scaling β belongs into W.": lambda Q, K, V, u, beta: (V.T @ u, K.T @ Q),
    "the value matrix acts on the token before U does: ⟨u, W_V a⟩ = ⟨…, a⟩. U needs no β.": lambda Q, K, V, u, beta: (beta * V.T @ u, beta * K.T @ Q),
}  # fmt: skip


def check_merge(merge: Callable[..., tuple[Tensor, Tensor]]) -> Feedback:
    """Exercise *Merge a head*: (U, W) of one head from its query, key and value matrices.

    Args:
        merge: W_Q, W_K, W_V, Float64[Tensor, "k d"]; u, Float64[Tensor, "k"]; beta, float → a pair (U, W) with
            U, Float64[Tensor, "d"], and W, Float64[Tensor, "d d"].

    Returns:
        The feedback.
    """
    generator = Generator().manual_seed(0)

    def case(k: int, d: int) -> tuple:
        draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
        return draw(k, d), draw(k, d), draw(k, d), draw(k), k**-0.5

    def flat(answer: tuple[Tensor, Tensor] | None, d: int) -> Tensor | None:
        if answer is None:
            return None
        if not (isinstance(answer, (tuple, list)) and len(answer) == 2):
            raise TypeError("the function must return the pair (U, W)")
        U, W = answer
        if U.shape != (d,) or W.shape != (d, d):
            raise TypeError(
                f"U must have shape {(d,)} and W {(d, d)}, got {tuple(U.shape)} and {tuple(W.shape)}"
            )
        return torch.cat([W.flatten(), U])

    def flattened(function: Callable[..., tuple[Tensor, Tensor]]) -> Callable[..., Tensor | None]:
        return lambda Q, K, V, u, beta: flat(function(Q, K, V, u, beta), Q.shape[1])

    def reference(Q: Tensor, K: Tensor, V: Tensor, u: Tensor, beta: float) -> tuple[Tensor, Tensor]:
        return V.T @ u, beta * K.T @ Q

    cases = [(f"key dimension {k}, d = {d}", case(k, d)) for k, d in ((3, 3), (2, 5), (6, 4))]
    mistakes = {hint: flattened(wrong) for hint, wrong in MERGE_MISTAKES.items()}
    return judge("ex-model-merge", flattened(merge), flattened(reference), cases, mistakes)


def _output(X: Tensor, phi: parameters.Parameters) -> Tensor:
    return model.f(X[None], phi)[0]


#: What people answer instead, by the hint they get; each returns a padded sequence.
PAD_MISTAKES = {
    "zero tokens still take attention mass, and here they take the query's place too: q is the last token.": lambda X, k: torch.cat([X, torch.zeros((k - 1) * len(X), X.shape[1], dtype=X.dtype)]),
    "zero tokens still take attention mass: e⁰ = 1 in the softmax.": lambda X, k: torch.cat([torch.zeros((k - 1) * len(X), X.shape[1], dtype=X.dtype), X]),
    "the last token must stay the last one: it is the query.": lambda X, k: X.flip(0).repeat(k, 1),
    "every token must be repeated equally often, or the repeated ones gain attention.": lambda X, k: torch.cat([X, X[-1:].expand((k - 1) * len(X), -1)]),
}  # fmt: skip


def check_pad(pad: Callable[[Tensor, int], Tensor]) -> Feedback:
    """Exercise *A longer sequence that is the same*: T tokens made into kT without changing f.

    Args:
        pad: X, Float64[Tensor, "T d"], and k → Float64[Tensor, "kT d"], for which f with last-token query is the same.

    Returns:
        The feedback.
    """
    generator = Generator().manual_seed(0)
    phi = parameters.random(6, 3, generator)

    def output(X: Tensor, k: int) -> Tensor | None:
        longer = pad(X, k)
        if longer is None:
            return None
        if longer.shape != (k * X.shape[0], X.shape[1]):
            raise ValueError(f"expected shape {(k * X.shape[0], X.shape[1])}, got {tuple(longer.shape)}")
        return _output(longer, phi)

    cases = [
        (f"T = {T}, k = {k}", (data.sphere(1, T, 3, generator)[0], k)) for T, k in ((3, 2), (5, 4), (1, 3))
    ]
    mistakes = {
        hint: (lambda X, k, wrong=wrong: _output(wrong(X, k), phi)) for hint, wrong in PAD_MISTAKES.items()
    }
    return judge("ex-model-pad", output, lambda X, k: _output(X, phi), cases, mistakes)


def check_kept_fraction(fraction: float) -> Feedback:
    """Exercise *A narrow key*: the mean fraction of ‖W‖²_F that the best rank-4 matrix keeps, for Gaussian 8×8 W.

    Args:
        fraction: the reader's answer, in (0, 1).

    Returns:
        The feedback.
    """

    def verdict(fraction: float) -> Feedback:
        if not 0 < fraction < 1:
            return Feedback("ex-model-rank", "wrong", f"expected a number between 0 and 1, got {fraction!r}")
        W = torch.randn(2000, 8, 8, generator=Generator().manual_seed(0), dtype=torch.float64)
        energy = torch.linalg.svdvals(W) ** 2
        right = float((energy[:, :4].sum(-1) / energy.sum(-1)).mean())
        if abs(fraction - right) <= 0.01:
            return Feedback("ex-model-rank", "passed", f"{right:.3f} over 2000 matrices of our own")
        if abs(fraction - 0.5) <= 0.03:
            return Feedback(
                "ex-model-rank",
                "wrong",
                "half of the rank keeps more than half of the energy: singular values are not equal",
            )
        if abs(fraction - right**0.5) <= 0.01:
            return Feedback(
                "ex-model-rank", "wrong", "square the singular values: ‖W‖²_F is the sum of their squares"
            )
        return Feedback(
            "ex-model-rank",
            "wrong",
            f"{fraction:.3f} is off by more than 0.01; average over at least 500 matrices",
        )

    return judge_number("ex-model-rank", fraction, verdict)
