"""Excess risk with the training covariates as context: 𝓡_n(A, B) = ½E_x‖Aẑ_n(x) − Mx‖² over fresh queries."""

from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, contract
from shallowformer.preconditioned import gradients
from shallowformer.preconditioned.problems import Problem


@contract
def excess(
    A: Float[Tensor, "m d"],
    B: Float[Tensor, "d d"],
    context: Float[Tensor, "N d"],
    problem: Problem,
    queries: Count,
    generator: Generator,
) -> Float[Tensor, " {queries}"]:
    """½‖Aẑ(x) − Mx‖² at fresh queries: their mean estimates 𝓡_n, and their spread its standard error.

    Args:
        context: tokens, as a rule the training covariates.
    """
    arguments.shape("A", arguments.floating("A", A, "m d"), tuple(problem.M.shape), "[m, d] as M")
    x = problem.covariates(queries, generator)
    return (gradients.outputs(A, B, x, context) - x @ problem.M.T).square().sum(1) / 2
