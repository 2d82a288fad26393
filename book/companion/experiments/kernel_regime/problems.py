"""Where students start, and the teacher–student problems of Figure 1: as the paper states them, as the released code makes them.

Both have tokens, width of the teacher and number of anchors in common. The released code reads the diagonal of W where the paper
has W, weighs its anchors with random signs, takes them from the data, and trains on four fifths of the inputs. Between the two are
variants that take over one or both of the teacher's differences, and nothing else.
"""

import functools
import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments, data
from shallowformer.kernel_regime.kernel import mappings
from shallowformer.kernel_regime.kernel.labels import labelled
from shallowformer.kernel_regime.kernel.transportation import Estimate, Law, Mapping
from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.model.parameters import Parameters

D, T, ANCHORS = 8, 16, 16
THREES = (3.0, 3.0, 3.0)


@dataclass(frozen=True)
class Variant:
    """How a problem is made and trained on."""

    step: float  # what the step size is, times √τ
    trained: float  # share of the inputs that a student sees
    law: Law  # of the teacher's heads
    #: whether anchors are some of the data and have random signed weights; otherwise they are fresh, and weigh the same
    mixed: bool


#: The two variants of Figure 1.
FIGURE = {
    "paper": Variant(1.0, 1.0, parameters.random, mixed=False),
    "released": Variant(1.75, 0.8, parameters.diagonal, mixed=True),
}
VARIANTS = FIGURE | {
    "diagonal": replace(FIGURE["paper"], law=parameters.diagonal),
    "mixed": replace(FIGURE["paper"], mixed=True),
    "both": replace(FIGURE["paper"], law=parameters.diagonal, mixed=True),
}


@dataclass(frozen=True)
class Problem:
    """Inputs and what they are labelled with."""

    X: Float[Tensor, "n T d"]  # all inputs
    labels: Estimate  # ỹ as a mean over the teacher's heads, with the variance of one of them
    teacher: Mapping  # the mapping that the labels were made from
    trained: int  # number of inputs that students are trained on, the first ones


def source(seed: int) -> torch.Generator:
    """What a problem is drawn from. Returns: a fresh generator; the inputs are drawn first."""
    return torch.Generator().manual_seed(1000 + seed)


def start(m: int, seed: int, d: int = D) -> Parameters:
    """φ⁽⁰⁾ of a student, symmetric: numbers of float32, held in float64, so that runs in either start at the same point."""
    drawn = parameters.symmetric(m, d, torch.Generator().manual_seed(10_000 * m + seed))
    return drawn.map(lambda block: block.float().double())


@functools.lru_cache(maxsize=32)
def problem(variant: str, seed: int, n: int, heads: int) -> Problem:
    """Draw a problem; kept, as the labels take a while. All variants of a seed have the same inputs."""
    if variant not in VARIANTS:
        raise ValueError(f"variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    rule = VARIANTS[variant]
    drawn = source(seed)
    X = data.clipped_gaussian(n, T, D, drawn)
    if rule.mixed:
        weights = torch.randn(ANCHORS, generator=drawn, dtype=X.dtype)
        anchors = X[torch.randint(arguments.count("n", n), (ANCHORS,), generator=drawn)]
        teacher = mappings.teacher(anchors, THREES, weights=weights / weights.abs().sum())
    else:
        teacher = mappings.teacher(data.clipped_gaussian(ANCHORS, T, D, drawn), THREES)
    labels = labelled(X, teacher, heads, drawn, law=rule.law)
    return Problem(X, labels, teacher, math.ceil(rule.trained * n))
