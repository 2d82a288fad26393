"""How large the layer's first and second derivatives can be while its blocks have moved by no more than given lengths.

z_ij = ⟨U_j, a_ij⟩, S_ij is the covariance of the tokens X_i under the attention of unit j, D_i their diameter, β = α m^{−½}. Where W has moved by ρ,
the logits of sample i have moved by at most D_i‖q_i‖ρ against one another, so that S ≼ S⁰ exp(D_i‖q_i‖ρ), and always S ≼ D_i²/4. With w̄_i = w q_i the
second derivatives of one unit C_j σ(z_ij) are, for directions c, u, w,

    CU: c σ' ⟨a, u⟩             UU: C σ'' ⟨a, u⟩⟨a, u'⟩     UW: C (σ'' ⟨a, u⟩ U·S w̄ + σ' u·S w̄)
    CW: c σ' U·S w̄              WW: C (σ'' (U·S w̄)(U·S w̄') + σ' κ₃(U, w̄, w̄')),  |κ₃(U, w̄, w̄')| ≤ max_t |⟨U, x_t − x̄⟩| ‖S‖ ‖w̄‖‖w̄'‖.

κ₃ is a cumulant under attention, known at the start; its derivative in W is κ₄(U, w̄, w̄', w̄''), at most D max_t |⟨U, x_t − x̄⟩| ‖S‖ + 3 ‖SU‖ ‖S‖.

Each is a bilinear form in two blocks; over samples it is at most the norm of a matrix with rows weight·a_i or weight·q_i. Units with attentions of
their own do not meet in a second derivative, so that the largest of them counts, with the factor β; a shared W meets all.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.one_layer.layer import attended
from companion.theory.one_layer.problem import Problem

#: Where |tanh''| is largest: tanh² = 1/3.
PEAK = 3.0**-0.5
#: The largest |tanh'''|, at 0.
STEEPEST = 2.0


@dataclass(frozen=True)
class Moved:
    """How far the blocks of each unit have moved at most, and all of them together."""

    C: Float[Tensor, " m"]
    U: Float[Tensor, " m"]
    W: Float[Tensor, " h"]  # h is m or, where attention is shared, 1
    all: float

    def together(self, name: str) -> float:
        """How far all units' blocks of one kind have moved at most."""
        return min(self.all, float(torch.linalg.vector_norm(getattr(self, name))))


@dataclass(frozen=True)
class Bounds:
    """What holds wherever blocks have moved no more than that."""

    M: float  # Lipschitz constant of the Jacobian in the trained blocks
    ell: float  # of the hidden layer α m^{−½} σ(z)
    C: Float[Tensor, " m"]  # norms of the Jacobian's blocks
    U: Float[Tensor, " m"]
    W: Float[Tensor, " h"]


@dataclass(frozen=True)
class Still:
    """What the start fixes."""

    A: Float[Tensor, "n h d"]  # a, skip included
    z: Float[Tensor, "n m"]
    S: Float[Tensor, "n h d d"]
    root: Float[Tensor, "n h d d"]  # S^½
    top: Float[Tensor, "n h"]  # ‖S‖
    spread: Float[Tensor, "n m"]  # (U·SU)^½
    far: Float[Tensor, "n m"]  # max_t |⟨U, x_t − x̄⟩|
    skew: Float[Tensor, "n m"]  # ‖κ₃(U, ·, ·)‖
    met: Float[Tensor, "n m"]  # ‖S U‖
    cube: Float[Tensor, "n h"]  # (Σ_k ‖κ₃(e_k, ·, ·)‖²)^½
    across: Float[Tensor, "n 1"]  # D
    q: Float[Tensor, "n 1"]  # ‖q‖


def still(problem: Problem) -> Still:
    """The quantities of the start."""
    X, q, U = problem.X, problem.q, problem.start["U"]
    A = attended(X, q, problem.start["W"], problem.switches.skip)
    logits = torch.einsum("hde,ne,ntd->nht", problem.start["W"], q, X)
    p = torch.softmax(logits, -1)
    centred = X[:, None] - (p @ X)[:, :, None]  # [n, h, T, d]
    S = torch.einsum("nht,nhtd,nhte->nhde", p, centred, centred)
    values, vectors = torch.linalg.eigh(S)
    root = (vectors * values.clamp(min=0).sqrt()[..., None, :]) @ vectors.mT
    along = (centred.expand(-1, len(U), -1, -1) @ U[:, :, None])[..., 0]  # [n, m, T]
    weighted = (p[..., None] * centred).expand(-1, len(U), -1, -1)  # [n, m, T, d]
    skew = torch.linalg.eigvalsh(weighted.mT @ (along[..., None] * centred)).abs().amax(-1)
    cubes = torch.einsum("nht,nhtk,nhtd,nhte->nhkde", p, centred, centred, centred)
    cube = torch.linalg.vector_norm(torch.linalg.eigvalsh(cubes).abs().amax(-1), dim=-1)
    met = torch.linalg.vector_norm((S @ U[:, :, None])[..., 0], dim=-1)
    across = torch.cdist(X, X).flatten(1).amax(1, keepdim=True)
    return Still(
        A, (A * U).sum(-1), S, root, values[..., -1].clamp(min=0), torch.linalg.vector_norm((root @ U[:, :, None])[..., 0], dim=-1),
        along.abs().amax(-1), skew, met, cube, across, torch.linalg.vector_norm(q, dim=-1, keepdim=True),
    )  # fmt: skip


def bounds(problem: Problem, at: Still, moved: Moved) -> Bounds:
    """Bounds on all derivatives while the trained blocks have moved by at most ``moved``."""
    switches, C = problem.switches, problem.start["C"]
    beta = switches.alpha * problem.m**-0.5
    norm = lambda x: torch.linalg.vector_norm(x, dim=-1)
    way = at.q * moved.W  # of W q, [n, h]
    grown = (at.across * way).exp()  # S ≼ grown S⁰
    top = torch.minimum(grown * at.top, at.across.square() / 4)
    top = torch.minimum(
        top, at.top + way * at.cube + 0.5 * way.square() * (at.across.square() + 3 * top) * top
    )
    shifted = top * way  # of a
    root = (top * grown).sqrt()
    turned = root * at.spread * way  # of ⟨U⁰, a⟩
    far = at.far + turned + at.across * moved.U
    met = root * (at.spread + at.top.sqrt() * moved.U)  # ≥ ‖S U‖, by S ≼ grown S⁰
    # |κ₃(U, w̄, w̄')| changes with U by κ₃(ΔU, ·, ·), with W by κ₄
    fourth = (far * at.across + 3 * met) * top
    skew = torch.minimum(far * top, at.skew + fourth * way + at.across * top * moved.U)
    b = torch.minimum(met, at.met + skew * way + top * moved.U)  # ≥ ‖S U‖, by the derivative of S
    dz = moved.U * (norm(at.A) + shifted) + torch.minimum(turned, (at.met + skew * way) * way)
    value, slope, bend = largest(switches.activation, at.z, dz)
    a = norm(at.A) + shifted
    size = norm(C) + moved.C  # ≥ ‖C_j‖
    reads = lambda weight: _rows(weight, at.A, shifted)
    asks = lambda weight: _rows(weight, problem.q[:, None], torch.zeros_like(at.q))

    N = torch.zeros(problem.m if len(moved.W) > 1 or problem.m == 1 else 1, 3, 3, dtype=C.dtype)
    N[:, 0, 1] = _for(N, reads(slope))
    N[:, 1, 1] = _for(N, size * reads(bend * a))
    if len(moved.W) == problem.m:
        N[:, 0, 2] = asks(slope * b)
        N[:, 1, 2] = size * (reads(bend * b * at.q) + asks(slope * top))
        N[:, 2, 2] = size * asks((bend * b.square() + slope * skew) * at.q)
        W = beta * size * asks(slope * b)
    else:
        weigh, shared = _shared(problem, at, moved, slope, bend, dz), top[:, 0]
        lift = (top * grown)[:, 0]
        N[:, 0, 2] = asks((lift.sqrt() * weigh.seen)[:, None])
        mixed = a[:, 0] * norm(size * bend * b) + weigh.C * shared
        N[:, 1, 2] = asks(mixed[:, None])
        N[:, 2, 2] = asks(((lift * weigh.bent + at.across[:, 0] * weigh.V * shared) * at.q[:, 0])[:, None])
        W = beta * asks((weigh.V * shared)[:, None])
    N = N + N.triu(1).mT
    trained = ["CUW".index(name) for name in sorted(switches.trained)]
    M = beta * float(torch.linalg.eigvalsh(N[:, trained][:, :, trained])[:, -1].max())
    hidden = [1 * (i in trained) for i in (1, 2)]
    ell = beta * float(torch.hypot(hidden[0] * N[:, 0, 1], hidden[1] * N[:, 0, 2]).max())
    return Bounds(M, ell, beta * norm(value.mT), beta * size * reads(slope), W)


@dataclass(frozen=True)
class Weights:
    """What a shared attention meets in all units at once, a sample each; σ' and σ'' at their largest."""

    seen: Float[Tensor, " n"]  # ‖diag(σ') U S⁰^½‖
    bent: Float[Tensor, " n"]  # ‖Σ_j C_j σ''_j S⁰^½ U_j U_jᵀ S⁰^½‖, likewise
    C: Float[Tensor, " n"]  # ‖diag(σ') C‖
    V: Float[Tensor, " n"]  # ‖Σ_j C_j σ'_j U_jᵀ‖, which is 0 where units are opposite pairs


def _shared(problem: Problem, at: Still, moved: Moved, slope: Tensor, bend: Tensor, dz: Tensor) -> Weights:
    """The norms by which all units together meet a shared attention."""
    C, U = problem.start["C"], problem.start["U"]
    c, u = moved.together("C"), moved.together("U")
    norm = lambda M: torch.linalg.matrix_norm(M, 2)
    root, top = at.root[:, 0], at.top[:, 0].sqrt()
    size = torch.linalg.vector_norm(C, dim=-1) + moved.C
    both = lambda weight, last: norm((weight[..., None] * U) @ last) + weight.amax(-1) * u
    seen = norm((slope[..., None] * U) @ root) + slope.amax(-1) * top * u
    half = (size * bend).sqrt()
    bent = norm((half[..., None] * U) @ root) + half.amax(-1) * top * u  # squared: without signs
    readout = norm(slope[..., None] * C)
    _, straight, curved = largest(problem.switches.activation, at.z, torch.zeros_like(at.z))
    seen_u = root[:, None] @ U[:, :, None]  # [n, m, d, 1]
    signed = norm(torch.einsum("nm,mk,nmdo,nmeo->nkde", -at.z.sign() * curved, C, seen_u, seen_u))
    reach, size_0 = at.spread + at.top.sqrt() * moved.U, torch.linalg.vector_norm(C, dim=-1)
    other = (moved.C * bend + size_0 * (STEEPEST if curved.any() else 0.0) * dz) * reach.square()
    other = other + size_0 * curved * (reach.square() - at.spread.square())
    signed = torch.linalg.vector_norm(signed, dim=-1) + other.sum(-1)
    turned = (torch.linalg.vector_norm(C, dim=-1) * torch.linalg.vector_norm(U, dim=-1) * bend * dz).sum(-1)
    V = norm(C.T @ (straight[..., None] * U)) + turned + readout * u
    V = V + c * both(slope, torch.eye(U.shape[-1], dtype=U.dtype))
    return Weights(seen, torch.minimum(bent.square(), signed), readout + slope.amax(-1) * c, V)


def largest(
    name: str, z: Float[Tensor, "n m"], dz: Float[Tensor, "n m"]
) -> tuple[Float[Tensor, "n m"], Float[Tensor, "n m"], Float[Tensor, "n m"]]:
    """The largest |σ|, |σ'|, |σ''| between z − dz and z + dz."""
    near, far = (z.abs() - dz).clamp(min=0), z.abs() + dz
    if name == "identity":
        return far, torch.ones_like(z), torch.zeros_like(z)
    low, high = torch.tanh(near), torch.tanh(far)
    worst = torch.minimum(torch.clamp(low, min=PEAK), high)
    return high, 1 - low.square(), 2 * worst * (1 - worst.square())


def _rows(
    weight: Float[Tensor, "n g"], A: Float[Tensor, "n h d"], shifted: Float[Tensor, "n s"]
) -> Float[Tensor, " g"]:
    """‖diag(weight) A‖, of each unit, where rows of A may have moved by ``shifted``."""
    h = "h" if A.shape[1] > 1 else "o"
    g = "h" if A.shape[1] > 1 else "g"
    gram = torch.einsum(f"n{g},n{h}d,n{h}e->{g}de", weight.square(), A, A)
    fixed = torch.linalg.eigvalsh(gram)[..., -1].clamp(min=0).sqrt()
    return fixed + torch.linalg.vector_norm(weight * shifted, dim=0)


def _for(N: Float[Tensor, "g 3 3"], values: Float[Tensor, " m"]) -> Float[Tensor, " g"]:
    """A value for each unit, or the largest where units meet."""
    return values if len(N) == len(values) else values.max()[None]
