"""How the heads of the second layer move along a line of parameters, and the injective norm of their attention matrices."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor
from torch.func import jvp

from companion.theory.beyond import wide
from companion.theory.beyond.architecture import Blocks
from companion.theory.beyond.deep import FIRST
from shallowformer.training import points


def derivatives(
    y: Float[Tensor, "*h T"],
    dy: Float[Tensor, "*h T"],
    ddy: Float[Tensor, "*h T"],
    ell: Float[Tensor, "*h T"],
    dell: Float[Tensor, "*h T"],
    ddell: Float[Tensor, "*h T"],
) -> tuple[Float[Tensor, "*h"], Float[Tensor, "*h"]]:
    """First and second derivative of E_α y with α ∝ e^ℓ, from those of y and ℓ."""
    alpha = torch.softmax(ell, -1)
    mean = lambda g: (alpha * g).sum(-1, keepdim=True)
    cov = lambda a, b: mean((a - mean(a)) * (b - mean(b)))
    first = mean(dy) + cov(y, dell)
    third = mean((y - mean(y)) * (dell - mean(dell)) ** 2)
    second = mean(ddy) + 2 * cov(dy, dell) + cov(y, ddell) + third
    return first[..., 0], second[..., 0]


def injective(k: int, N: int, generator: Generator, restarts: int = 12, steps: int = 60) -> float:
    """A lower bound on ‖W‖_inj of a Gaussian tensor, k × N × N, by alternating maximisation."""
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    W, u, v = draw(k, N, N), draw(restarts, N), draw(restarts, N)
    unit = lambda x: x / x.norm(dim=-1, keepdim=True)
    for _ in range(steps):
        w = unit(torch.einsum("kij,ri,rj->rk", W, u, v))
        u = unit(torch.einsum("kij,rk,rj->ri", W, w, v))
        v = torch.einsum("kij,rk,ri->rj", W, w, u)
        most, v = v.norm(dim=-1).max(), unit(v)
    return float(most)


def state(
    X: Float[Tensor, "n T d"], phi: Blocks
) -> tuple[Float[Tensor, "n T N"], Float[Tensor, "n k T"], Float[Tensor, "n k T"], Float[Tensor, "n k"]]:
    """ξ, the logits ℓ, y = ⟨U_i, ξ_t⟩ and z of the first network."""
    one = wide.network(phi, 0)
    xi = wide.stream(X, *(one[name] for name in FIRST))
    ell = torch.einsum("nti,kij,nj->nkt", xi, one["W2"], xi[:, -1])
    y = torch.einsum("nti,ki->nkt", xi, one["U2"])
    return xi, ell, y, (torch.softmax(ell, -1) * y).sum(-1)


def along(X: Float[Tensor, "n T d"], phi: Blocks, delta: Blocks) -> tuple[float, ...]:
    """What the constants of Theorem Z, wide stream, bound, at φ + δ along δ: √N‖ξ̇‖, √(Nm)‖ξ̈‖, and of ℓ, y, z in the Euclidean norm and in the sum over heads."""
    first = lambda p: jvp(lambda q: state(X, q), (p,), (delta,))[1]
    once, twice = jvp(first, (points.plus(phi, delta),), (delta,))
    m, N = len(phi["c"]), phi["B1"].shape[1]
    most = lambda x: float(x.max())
    return (
        most(N**0.5 * once[0].norm(dim=-1)),
        most((N * m) ** 0.5 * twice[0].norm(dim=-1)),
        most(once[1].norm(dim=1)),
        most(twice[1].abs().sum(1)),
        most(once[2].norm(dim=1)),
        most(twice[2].abs().sum(1)),
        most(once[3].norm(dim=1)),
        most(twice[3].abs().sum(1)),
    )
