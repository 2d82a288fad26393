"""Heads with k readouts: what is known of every pair before the first step. The counterpart of ``linear_run.known``, whose letters it keeps.

Readouts are vectors, so a pair p hears of residuals r in R^k the number ⟨c⁰_p, r⟩. What it hears of the linear run is known, too.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.beyond import vector_outputs
from companion.theory.beyond.architecture import Blocks
from shallowformer.contracts import Count, Positive, contract
from shallowformer.kernel_regime.linear_run.curvature import Heads
from shallowformer.kernel_regime.linear_run.known import RADII, LinearRun, linear_run


@dataclass(frozen=True)
class Pairs:
    """Root mean squares over the positions, for every pair; those of shape [steps, P] along the linear run."""

    k: int  # outputs
    length: Float[Tensor, " P"]  # ‖c⁰‖
    spread: Float[Tensor, ""]  # Γ = ‖C‖/√m
    value: Float[Tensor, " P"]  # h⋆ = ‖h‖
    gradient: Float[Tensor, " P"]  # g
    operator: Float[Tensor, " P"]  # g⋆ ≤ g
    hessian: Float[Tensor, " P"]  # H
    third: Float[Tensor, " P"]  # T
    growth: Float[Tensor, "P radii"]  # 𝒢 at each of ``RADII``
    heard: Float[Tensor, "steps P"]  # x = ‖⟨c⁰, u⟩‖
    alpha: Float[Tensor, "steps P"]  # ‖α_L‖
    beta: Float[Tensor, "steps P"]
    gamma: Float[Tensor, "steps P"]
    chi: Float[Tensor, "steps P"]
    reference: Float[Tensor, "steps P"]  # ‖α★‖; derivatives below are along references α★, β★, γ★
    off_alpha: Float[Tensor, "steps P"]  # ‖α_L − α★‖
    off_beta: Float[Tensor, "steps P"]
    off_gamma: Float[Tensor, "steps P"]
    g_alpha: Float[Tensor, "steps P"]  # ‖∇h[α★]‖
    h_alpha: Float[Tensor, "steps P"]  # ‖∇²h[α★]‖
    h_alpha_alpha: Float[Tensor, "steps P"]
    h_alpha_beta: Float[Tensor, "steps P"]
    g_beta: Float[Tensor, "steps P"]
    h_beta: Float[Tensor, "steps P"]
    t_alpha_alpha: Float[Tensor, "steps P"]
    t_alpha: Float[Tensor, "steps P"]


def _rms(values: Float[Tensor, "N ..."]) -> Float[Tensor, "..."]:
    return values.square().mean(0).sqrt()


class Views:
    """The pairs' heads at all positions; positions of different lengths are kept apart, and joined in what is returned."""

    def __init__(self, X: Float[Tensor, "n T d"], phi0: Blocks, reading: str) -> None:
        P = len(phi0["c"]) // 2
        self.groups = [
            Heads(tokens, q, phi0["U"][:P], phi0["W"][:P]) for tokens, q in vector_outputs.views(X, reading)
        ]

    def __getattr__(self, name: str) -> Float[Tensor, "N P ..."]:
        return torch.cat([getattr(group, name) for group in self.groups])

    def gradients(self) -> Float[Tensor, "N P p"]:
        """∇h in U and in W, flattened."""
        return torch.cat([group.full_gradient() for group in self.groups])

    def growth(self, radius: float) -> Float[Tensor, "N P"]:
        """The bound on the change of ∇³h within a radius."""
        return torch.cat([group.growth(radius) for group in self.groups])

    def along(
        self, move: Float[Tensor, "P p"], other: Float[Tensor, "P p"]
    ) -> dict[str, Float[Tensor, "N P ..."]]:
        """Derivatives along a move of every pair, twice along another; second ones flattened in U and W."""
        rows = []
        for group in self.groups:
            there, seen = group.along(group.seen(move)), group.seen(other)
            first, second = group.twice(seen)
            rows.append(
                {
                    "g_alpha": there.first,
                    "h_alpha": there.second.norm(dim=-1),
                    "h_alpha_alpha": there.quadratic,
                    "h_alpha_beta": (there.second * seen).sum(-1),
                    "g_beta": first,
                    "h_beta": second.norm(dim=-1),
                    "t_alpha_alpha": there.third.norm(dim=-1),
                    "t_alpha": there.cubic,
                    "turned": group.full(there.second),
                }
            )
        return {name: torch.cat([row[name] for row in rows]) for name in rows[0]}


def gram(
    gradients: Float[Tensor, "N P p"], h: Float[Tensor, "N P"], c: Float[Tensor, "P k"]
) -> Float[Tensor, "Nk Nk"]:
    """G₀ = J₀J₀ᵀ/N of the start, [N k, N k], from one head of every pair."""
    (N, P), k = h.shape, c.shape[1]
    J = torch.einsum("npe,pa->nape", gradients, c).reshape(N * k, -1)
    readouts = torch.einsum("nm,ab->namb", h @ h.T, torch.eye(k, dtype=h.dtype)).reshape(N * k, N * k)
    return (J @ J.T + readouts) / (P * N)


@contract
@torch.no_grad()
def known(
    X: Float[Tensor, "n T d"],
    y: Float[Tensor, "n s k"],
    phi0: Blocks,
    eta: Positive,
    steps: Count,
    reading: str,
    every: Count = 1,
) -> tuple[LinearRun, Pairs]:
    """The linear run of the loss (1/N) Σ_j ‖f_j − y_j‖² from a symmetric start, and the pairs' second-order path.

    Args:
        every: so many steps share the references along which derivatives are taken.
    """
    heads, Y = Views(X, phi0, reading), vector_outputs.by_position(y)
    (N, k), P = Y.shape, len(phi0["c"]) // 2
    c, unit = phi0["c"][:P], 2 * eta / (2 * P) ** 0.5
    if not all(
        torch.equal(block[P:], -block[:P] if name == "c" else block[:P]) for name, block in phi0.items()
    ):
        raise ValueError("phi0 must be a symmetric start: partners with equal U, W and opposite c")
    gradients, h = heads.gradients(), heads.h
    run = linear_run(gram(gradients, h, c), Y.flatten(), eta, steps)
    u = run.u.unflatten(1, (N, k))
    passed = torch.cat([torch.zeros_like(u[:1]), u.cumsum(0)[:-1]]) / N
    # Σ over the past of ⟨u ∇h⟩, one row an output: all that first order needs.
    felt = torch.einsum("snk,npe->spke", passed, gradients)
    alpha = -unit * torch.einsum("pk,spke->spe", c, felt)
    gamma = -unit * torch.einsum("snk,np->spk", passed, h)
    chi = -unit * torch.einsum("spke,spe->spk", felt.diff(dim=0), alpha[:-1]).cumsum(0)
    chi = torch.cat([torch.zeros_like(gamma[:1]), chi])
    beta, rows = torch.zeros_like(alpha), []
    for first in range(0, steps + 1, every):
        last, middle = min(first + every, steps + 1), min(first + every // 2, steps)
        there = heads.along(alpha[middle], beta[first])
        here, after = slice(first, last), slice(first + 1, last + 1)
        spent = u[here].cumsum(0)[: len(beta[after])] / N
        pull = torch.einsum("snk,pk,npe->spe", spent, c, there.pop("turned"))
        pull += torch.einsum("snk,pk,npe->spe", spent, gamma[middle], gradients)
        beta[after] = beta[first] - unit * pull
        rows.append(
            {
                "reference": alpha[middle].norm(dim=-1).expand(last - first, -1),
                "off_alpha": (alpha[here] - alpha[middle]).norm(dim=-1),
                "off_gamma": (gamma[here] - gamma[middle]).norm(dim=-1),
                "off_beta": (beta[here] - beta[first]).norm(dim=-1),
                **{name: _rms(value).expand(last - first, -1) for name, value in there.items()},
            }
        )
    tall = gradients.transpose(0, 1)
    return run, Pairs(
        k=k,
        length=c.norm(dim=1),
        spread=vector_outputs.spread(phi0["c"]),
        value=_rms(h),
        gradient=_rms(gradients.norm(dim=-1)),
        operator=(torch.linalg.eigvalsh(tall.mT @ tall)[:, -1].clamp(min=0) / N).sqrt(),
        hessian=_rms(heads.hessian_norm),
        third=_rms(heads.third_norm),
        growth=torch.stack([_rms(heads.growth(radius)) for radius in RADII], 1),
        heard=(u @ c.T).square().mean(1).sqrt(),
        alpha=alpha.norm(dim=-1),
        beta=beta.norm(dim=-1),
        gamma=gamma.norm(dim=-1),
        chi=chi.norm(dim=-1),
        **{name: torch.cat([row[name] for row in rows]) for name in rows[0]},
    )
