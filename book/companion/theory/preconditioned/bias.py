"""How far the gradient on finite data is from that of the limit, in whitened coordinates: the δ of biased descent."""

from jaxtyping import Float
from torch import Tensor

from shallowformer.contracts import Positive, contract
from shallowformer.preconditioned import gradients, limit
from shallowformer.preconditioned.problems import Problem


@contract
def whitened(
    A: Float[Tensor, "m d"],
    B: Float[Tensor, "d d"],
    X: Float[Tensor, "n d"],
    Y: Float[Tensor, "n m"],
    problem: Problem,
    context: Float[Tensor, "... N d"] | None = None,
    scale: Positive = 1.0,
) -> tuple[Float[Tensor, "m d"], Float[Tensor, "d d"]]:
    """(∇_A𝓛_n − ∇_A𝓔)Σ^{−½} and Σ^{−½}(∇_B𝓛_n − ∇_B𝓔)Σ^{−½}: the difference of gradients in Ã and B̃.

    With a scale c, in the algorithm's coordinates Ã = cU and B̃ = V/c: the first times c, the second over c.

    Args:
        context: tokens: one set for all queries, or one a query; the queries themselves if not given.
    """
    _, *empirical = gradients.loss_and_gradients(A, B, X, Y, context)
    off_A, off_B = (a - b for a, b in zip(empirical, limit.gradients(A, B, problem), strict=True))
    inverse = problem.inverse_root
    return scale * off_A @ inverse, inverse @ off_B @ inverse / scale
