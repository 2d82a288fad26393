"""Labels of a teacher at the speed of the loss: what ``transportation.represented`` computes, in single precision."""

import torch
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.kernel_regime import parameters, transportation
from shallowformer.kernel_regime.heads import Heads
from shallowformer.kernel_regime.loss import Loss
from shallowformer.kernel_regime.parameters import Parameters
from shallowformer.kernel_regime.transportation import Estimate, Law, Mapping

#: Heads drawn at a time, as in ``transportation.represented``.
CHUNK = 256


class _Pairing(Loss):
    """A loss that adds up, whenever its gradient is taken, what each head contributes: g and g²."""

    def __init__(self, X: Tensor) -> None:
        super().__init__(X, X.new_zeros(len(X)))
        self.total = torch.zeros(len(X), dtype=torch.float64, device=X.device)
        self.squares = torch.zeros_like(self.total)

    def add(self, phi: Parameters, v: Parameters) -> None:
        self._v = Heads.of(v)
        self.of(Heads.of(phi))

    def _passing(self, heads: Heads, now: slice, sums: Tensor, weighted: Tensor) -> None:
        d, M = heads.U.shape
        q, norm = self.q[now], sums[:, -1].reciprocal()
        z = weighted[:, -1] * norm
        on_query = torch.mm(q, self._v.W.view(d, d * M)).view(len(q), d, M)
        # ⟨a, v_u⟩ + ⟨MU, v_w q⟩, times the norm: left factors as in Lemma 1.
        along = (sums[:, :-1] * torch.addcmul(self._v.U, z[:, None], on_query, value=-1)).sum(1)
        along += on_query.mul_(weighted[:, :-1]).sum(1)
        g = self.sigma(z) * self._v.c + self.sigma.first(z) * norm * along
        self.total[now] += g.sum(1, dtype=torch.float64)
        self.squares[now] += g.square().sum(1, dtype=torch.float64)


def labelled(
    X: Tensor, v: Mapping, draws: int, generator: Generator, law: Law = parameters.random
) -> Estimate:
    """f̃(X; v) by Monte Carlo from the same heads as ``transportation.represented``, for the last token as query and tanh.

    Args:
        X: tokens in the unit ball, Float[Tensor, "n T d"].
        v: the mapping.
        draws: independent draws of (U, W), at least 2.
        generator: source of randomness of the draws.
        law: what draws heads; their c is not used.

    Returns:
        As ``transportation.represented``, of the dtype of ``X``, but computed in float32 (sums over heads in float64).

    Raises:
        ValueError: as ``transportation.g``; ``draws`` below 2.
    """
    arguments.tokens(X)
    arguments.count("draws", draws, 2)
    sums, even = _Pairing(X.float()), transportation.even_part(v)
    for start in range(0, draws, CHUNK):
        count, at_once = min(CHUNK, draws - start), transportation.heads_at_once(X)
        parts = [
            law(min(at_once, count - k), X.shape[2], generator, X.dtype) for k in range(0, count, at_once)
        ]
        c, U, W = (torch.cat(blocks) for blocks in zip(*(part.blocks for part in parts), strict=True))
        phi = Parameters(torch.ones_like(c), U, W)
        sums.add(*(heads.map(lambda block: block.float()) for heads in (phi, even(phi))))
    mean = sums.total / draws
    variance = (sums.squares - draws * mean.square()).clamp(min=0) / (draws - 1)
    return Estimate(mean.to(X.dtype), (variance / draws).sqrt().to(X.dtype), variance.to(X.dtype), draws)
