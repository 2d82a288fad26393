"""Mistakes planted in the chapter *Long memory*: what its checks must notice."""

from dataclasses import replace

import torch

from companion.experiments.kernel_regime import recurrence
from companion.mistakes import larger
from shallowformer.kernel_regime.recurrent import autoregression
from shallowformer.verify.inequality import Inequality
from shallowformer.verify.mistakes import Mistake, formula, package

_right_series = autoregression.series
_right_attention, _right_recurrence = recurrence.attention, recurrence.recurrence


def _one_step_early(length, lag, *rest):
    """A series with another lag."""
    return _right_series(length, lag + 1, *rest)


def _short_steps(model, config, seen, generator):
    """Tokens are scaled, steps are not."""
    return replace(model(config, seen, generator), rates=(1.0, 1.0, 1.0))


def _idle(check: Inequality) -> Inequality:
    """The network's side next to nothing."""
    return replace(check, rhs=lambda **point: 1e-9 * check.rhs(**point))


LEARNS_NOTHING = Mistake("a network that learns nothing", _idle)

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-proposition-2-window": [
        formula("a window one shorter than the lag is enough", lambda value, case: torch.full_like(value, case["variance"]) if case["T"] >= case["L"] - 1 else value),
    ],
    "kr-proposition-2-window/drawn": [package("another lag", autoregression, "series", _one_step_early)],
    "kr-proposition-2-rescaled": [
        package("steps as they are", recurrence, "MODELS", {
            "transformer": lambda *args: _short_steps(_right_attention, *args),
            "indrnn": lambda *args: _short_steps(_right_recurrence, *args),
        }),
    ],
    "kr-proposition-2-start": [LEARNS_NOTHING],
    "kr-proposition-2-start/offers": [LEARNS_NOTHING],
    "kr-proposition-2-contrast": [formula("the distance, not its square", lambda value, case: value.sqrt())],
    "kr-proposition-2-contrast/upper": [larger(1.01)],
    "kr-proposition-2-contrast/lower": [larger(1.01)],
    "kr-proposition-2-contrast/crowd": [formula("twice the exponent", lambda value, case: value**2)],
}  # fmt: skip
