"""Mistakes planted in the chapter *The price of memory*: what its checks must notice."""

from dataclasses import replace

from companion.theory.kernel_regime import streaming
from shallowformer.kernel_regime.recurrent import backpropagation
from shallowformer.verify.mistakes import Mistake, formula, package

_right_read = streaming.read
_right_forwards = backpropagation.forwards


def _no_fading(stream, token, lam, values):
    """What was summed stays as it is when the maximum moves."""
    nothing = replace(stream, sums=0 * stream.sums)
    added = _right_read(nothing, token, lam, values)
    return replace(added, sums=stream.sums + added.sums)


def _last_input_only(X, phi, *rest):
    """Gradients in U without the past."""
    of_c, _, of_w = _right_forwards(X, phi, *rest)
    return of_c, _right_forwards(X[:, -1:], phi, *rest)[1], of_w


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-proposition-2-numbers": [formula("one past, not two", lambda value, case: value / 4)],
    "kr-proposition-2-forwards": [
        package("the last input only", backpropagation, "forwards", _last_input_only)
    ],
    "kr-proposition-2-forwards/attention": [package("one sum fades never", streaming, "read", _no_fading)],
    "kr-proposition-2-kept": [
        formula(
            "one number a unit", lambda value, case: value * (0.6 if case["model"] == "recurrence" else 1)
        )
    ],
}
