"""Where the direction of attention can go: to the shortest matrix for the samples that are kept, if it gives every other one a gap of −1 or less.

And a condition on the Gram matrix under which that is W_mm only.
"""

import itertools

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from shallowformer.token_selection.instances import Instance
from shallowformer.token_selection.svm import Attention, Infeasible, Separator, shortest


def local(best: Attention, kept: Bool[Tensor, " n"]) -> Separator | None:
    """W_A, the shortest matrix with gaps of at least 1 for the samples A, in the coordinates of ``best``.

    Args:
        best: solution of (W-SVM) for all samples.
        kept: which samples A holds, at least one.

    Returns:
        The solution; None if there is none.

    Raises:
        ValueError: a wrong shape, or no sample.
    """
    n = len(kept)
    if len(best.A) % n or not kept.any():
        raise ValueError(
            f"kept must say of each sample whether it is in A, and of one that it is, got {kept.tolist()} for {len(best.A)} constraints"
        )
    try:
        return shortest(best.A[kept.repeat_interleave(len(best.A) // n)], "(W-SVM) for the samples kept")
    except Infeasible:
        return None


def losable(best: Attention, n: int, slack: float = 1e-9) -> list[Bool[Tensor, " n"]]:
    """The sets A ≠ all such that W_A gives every other sample a token with a gap of −1 or less.

    Args:
        best: solution of (W-SVM) for all samples.
        n: samples, at least 1 and at most 12: every set is tried.
        slack: how far above −1 is rounding.

    Returns:
        Which samples each set holds; none if W_mm is the only possible limit.

    Raises:
        ValueError: more samples than can be tried.
    """
    if not 1 <= n <= 12:
        raise ValueError(f"n must be from 1 to 12, for every set of samples is tried, got {n}")
    found = []
    for chosen in itertools.product((False, True), repeat=n):
        kept = torch.tensor(chosen)
        if kept.any() and not kept.all() and (inner := local(best, kept)) is not None:
            gaps = (best.A @ inner.z).reshape(n, -1)
            if (gaps[~kept].amin(1) <= -1 + slack).all():
                found.append(kept)
    return found


def dominance(instance: Instance) -> float:
    """(2(n − 1)(T − 1) − 1) max_{k≠l}(−G_kl)/min_k G_kk: below 1, no direction but that of W_mm can be a limit.

    Args:
        instance: the data; n at least 2.

    Raises:
        ValueError: a single sample, of which none can be lost.
    """
    if instance.n < 2:
        raise ValueError(
            f"instance must hold at least 2 samples, one of which could be lost, got {instance.n}"
        )
    return float(dominated(instance.gram[None], instance.n)[0])


def dominated(gram: Float[Tensor, "b K K"], n: int) -> Float[Tensor, " b"]:
    """``dominance`` of Gram matrices, differentiable.

    Args:
        gram: ⟨E_k, E_l⟩.
        n: samples, at least 2.
    """
    K = gram.shape[-1]
    apart = (-gram).masked_fill(torch.eye(K, dtype=torch.bool), 0.0).flatten(1).amax(1).clamp(min=0.0)
    most = 2 * (n - 1) * (K // n) - 1
    return most * apart / gram.diagonal(dim1=-2, dim2=-1).amin(1)
