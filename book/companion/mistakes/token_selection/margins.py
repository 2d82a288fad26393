"""Mistakes planted in the chapter *Which margin? The norm of a step*: what its checks must notice."""

from dataclasses import replace

from companion.mistakes import larger
from companion.theory.token_selection import best_margins, optimisers
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_barrier = best_margins._by_barrier


def _early(instance, gap=1e-9):
    """The barrier's path, left where the gap is a thousandth."""
    return _right_barrier(instance, 1e-3)


def _raised(check):
    """The bound with 8 in the place of −2."""
    return replace(check, over=[{**case, "spare": -8.0} for case in check.over])


def _not_turned(check):
    """The difference of gaps starts below the interval, so that the third entry grows for ever."""
    return replace(check, over=[{**case, "more": 0.3} for case in check.over])


def _forgetful(log_ratio):
    """Memory that is not rescaled as the gradient shrinks."""
    return 1.0


_five = formula("5 % more", lambda value, case: 1.05 * value)

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "ts-proposition-d-dual": [
        package("a barrier that stops early", best_margins, "_by_barrier", _early),
        formula("1 % more", lambda value, case: 1.01 * value),
    ],
    **{
        f"ts-lemma-d{part}": [larger(1.02)]
        for part in ("", "/euclidean", "/max", "/spectral", "/gradient", "/curvature")
    },
    **{
        f"{claim}{part}": [larger(1.02)]
        for claim in ("ts-theorem-d", "ts-theorem-d-momentum")
        for part in ("", "/max", "/spectral")
    },
    "ts-theorem-d/runs": [Mistake("8 in the place of −2", _raised)],
    "ts-proposition-d-floor": [
        formula("a thousandth more", lambda value, case: 1.001 * value),
        Mistake("a step lands where the third entry is not turned back", _not_turned),
    ],
    "ts-proposition-d-pace": [
        package("memory that does not shrink", optimisers, "_shrunk", _forgetful),
        _five,
    ],
    "ts-proposition-d-pace/adam": [
        package("memory that does not shrink", optimisers, "_shrunk", _forgetful),
        _five,
    ],
    "ts-remark-d": [formula("the next norm", lambda value, case: (value + 1) % 3)],
    "ts-remark-d/again": [
        formula("1 % more", lambda value, case: 1.01 * value),
    ],
    **{
        f"ts-theorem-d/rate{part}": [measured("its root", lambda value: value**0.5)]
        for part in ("", "-sign", "-polar")
    },
}
