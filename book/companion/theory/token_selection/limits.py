"""Where the direction of attention can go: to the shortest matrix for the samples that are kept, if it gives every other one a gap of −1 or less.

What lies between two such fates: edges, directions with a lost sample at −1 exactly. And a condition on the Gram matrix under which W_mm alone remains.
``best`` is the solution of (W-SVM) for all samples, ``gram`` holds ⟨E_k, E_l⟩, and ``slack`` is what is rounding in a gap.
"""

import itertools

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from shallowformer.token_selection.instances import Instance
from shallowformer.token_selection.svm import Attention, Infeasible, Separator, shortest


def local(best: Attention, kept: Bool[Tensor, " n"]) -> Separator | None:
    """W_A, the shortest matrix with gaps of at least 1 for the samples A (``kept``), in the coordinates of ``best``.

    Returns: the solution; None if there is none.
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

    That there is none does not exclude edges: ``others`` looks for these too. Returns: which samples each set holds.

    Args:
        n: samples, at least 1 and at most 12: every set is tried.
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


def others(gram: Float[Tensor, "b K K"], n: int, slack: float = 1e-7) -> Bool[Tensor, "b 2"]:
    """Whether a direction other than that of W_mm meets all that is known of a limit, by trying every set of pairs that could hold it up.

    A limit is V = Σ λ_k E_k, λ ≥ 0, over linearly independent E_k with gaps of 1 (samples kept: all gaps at least 1) and of −1 (samples
    lost: a gap of −1 or less; λ only on samples whose worst gap is −1). There may be at most 6 pairs.
    Returns: is there one held up by kept samples alone (W_A, as in ``losable``); is there an edge, held up by lost ones too.
    """
    b, K, _ = gram.shape
    if not 1 <= n <= K <= 6 or K % n:
        raise ValueError(f"gram must hold n(T − 1) pairs, at most 6, got {K} for n = {n}")
    found = torch.zeros(b, 2, dtype=torch.bool)
    for chosen in list(itertools.product((False, True), repeat=K))[1:]:
        support = torch.tensor(chosen)
        S, holding = support.nonzero()[:, 0], support.unflatten(0, (n, -1)).any(1)
        # one column for every way to keep some of the samples that hold it up, and to lose the others
        ways = itertools.product(*[(1.0, -1.0) if holds else (0.0,) for holds in holding.tolist()])
        signs = torch.tensor([way for way in ways if max(way) > 0], dtype=gram.dtype).mT
        wanted = signs.repeat_interleave(K // n, 0)[S]
        held = torch.linalg.solve_ex(gram[:, S][:, :, S], wanted.expand(b, -1, -1)).result
        gaps = gram[:, :, S] @ held
        low = gaps.unflatten(1, (n, -1)).amin(2)
        exact = (gaps[:, S] - wanted).abs().amax(1) <= slack
        wins, loses = low >= 1 - slack, low <= -1 + slack
        fits = torch.where(signs > 0, wins, torch.where(signs < 0, loses & (low >= -1 - slack), wins | loses))
        fine = exact & (held >= 0).all(1) & fits.all(1) & loses.any(1)
        edge = (signs < 0).any(0)
        found |= torch.stack([(fine & ~edge).any(1), (fine & edge).any(1)], 1)
    return found


def selecting(instance: Instance, best: Attention, chosen: Int[Tensor, " n"]) -> Separator | None:
    """The shortest matrix by which each sample's chosen token is ahead, by gaps of at least 1, of all with lower scores.

    It is W_A if scores of tokens that are not optimal are equal, A the samples whose optimal token is chosen. In the coordinates of
    ``best``; None if there is none. Source: Tarzanagh, Li, Zhang, Oymak 2023: locally optimal directions.
    """
    rows = []
    ahead = best.A.reshape(instance.n, instance.X.shape[1] - 1, -1)
    for i, token in enumerate(chosen.tolist()):
        optimal = int(instance.optimal[i])
        of = {t: ahead[i, t - (t > optimal)] for t in range(instance.X.shape[1]) if t != optimal}
        of[optimal] = torch.zeros_like(ahead[i, 0])
        level = instance.scores[i, token] - instance.rounding[i]
        rows += [of[t] - of[token] for t in of if instance.scores[i, t] < level]
    if not rows:
        raise ValueError(f"chosen must hold a token with a better score than another, got {chosen.tolist()}")
    try:
        return shortest(torch.stack(rows), "(W-SVM) for the tokens chosen")
    except Infeasible:
        return None


def dominance(instance: Instance) -> float:
    """(2(n − 1)(T − 1) − 1) max_{k≠l}(−G_kl)/min_k G_kk, n ≥ 2: below 1, no direction but that of W_mm can be a limit."""
    if instance.n < 2:
        raise ValueError(
            f"instance must hold at least 2 samples, one of which could be lost, got {instance.n}"
        )
    return float(dominated(instance.gram[None], instance.n)[0])


def dominated(gram: Float[Tensor, "b K K"], n: int) -> Float[Tensor, " b"]:
    """``dominance`` of Gram matrices, differentiable."""
    K = gram.shape[-1]
    apart = (-gram).masked_fill(torch.eye(K, dtype=torch.bool), 0.0).flatten(1).amax(1).clamp(min=0.0)
    most = 2 * (n - 1) * (K // n) - 1
    return most * apart / gram.diagonal(dim1=-2, dim2=-1).amin(1)


def across(gram: Float[Tensor, "b K K"], n: int) -> Float[Tensor, " b"]:
    """(2n − 3)c/g, where ⟨E_k, E_l⟩ ≥ g within a sample and ≥ −c between two: below 1, and g > 0, no direction but that of W_mm can be a limit.

    Where g ≤ 0 it is a large number.
    """
    rest = gram.shape[-1] // n
    own = torch.eye(n, dtype=torch.bool).repeat_interleave(rest, 0).repeat_interleave(rest, 1)
    g, c = gram[:, own].amin(1), (-gram[:, ~own]).amax(1).clamp(min=0.0)
    return torch.where(g > 0, (2 * n - 3) * c / g.clamp(min=1e-12), 1e12)
