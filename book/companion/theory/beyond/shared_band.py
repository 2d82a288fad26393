"""A band around the loss of every step of the shared layer, from its linear run: how far a real run can be from it."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.beyond.shared_layer import SIGMA_2
from companion.theory.beyond.shared_run import Known
from shallowformer.contracts import Count, Positive, contract
from shallowformer.formulas import Number
from shallowformer.probability.cumulants import KAPPA


@dataclass(frozen=True)
class Move:
    """Bounds on a displacement: Euclidean norms of its blocks, and of the block W_i for every head."""

    c: Number
    V: Number
    W: Number
    heads: Float[Tensor, "... m"]


@dataclass(frozen=True)
class Turn:
    """How far the gradient of the output at any input turns, block by block, and head by head in W."""

    c: Number
    V: Number
    W: Number
    heads: Float[Tensor, "... m"]

    def form(self, move: Move) -> Number:
        """A bound on the second derivative along the move."""
        return self.c * move.c + self.V * move.V + self.W * move.W


def turn(move: Move, N: Number, columns: Float[Tensor, "... m"], largest: Number, p: int) -> Turn:
    """How far ∇f turns from a point with ‖V‖ = N, ‖V_{·i}‖ and max|c| to one that is at most ``move`` away: t_b of the theorem."""
    m = columns.shape[-1]
    each = lambda number: torch.as_tensor(number, dtype=columns.dtype)[..., None]
    C, N, columns = largest + move.c, N + move.V, columns + each(move.V)
    Z = move.V + N * move.W / m**0.5
    slope = move.c + C * SIGMA_2 * Z  # ‖γσ′ + cσ″z′‖
    skew = KAPPA * columns * move.heads
    return Turn(
        Z / p**0.5,
        slope / p**0.5 + C * move.W / m**0.5,
        slope * N / (p * m) ** 0.5 + C * (move.V + KAPPA * N * move.heads.amax(-1)) / m**0.5,
        each(slope) * columns / (p * m) ** 0.5 + each(C) * (each(move.V) + skew) / m**0.5,
    )


@dataclass(frozen=True)
class Band:
    """What is certain of a run before each of τ steps and after the last."""

    mu: Float[Tensor, " steps"]  # the root of the linear run's loss
    E: Float[Tensor, " steps"]  # ‖r − u‖/√n is at most this
    moves: Float[Tensor, "steps 3"]  # how far c, V, W may be from the linear path

    @property
    def upper(self) -> Float[Tensor, " steps"]:
        """The loss is at most (μ + E)²."""
        return (self.mu + self.E) ** 2

    @property
    def lower(self) -> Float[Tensor, " steps"]:
        """The loss is at least this."""
        return (self.mu - self.E).clamp(min=0) ** 2


@contract
def band(known: Known, eta: Positive, p: Count) -> Band:
    """The recursion of the theorem: E_s from what is known and from bounds on the moves, then the moves."""
    run, m = known.run, len(known.places[0].columns)
    zeros = torch.zeros(m, dtype=run.mu.dtype)
    move, E, moves, past_R, past_turn = Move(0.0, 0.0, 0.0, zeros), [], [], [], []
    for s, place in enumerate(known.places):
        now = turn(move, place.N, place.columns, place.largest, p)
        blocks = torch.tensor([move.c, move.V, move.W], dtype=run.mu.dtype)
        turns = torch.tensor([float(t) for t in (now.c, now.V, now.W)], dtype=run.mu.dtype)
        R = place.remainder + float(place.turned @ blocks) + float(now.form(move)) / 2
        far = R
        if s:
            back = torch.arange(s - 1, -1, -1)
            far += float(run.smooth[back] @ torch.stack(past_R))
            far += 2 * eta * float(run.rough[back] @ torch.stack(past_turn))
        rho = float(run.mu[s]) + far
        E.append(far)
        moves.append(blocks)
        past_R.append(run.mu.new_tensor(R))
        past_turn.append(run.mu.new_tensor((place.seen + float(turns.norm())) * rho))
        blocks = blocks + 2 * eta * (far * place.gradients + place.pull + rho * turns)
        heads = move.heads + 2 * eta * (far * place.heads + place.pull_heads + rho * now.heads)
        move = Move(*map(float, blocks), heads)
    return Band(run.mu, run.mu.new_tensor(E), torch.stack(moves))
