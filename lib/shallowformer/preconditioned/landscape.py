"""All stationary points of f_λ, and the spectrum of its Hessian at the optimum.

M̃ = P diag(s) Qᵀ with distinct s_i > 0 and λ > 0: stationary points are the balanced truncations U = P_I S_I^½ Oᵀ, V = Q_I S_I^½ Oᵀ, for every set I
of singular values and every O with orthonormal columns. I complete is the optimum; every other one is a strict saddle.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, NonNegative, Positive, contract

#: Stationary points are enumerated for so many singular values at most: there are 2^r sets of them.
MOST_ENUMERATED = 12


@dataclass(frozen=True)
class Stationary:
    """A stationary point of f_λ, and what theory says of it."""

    kept: tuple[int, ...]  # I, from 0, in order
    U: Float[Tensor, "m r"]  # P_I S_I^½ Oᵀ
    V: Float[Tensor, "d r"]  # Q_I S_I^½ Oᵀ
    value: float  # f_λ = ½ Σ_{i∉I} s_i²
    #: of the Hessian: −max_{i∉I} s_i, 0 at the optimum (where the orbit is flat; at d = 1 there is none, and it is positive)
    least_eigenvalue: float

    @property
    def is_optimum(self) -> bool:
        """Whether nothing is left out."""
        return self.value == 0


def stationary(
    target: Float[Tensor, "m d"], kept: Sequence[int], O: Float[Tensor, "r k"] | None = None
) -> Stationary:
    """The stationary point that keeps the singular values I of M̃, all positive and distinct.

    Args:
        kept: I, indices from 0 into the singular values, largest first.
        O: orthonormal columns, one for each of I; the first unit vectors if not given. Factors have as many columns as it has rows, at
            least as many as there are singular values.
    """
    P, s, Qt = _distinct(target)
    r = len(s)
    kept = tuple(sorted(kept))
    if len(set(kept)) < len(kept) or not all(0 <= i < r for i in kept):
        raise ValueError(f"kept must hold different indices from 0 to {r - 1}, got {kept}")
    if O is None:
        O = torch.eye(r, len(kept), dtype=target.dtype, device=target.device)
    arguments.shape(
        "O", O, (max(r, O.shape[0]), len(kept)), f"at least {r} rows, one column for each of {kept}"
    )
    off = float((O.T @ O - torch.eye(len(kept), dtype=O.dtype)).abs().max()) if kept else 0.0
    if not off < arguments.tolerance(1e-8, O):
        raise ValueError(f"O must have orthonormal columns, got OᵀO off the identity by {off:.3g}")
    index = torch.tensor(kept, dtype=torch.long, device=target.device)
    root = s[index].sqrt()
    lost = s[[i for i in range(r) if i not in kept]]
    return Stationary(
        kept, (P[:, index] * root) @ O.T, (Qt[index].T * root) @ O.T,
        float(lost.square().sum()) / 2, -float(lost.max()) if len(lost) else 0.0,
    )  # fmt: skip


def stationary_points(target: Float[Tensor, "m d"]) -> list[Stationary]:
    """One stationary point for each set of at most 12 singular values, positive and distinct: the empty one first, the optimum last."""
    r = len(_distinct(target)[1])
    if r > MOST_ENUMERATED:
        raise ValueError(
            f"target must have at most {MOST_ENUMERATED} singular values to enumerate 2^r sets, got {r}"
        )
    sets = itertools.chain.from_iterable(itertools.combinations(range(r), k) for k in range(r + 1))
    return [stationary(target, kept) for kept in sets]


@contract
def optimum(
    target: Float[Tensor, "m d"], O: Float[Tensor, "r r"] | None = None, rank: Count | None = None
) -> tuple[Float[Tensor, "m r"], Float[Tensor, "d r"]]:
    """The balanced optimum (PS^½Oᵀ, QS^½Oᵀ) of any M̃: singular values may be equal, or 0; O is orthogonal, the identity if not given.

    Args:
        rank: columns of the factors; min(m, d) if not given. What is left out is the rest of the singular values.
    """
    arguments.floating("target", target, "m d")
    P, s, Qt = torch.linalg.svd(target, full_matrices=False)
    rank = len(s) if rank is None else rank
    arguments.at_most("rank", rank, "min(m, d)", len(s))
    root = s[:rank].sqrt()
    U, V = P[:, :rank] * root, Qt[:rank].T * root
    if O is not None:
        arguments.shape("O", O, (rank, rank), "square, one row for each column of the factors")
        U, V = U @ O.T, V @ O.T
    return U, V


@contract
def hessian_spectrum(
    singular_values: Float[Tensor, " r"], lam: NonNegative = 0.5, m: int | None = None, d: int | None = None
) -> Float[Tensor, " p"]:
    """Eigenvalues of ∇²f_λ at the balanced optimum, ascending, p = (m + d)r of them, for r columns and as many s_i > 0.

    For i < j: s_i + s_j twice, 2λ(s_i + s_j) once, 0 once; for each i: 2s_i and 4λs_i; and, if M̃ has rank r below m or d (both r if not
    given), s_i another m + d − 2r times. Source: The spectrum at the optimum is a theorem of this book, for m = d = r and λ = ½: s_i + s_j
    three times, 2s_i twice.
    """
    s = arguments.floating("singular_values", singular_values, "r")
    if not float(s.min()) > 0:
        raise ValueError(f"singular_values must be above 0, got {float(s.min()):g} among them")
    r = len(s)
    m, d = (r if size is None else arguments.count(name, size, r) for name, size in (("m", m), ("d", d)))
    i, j = torch.triu_indices(r, r, 1)
    pairs = s[i] + s[j]
    found = [pairs, pairs, 2 * lam * pairs, 0 * pairs, 2 * s, 4 * lam * s, s.repeat(m + d - 2 * r)]
    return torch.cat(found).sort().values


@contract
def stationary_spectrum(
    kept: Float[Tensor, " k"], lost: Float[Tensor, " l"], lam: Positive, columns: int, m: int, d: int
) -> Float[Tensor, " p"]:
    """Eigenvalues of ∇²f_λ at any stationary point of f_λ, λ > 0, ascending, p = (m + d)r of them; r is ``columns``, at least |I|.

    For i < j kept: s_i + s_j twice, 2λ(s_i + s_j), 0; for i kept: 2s_i, 4λs_i; for i lost and j kept: s_j − s_i, s_j + s_i; for each of the
    r − |I| columns that are not used: 2λs_i and 0 for i kept, s_i and −s_i for i lost; for each of the m + d − 2 rank M̃ rows that M̃ does not see:
    s_j for j kept, 0 for each column that is not used. Source: A theorem of this book.

    Args:
        kept: singular values in I, above 0; may be empty, and equal.
        lost: the other singular values above 0; may be empty.
    """
    for name, values in (("kept", kept), ("lost", lost)):
        if len(values) and not float(values.min()) > 0:
            raise ValueError(f"{name} must be above 0, got {float(values.min()):g} among them")
    free = arguments.count("columns", columns, max(1, len(kept))) - len(kept)
    rank = len(kept) + len(lost)
    unseen = sum(arguments.count(name, size, rank) for name, size in (("m", m), ("d", d))) - 2 * rank
    i, j = torch.triu_indices(len(kept), len(kept), 1)
    pairs = kept[i] + kept[j]
    less, more = ((kept + sign * lost[:, None]).flatten() for sign in (-1, 1))
    at_both = [pairs, pairs, 2 * lam * pairs, 0 * pairs, 2 * kept, 4 * lam * kept, less, more]
    at_free = [2 * lam * kept, 0 * kept, lost, -lost]
    unused = torch.zeros(unseen * free, dtype=kept.dtype)
    return (
        torch.cat([*at_both, *(each.repeat(free) for each in at_free), kept.repeat(unseen), unused])
        .sort()
        .values
    )


def _distinct(target: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    arguments.floating("target", target, "m d")
    P, s, Qt = torch.linalg.svd(target, full_matrices=False)
    rounding = 16 * max(target.shape) * torch.finfo(s.dtype).eps * float(s[0])
    if not float(s[-1]) > rounding:
        raise ValueError(f"target must have full rank, got singular values {s.tolist()}")
    if len(s) > 1 and not float((s[:-1] - s[1:]).min()) > rounding:
        raise ValueError(f"target must have distinct singular values, got {s.tolist()}")
    return P, s, Qt
