"""All that four theories say of a problem before its first step."""

from companion.theory.one_layer import kernel, preconditioned, residual, selection
from companion.theory.one_layer.prediction import Prediction
from companion.theory.one_layer.problem import Problem

#: name → what it says of a problem, in the order of the book's parts.
THEORIES = {
    "kernel": kernel.predict,
    "residual": residual.predict,
    "selection": selection.predict,
    "preconditioned": preconditioned.predict,
}


def predict(problem: Problem) -> list[Prediction]:
    """Every voice of every theory whose hypotheses the problem meets."""
    return [said for theory in THEORIES.values() for said in theory(problem)]
