"""Ways to the boundary of Ω_ρ, as seen from the initialisation: adversarial, head-aligned, transported; and what they miss.

Every function returns a displacement δ from the initialisation; X are tokens in the unit ball. A direction drawn at random is ``region.on_boundary(parameters.random(...), rho)``.
"""

import functools
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, Triple, contract
from shallowformer.kernel_regime.model import linear_model
from shallowformer.kernel_regime.model.gradients import features
from shallowformer.kernel_regime.model.parameters import Parameters, plus
from shallowformer.kernel_regime.model.transformer import validated
from shallowformer.kernel_regime.neighbourhood.region import on_boundary, radii
from shallowformer.queries import Query, last_token

#: Inputs whose features are held at a time.
CHUNK = 250
Tokens = Float[Tensor, "n T d"]


@contract
def head_aligned(
    X: Tokens, phi0: Parameters, rho: Triple, query: Query = last_token, sigma: Activation = TANH
) -> Parameters:
    """Every head uphill on its own output, summed over the inputs, with δc_i = +ρ_c/√m for all heads; ρ above 0.

    Source: the direction of the linearisation experiment in the code released with the paper.
    """
    uphill = _summed(X, phi0, query, sigma)
    return on_boundary(Parameters(torch.ones_like(phi0.c), uphill.U, uphill.W), tuple(rho))


@contract
def transported(
    X: Tokens, phi0: Parameters, rho: Triple, query: Query = last_token, sigma: Activation = TANH
) -> Parameters:
    """δc_i along v_c, δU_i along c_i v_u, δW_i along c_i v_w, with v the features summed over the inputs; ρ above 0.

    For one input that is steepest ascent of f(X; ·). As v does not look at c, partners of a symmetric initialisation move oppositely in θ
    and alike in c. Source: equation (10), every block scaled to its radius.
    """
    v = _summed(X, phi0, query, sigma)
    c = phi0.c
    return on_boundary(Parameters(v.c, c[:, None] * v.U, c[:, None, None] * v.W), tuple(rho))


def _summed(X: Tensor, phi0: Parameters, query: Query, sigma: Activation) -> Parameters:
    """The features summed over the inputs."""
    validated(X, phi0, query)
    parts = (
        linear_model.pull_back(features(some, phi0, query, sigma), some.new_ones(len(some)))
        for some in X.split(CHUNK)
    )
    return functools.reduce(plus, parts)


@contract
def adversarial(
    X: Float[Tensor, "1 T d"],
    phi0: Parameters,
    rho: Triple,
    query: Query = last_token,
    sigma: Activation = TANH,
    starts: Count = 6,
    steps: Count = 80,
    seed: int = 0,
) -> tuple[Parameters, Float[Tensor, ""]]:
    """The displacement within Ω_ρ that makes f − f_lin as large as possible at one input, head by head.

    For one X the error is a sum over heads, so each head is maximised alone: over δc_i exactly, over (δU_i, δW_i q) by
    projected ascent from several starts. By the symmetry of pairs the largest f_lin − f is the same number.

    (At an initialisation that is not symmetric only f − f_lin is made large.) Of the starts of a head four have each block up or down its
    gradient, the others are random. What is returned beside δ, the error there, is a lower bound on the supremum over Ω_ρ.
    """
    q = validated(X, phi0, query)
    if X.shape[0] != 1:
        raise ValueError(f"X must hold one input, got {X.shape[0]}")
    r_c, r_u, r_w = radii(rho, phi0.m)
    q, length = q[0], q[0].norm()
    search = _Search(X[0], q, phi0, (r_c, r_u, r_w * float(length)), sigma)
    u, w, value = search.climb(starts, steps, seed)
    rise = search.head(u, w)[0] - search.start
    delta = Parameters(
        c=r_c * torch.where(rise < 0, -1.0, 1.0).to(u.dtype),
        U=u.mT,
        W=w.mT[:, :, None] * q / length**2 if length > 0 else torch.zeros_like(phi0.W),
    )
    return delta, value.sum() / phi0.m**0.5


class _Search:
    """The error of each head as a function of u = δU and w = δW q, and its ascent.

    Heads come last, tokens and coordinates before them: along an axis as short as a sequence sums and softmax take longer.
    """

    def __init__(self, X: Tensor, q: Tensor, phi0: Parameters, radius: Sequence[float], sigma: Activation):
        self.X, self.U, self.logits = X, phi0.U.mT.contiguous(), X @ (phi0.W @ q).mT
        self.sign, self.radius, self.sigma = phi0.c, radius, sigma
        zero = torch.zeros_like(self.U)
        self.start, *self.slope = self.head(zero, zero)

    def head(
        self, u: Float[Tensor, "... d m"], w: Float[Tensor, "... d m"]
    ) -> tuple[Float[Tensor, "... m"], Float[Tensor, "... d m"], Float[Tensor, "... d m"]]:
        """Outputs h, and their gradients in u and w."""
        alpha = torch.softmax(self.logits + self.X @ w, -2)
        scores = self.X @ (self.U + u)
        z = (alpha * scores).sum(-2, keepdim=True)
        first, pull = self.sigma.first(z), alpha * (scores - z)
        return self.sigma(z)[..., 0, :], first * (self.X.mT @ alpha), first * (self.X.mT @ pull)

    def error(self, u: Tensor, w: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """√m times the error of each head at its best δc, and its gradients."""
        h, by_u, by_w = self.head(u, w)
        rise = h - self.start
        linear = (self.slope[0] * u + self.slope[1] * w).sum(-2)
        value = self.radius[0] * rise.abs() + self.sign * (rise - linear)
        weight = (self.radius[0] * torch.where(rise < 0, -1.0, 1.0) + self.sign)[..., None, :]
        return value, weight * by_u - self.sign * self.slope[0], weight * by_w - self.sign * self.slope[1]

    def climb(self, starts: int, steps: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
        generator = Generator(device=self.U.device).manual_seed(seed)
        draw = lambda: torch.randn(
            starts, *self.U.mT.shape, generator=generator, dtype=self.U.dtype, device=self.U.device
        )
        moves = torch.stack([draw(), draw()]).mT.contiguous()
        radius = self.U.new_tensor(self.radius[1:])[:, None, None, None]
        signs = ((1.0, 1.0), (-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0))
        for k, (up, across) in zip(range(starts), signs, strict=False):
            moves[0, k], moves[1, k] = up * self.slope[0], across * self.slope[1]
        moves = _to_length(moves, radius)
        best, best_moves = torch.full_like(moves[0, :, 0], -torch.inf), moves
        for step in range(steps + 1):
            value, *uphill = self.error(*moves)
            better = value > best
            best = torch.where(better, value, best)
            best_moves = torch.where(better[:, None], moves, best_moves)
            # Long steps first: on a convex function the full step to the farthest point uphill never descends.
            size = 2.0 if step < steps // 3 else 0.87 ** (step - steps // 3)
            moves = moves + _to_length(torch.stack(uphill), size * radius)
            moves = moves * (radius / _norm(moves)).clamp(max=1) if step != steps // 3 else best_moves
        best, winner = best.max(0)
        u, w = best_moves[:, winner, :, torch.arange(len(winner), device=winner.device)].unbind(1)
        return u.mT, w.mT, best


def _norm(x: Tensor) -> Tensor:
    """Of vectors along the last dimension but one; where it is 0, the least number that can divide."""
    largest = x.abs().amax(-2, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)
    return largest * (x / largest).square().sum(-2, keepdim=True).sqrt().clamp(min=1)


def _to_length(x: Tensor, length: Tensor) -> Tensor:
    """Vectors along the last dimension but one scaled to a length; 0 stays 0."""
    return x / _norm(x) * length
