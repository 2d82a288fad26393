"""What is known of a run of the shared layer from its start alone: bounds in place of all that ``shared_run`` evaluates along the path."""

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.beyond.architecture import Blocks
from companion.theory.beyond.shared_band import Move, turn
from companion.theory.beyond.shared_run import Known, Place, by_head, columns, flat, jacobian, operator, pull
from shallowformer.contracts import Count, Positive, contract
from shallowformer.kernel_regime.linear_run.known import linear_run
from shallowformer.training import points


@contract
def at_the_start(
    X: Float[Tensor, "n T d"], y: Float[Tensor, " n"], phi0: Blocks, eta: Positive, steps: Count
) -> Known:
    """The same with bounds in place of all that is not at the start: one Jacobian, that of φ⁽⁰⁾."""
    J0 = jacobian(X, phi0)
    J0_flat = flat(J0)
    run = linear_run(J0_flat @ J0_flat.T / len(y), y, eta, steps)
    N, N_i = float(torch.linalg.matrix_norm(phi0["V"].flatten(1), 2)), columns(phi0["V"])
    sizes = torch.stack([operator(J0[name].flatten(1)) for name in "cVW"])
    heads = operator(by_head(J0))
    delta, places = points.mapped(torch.zeros_like, phi0), []
    for u, mu in zip(run.u, run.mu, strict=True):
        move = Move(
            float(delta["c"].norm()),
            float(delta["V"].norm()),
            float(delta["W"].norm()),
            delta["W"].flatten(1).norm(dim=1),
        )
        largest = 1 + move.c
        there = turn(move, N, N_i, 1.0, len(delta["c"]))
        blocks = torch.tensor([float(t) for t in (there.c, there.V, there.W)], dtype=X.dtype)
        places.append(
            Place(
                N + move.V,
                N_i + move.V,
                largest,
                float(there.form(move)) / 2,
                sizes + blocks,
                blocks,
                float(blocks.norm()),
                float(mu) * blocks,
                heads + there.heads,
                float(mu) * there.heads,
            )
        )
        delta = points.plus(delta, pull(J0, u), -2 * eta)
    return Known(run, places)
