"""What λ = 0 leaves flat: saddles with as little curvature as one likes, steep valleys without slope, an orbit of minima.

All for diagonal M̃ = diag(s), s two or more values above 0, largest first; any other has the same picture, turned by its singular vectors.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Positive, contract


@contract
def saddle(
    s: Float[Tensor, " d"], gamma: Positive, width: int | None = None
) -> tuple[Float[Tensor, "d r"], Float[Tensor, "d r"]]:
    """A saddle of f_0 that misses s_d only, with least Hessian eigenvalue about −s_d(1 + s_d/s_j)/γ², j the last of the turned pairs.

    Column j of V is γ√s_j e_j. Row j of U is √s_j/γ in column j and, for the first r − d + 1 pairs, γ√s_j in column d − 1 + j.

    Args:
        width: r, from d to 2d − 2; d if not given.
    """
    _descending(s)
    d = len(s)
    r = d if width is None else arguments.count("width", width, d)
    arguments.at_most("width", r, "2d − 2", 2 * d - 2)
    U, V = s.new_zeros(d, r), s.new_zeros(d, r)
    turned = r - d + 1
    for j in range(d - 1):
        root = float(s[j]) ** 0.5
        scale = gamma if j < turned else 1.0
        U[j, j], V[j, j] = root / scale, root * scale
        if j < turned:
            U[j, d - 1 + j] = root * gamma
    return U, V


@contract
def valley(s: Float[Tensor, " d"], gamma: Positive) -> tuple[Float[Tensor, "d d"], Float[Tensor, "d d"]]:
    """A point with f_0 = s₁²/(2γ⁴), ‖∇f_0‖² = 6s₁γ⁻² f_0 and largest Hessian eigenvalue at least s₁γ²; s is sorted, largest first."""
    first = float(_descending(s)[0])
    scales = s.sqrt()
    scales[0], scales[-1] = first**0.5 * gamma, first**0.5 / gamma
    product = s.diag()
    product[-1, 0] = first / gamma**2
    return scales.diag(), (product / scales[:, None]).T


def minimum_spectrum(U: Float[Tensor, "d d"], V: Float[Tensor, "d d"]) -> Float[Tensor, " p"]:
    """Non-zero eigenvalues of ∇²f_0 at a minimum with square factors: σ_i(U)² + σ_j(V)² for all i and j, ascending."""
    d = arguments.floating("U", U, "d d").shape[0]
    arguments.shape("U", U, (d, d), "square")
    arguments.shape("V", arguments.floating("V", V, "d d"), (d, d), "as U")
    of_U, of_V = (torch.linalg.svdvals(A).square() for A in (U, V))
    return (of_U[:, None] + of_V).flatten().sort().values


def _descending(s: Tensor) -> Tensor:
    arguments.floating("s", s, "d")
    if len(s) < 2 or not float(s[-1]) > 0 or float((s[1:] - s[:-1]).max()) > 0:
        raise ValueError(f"s must hold at least two singular values above 0, largest first, got {s.tolist()}")
    return s
