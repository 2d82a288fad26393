"""Which experiments there are, and their scales; a module is imported only when its experiment is asked for."""

import difflib
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shallowformer.experiments.experiment import Experiment

#: From what a test can afford to what the papers did.
SCALES = ("smoke", "laptop", "paper")


@dataclass(frozen=True)
class Entry:
    """An experiment that has not been imported."""

    place: str  # ``module:NAME`` of the ``Experiment``
    title: str  # as its title, here so that a list needs no import


#: To add an experiment, add a line.
EXPERIMENTS: Mapping[str, Entry] = {
    "beyond_theory": Entry(
        "shallowformer.experiments.beyond.beyond_theory:EXPERIMENT",
        "Beyond the theory: a shared hidden layer, sequence outputs and two layers beside the paper's model",
    ),
    "bridge": Entry(
        "shallowformer.experiments.token_selection.bridge:EXPERIMENT",
        "The bridge: part one's model on token selection data; kernel regime, decoder learning, selection",
    ),
    "certificates": Entry(
        "shallowformer.experiments.kernel_regime.certificates:EXPERIMENT",
        "Certificates of Theorem A at the paper's setting: five problems, seven widths, every step measured",
    ),
    "sample_size": Entry(
        "shallowformer.experiments.kernel_regime.sample_size:EXPERIMENT",
        "Approximation error against the number of inputs: maximum, mean square, ceiling, width needed",
    ),
    "sample_training": Entry(
        "shallowformer.experiments.kernel_regime.sample_training:EXPERIMENT",
        "Training loss and loss on fresh inputs against the number of samples",
    ),
    "sequence_length": Entry(
        "shallowformer.experiments.kernel_regime.sequence_length:EXPERIMENT",
        "Targets, losses and gradients against the length of sequences",
    ),
    "selection_rates": Entry(
        "shallowformer.experiments.token_selection.selection_rates:EXPERIMENT",
        "Figure 2 with every step rule: direction, norm, loss and sparsity against steps",
    ),
    "step_cost": Entry(
        "shallowformer.experiments.kernel_regime.step_cost:EXPERIMENT",
        "Time and memory of a step against the length of sequences",
    ),
    "linear_runs": Entry(
        "shallowformer.experiments.kernel_regime.linear_runs:EXPERIMENT",
        "Theorem F at the paper's setting: the loss of every step, certified before the first one",
    ),
    "memory_at_start": Entry(
        "shallowformer.experiments.kernel_regime.memory_at_start:EXPERIMENT",
        "Starts of Figure 2: where attention rests, how fast the recurrence forgets, what tangent models learn",
    ),
    "price_of_memory": Entry(
        "shallowformer.experiments.kernel_regime.price_of_memory:EXPERIMENT",
        "What attention and a recurrence cost against the length: a step, what autograd keeps, one answer more",
    ),
    "misfit": Entry(
        "shallowformer.experiments.kernel_regime.outside:CERTIFIED",
        "Theorem A's certificate for realisable and other targets",
    ),
    "norms": Entry(
        "shallowformer.experiments.kernel_regime.outside:NORMS",
        "Is a target realisable? The least squared norm that fits its labels, against the number of samples",
    ),
    "digit_patches": Entry(
        "shallowformer.experiments.token_selection.digit_patches:EXPERIMENT",
        "Figure 9: digits among patches of noise, descent and normalised descent",
    ),
    "lost_samples": Entry(
        "shallowformer.experiments.token_selection.lost_samples:EXPERIMENT",
        "Samples lost by normalised descent from 0, against dimension and common mean",
    ),
    "outside": Entry(
        "shallowformer.experiments.kernel_regime.outside:EXPERIMENT",
        "Realisable and other targets side by side: full training, its linear model, test losses",
    ),
    "projection": Entry(
        "shallowformer.experiments.kernel_regime.projection:EXPERIMENT",
        "Projections of every radius and none: loss, displacement, distance from the linear model",
    ),
    "runaway": Entry(
        "shallowformer.experiments.kernel_regime.runaway:EXPERIMENT",
        "Steps beyond the edge of the linear model, with a projection and without",
    ),
    "recurrence": Entry(
        "shallowformer.experiments.kernel_regime.recurrence:EXPERIMENT",
        "Figure 2: Transformer and IndRNN on series with a memory of L steps",
    ),
    "theorem_e": Entry(
        "shallowformer.experiments.kernel_regime.theorem_e:EXPERIMENT",
        "Theorem E at the paper's setting: true random starts, five problems, no run",
    ),
    "linearisation_error": Entry(
        "shallowformer.experiments.kernel_regime.linearisation_error:EXPERIMENT",
        "Figure 1(a): linearisation error at four points of the boundary against width",
    ),
    "approximation_error": Entry(
        "shallowformer.experiments.kernel_regime.approximation_error:EXPERIMENT",
        "Figure 1(b): approximation error of m heads, the paper's variant and the released one",
    ),
    "prices": Entry(
        "shallowformer.experiments.kernel_regime.prices:EXPERIMENT",
        "What the labels of Figure 1's teachers cost in the norm of the student's kernel, against the number of inputs",
    ),
    "linear_left": Entry(
        "shallowformer.experiments.kernel_regime.prices:LEFT",
        "What descent on the linear model leaves of the labels of Figure 1's teachers",
    ),
    "joint_selection": Entry(
        "shallowformer.experiments.token_selection.joint_selection:EXPERIMENT",
        "Figure 3: decoder and attention trained together, five rules",
    ),
    "training_loss": Entry(
        "shallowformer.experiments.kernel_regime.training_loss:EXPERIMENT",
        "Figure 1(c): smallest and mean training loss against width, the paper's variant and the released one",
    ),
    "long_runs": Entry(
        "shallowformer.experiments.kernel_regime.training_loss:LONG",
        "Figure 1(c) after the paper's horizon: the small copy over ten times the length",
    ),
    "coefficient_sweep": Entry(
        "shallowformer.experiments.residual.coefficient_sweep:EXPERIMENT",
        "Figure 3(a) on autoregressive tokens: residual coefficients, three rules for the step, three kinds of targets",
    ),
    "climate_windows": Entry(
        "shallowformer.experiments.residual.climate_windows:EXPERIMENT",
        "Figure 3(a) on made-up weather in the format of the Jena file: residual coefficients, three rules for the step",
    ),
    "rank_collapse": Entry(
        "shallowformer.experiments.residual.rank_collapse:EXPERIMENT",
        "Silent attention with and without its residual: the floor, the escape, and the network's residual",
    ),
    "admissible_runs": Entry(
        "shallowformer.experiments.residual.admissible_runs:EXPERIMENT",
        "Theorems A, A+, D, E and F of the residual part at starts that they admit, with certified steps: every bound at every step",
    ),
    "certified_widths": Entry(
        "shallowformer.experiments.residual.certified_widths:EXPERIMENT",
        "From a random start: smallest certified widths, runs there beside their bounds, and what descent needs",
    ),
    "certified_standard": Entry(
        "shallowformer.experiments.residual.certified_standard:EXPERIMENT",
        "From a standard random start, W_2 drawn as well: smallest certified widths, and runs there beside their bounds",
    ),
    "finite_context": Entry(
        "shallowformer.experiments.preconditioned.finite_context:EXPERIMENT",
        "What a finite context costs: fresh queries at a balanced optimum, against radius and number of tokens",
    ),
    "own_token": Entry(
        "shallowformer.experiments.preconditioned.finite_context:OWN",
        "What a finite context costs if the query is one of its tokens, and if it is not",
    ),
    "huge_context": Entry(
        "shallowformer.experiments.preconditioned.finite_context:HUGE",
        "The exact risk of contexts of up to 10⁶⁴ tokens, d = 1, below, at and above the threshold",
    ),
    "convergence": Entry(
        "shallowformer.experiments.preconditioned.convergence:EXPERIMENT",
        "The structure-aware algorithm on finite data: a geometric phase, then a floor that falls like 1/n",
    ),
    "ingredients": Entry(
        "shallowformer.experiments.preconditioned.ingredients:EXPERIMENT",
        "The structure-aware algorithm with one ingredient removed at a time: steps to twice its floor",
    ),
    "ingredients_radius": Entry(
        "shallowformer.experiments.preconditioned.radius:EXPERIMENT",
        "The radius of the structure-aware algorithm, and least squares on the same data",
    ),
    "infinite_context": Entry(
        "shallowformer.experiments.preconditioned.infinite_context:EXPERIMENT",
        "Steps of descent on the population error against the condition number of Σ, preconditioned and raw",
    ),
    "balance": Entry(
        "shallowformer.experiments.preconditioned.infinite_context:BALANCE",
        "Steps of descent on factors from unbalanced starts, with and without the regulariser",
    ),
    "one_context": Entry(
        "shallowformer.experiments.preconditioned.one_context:EXPERIMENT",
        "How far the gradient is off with one context for all queries, below, at and above b = 1",
    ),
    "mean_gradient": Entry(
        "shallowformer.experiments.preconditioned.one_context:MEAN",
        "How far the mean gradient is off with up to 10⁶⁴ tokens, d = 1, for b from 1 to 2",
    ),
}


class Unknown(LookupError):
    """A name that no experiment has."""


def get(name: str) -> "Experiment":
    """Import an experiment.

    Args:
        name: of a registered one, or ``module:NAME`` of one's own.
    """
    if ":" in name:
        found = _imported(name)
        if found.name in EXPERIMENTS and name != EXPERIMENTS[found.name].place:
            raise Unknown(
                f"{name} is called {found.name!r}, as one of the book's experiments: its rows would go to that one's file; rename it"
            )
        return found
    if name not in EXPERIMENTS:
        near = difflib.get_close_matches(name, EXPERIMENTS, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise Unknown(
            f"no experiment is called {name!r}{hint} There are: {', '.join(sorted(EXPERIMENTS))}. "
            "An experiment of your own is named module:NAME"
        )
    return _imported(EXPERIMENTS[name].place)


def _imported(place: str) -> "Experiment":
    from shallowformer.experiments.experiment import Experiment

    module, _, attribute = place.partition(":")
    if not all(part.isidentifier() for part in [*module.split("."), attribute]):
        raise Unknown(f"an experiment of your own is named module:NAME, as in an import, got {place!r}")
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there, and lacks something itself
        raise Unknown(
            f"there is no module {module!r} for the experiment {place!r}; it must be in the current folder, or installed"
        ) from error
    if not isinstance(found, Experiment):
        raise Unknown(f"{module} has no experiment called {attribute!r}")
    return found
