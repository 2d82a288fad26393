"""What is known of a run of the shared layer before its first step: the linear run, its path, and how the gradients turn along it."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import vmap

from companion.theory.beyond import dense
from companion.theory.beyond.architecture import Blocks
from companion.theory.beyond.attention import pooled
from shallowformer.contracts import Count, Positive, contract
from shallowformer.kernel_regime.linear_run.known import LinearRun, linear_run
from shallowformer.training import points

Rows = dict[str, Float[Tensor, "n ..."]]


@dataclass(frozen=True)
class Place:
    """A point of the linear path: norms there, and what it has in common with the start. All norms are over √n."""

    N: float  # ‖V‖_op
    columns: Float[Tensor, " m"]  # ‖V_{·i}‖_op, head by head
    largest: float  # max |c|
    remainder: float  # ‖f − J₀(φ − φ⁽⁰⁾)‖
    gradients: Float[Tensor, " 3"]  # ‖J‖_op in the blocks c, V, W
    turned: Float[Tensor, " 3"]  # ‖J − J₀‖_op in these blocks
    seen: float  # ‖(J − J₀)P‖_op
    pull: Float[Tensor, " 3"]  # ‖(J − J₀)ᵀu‖/√n in these blocks
    heads: Float[Tensor, " m"]  # ‖J‖_op in the block W_i
    pull_heads: Float[Tensor, " m"]  # ‖(J − J₀)ᵀu‖/√n in the block W_i


def jacobian(X: Float[Tensor, "n T d"], phi: Blocks) -> Rows:
    """∇f(X⁽ʲ⁾; φ), block by block, a row a sample: σ(z_k)/√p, g_k a_i/√m and M_i(Σ_k g_k V_{ki})qᵀ/√m with g_k = c_kσ′(z_k)/√p."""
    p, m = phi["V"].shape[:2]
    q, a = X[:, -1], pooled(X, phi["W"], X[:, -1:])[:, 0]
    h = torch.tanh(a.flatten(1) @ phi["V"].flatten(1).T / m**0.5)
    g = phi["c"] * (1 - h**2) / (p * m) ** 0.5
    U = torch.einsum("nk,kia->nia", g, phi["V"])
    alpha = torch.softmax(torch.einsum("nta,iab,nb->nit", X, phi["W"], q), -1)
    along = alpha * (torch.einsum("nta,nia->nit", X, U) - (a * U).sum(-1, keepdim=True))
    of_W = torch.einsum("nit,nta,nb->niab", along, X, q)
    return {"c": h / p**0.5, "V": torch.einsum("nk,nia->nkia", g, a), "W": of_W}


def flat(rows: Rows) -> Float[Tensor, "n k"]:
    """The blocks side by side."""
    return torch.cat([block.flatten(1) for block in rows.values()], 1)


def operator(rows: Float[Tensor, "... n k"]) -> Float[Tensor, "..."]:
    """‖·‖_op/√n of a matrix with n rows, by its Gram matrix."""
    gram = rows @ rows.mT / rows.shape[-2]
    return torch.linalg.eigvalsh(gram)[..., -1].clamp(min=0).sqrt()


def apart(rows: Rows) -> Rows:
    """Rows times P = ½(I − R): the part of each that drives partners apart."""
    turned = vmap(dense.mirror)(rows)
    return {name: (block - turned[name]) / 2 for name, block in rows.items()}


def by_head(rows: Rows) -> Float[Tensor, "m n k"]:
    """The block W, head by head."""
    return rows["W"].flatten(2).transpose(0, 1)


def columns(V: Float[Tensor, "p m d"]) -> Float[Tensor, " m"]:
    """‖V_{·i}‖_op for every head."""
    return torch.linalg.eigvalsh(torch.einsum("kia,kib->iab", V, V))[:, -1].sqrt()


@dataclass(frozen=True)
class Known:
    """The linear run, and the points of its path before each step and after the last."""

    run: LinearRun
    places: Sequence[Place]


def pull(rows: Rows, u: Float[Tensor, " n"]) -> Blocks:
    """Jᵀu/n, block by block."""
    return {name: torch.tensordot(u, block, 1) / len(u) for name, block in rows.items()}


@contract
def along(
    X: Float[Tensor, "n T d"], y: Float[Tensor, " n"], phi0: Blocks, eta: Positive, steps: Count
) -> Known:
    """All numbers evaluated at every point φ_L of the linear path: one Jacobian a step, and no training."""
    J0 = jacobian(X, phi0)
    root = len(y) ** 0.5
    J0_flat = flat(J0)
    run = linear_run(J0_flat @ J0_flat.T / len(y), y, eta, steps)
    delta, places = points.mapped(torch.zeros_like, phi0), []
    for u in run.u:
        phi = points.plus(phi0, delta)
        J = jacobian(X, phi)
        D = {name: J[name] - J0[name] for name in J}
        moved = J0_flat @ torch.cat([block.flatten() for block in delta.values()])
        pulled = pull(D, u)
        places.append(
            Place(
                float(operator(phi["V"].flatten(1)) * len(phi["V"]) ** 0.5),
                columns(phi["V"]),
                float(phi["c"].abs().max()),
                float((dense.f(X, phi) - moved).norm()) / root,
                torch.stack([operator(J[name].flatten(1)) for name in "cVW"]),
                torch.stack([operator(D[name].flatten(1)) for name in "cVW"]),
                float(operator(flat(apart(D)))),
                torch.stack([pulled[name].norm() for name in "cVW"]),
                operator(by_head(J)),
                pulled["W"].flatten(1).norm(dim=1),
            )
        )
        delta = points.plus(delta, pull(J0, u), -2 * eta)
    return Known(run, places)
