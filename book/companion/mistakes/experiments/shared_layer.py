"""Mistakes planted in the chapter *A shared feed-forward layer*: what its checks must notice."""

from collections.abc import Callable
from dataclasses import replace

from companion.theory.beyond import dense, shared_band, shared_layer, shared_run, shared_start
from companion.theory.beyond.shared_run import Place
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_bound = shared_layer.bound
_right_turn = shared_band.turn
_right_band = shared_band.band
_right_apart = shared_run.apart
_right_operator = shared_run.operator
_right_columns = shared_run.columns
_right_spectral_bound = shared_layer.spectral_bound
_right_head_bound = shared_layer.head_bound
_right_approximation = shared_layer.approximation_bound
_right_covariance = shared_layer.covariance_bound
_right_preactivations = dense.preactivations


def _term(name: str, factor: float = 0.9) -> Mistake:
    """One of the bound's terms with another constant."""
    return package(f"another constant in {name}", shared_layer, "bound", lambda *given: (
        replace(b := _right_bound(*given), **{name: factor * getattr(b, name)})))  # fmt: skip


def _turned(name: str, factor: float = 0.9) -> Mistake:
    """One block's turn with another constant."""
    return package(f"another constant in {name}", shared_band, "turn", lambda *given: (
        replace(t := _right_turn(*given), **{name: factor * getattr(t, name)})))  # fmt: skip


def _scaled(turn: shared_band.Turn, factor: float) -> shared_band.Turn:
    return shared_band.Turn(factor * turn.c, factor * turn.V, factor * turn.W, factor * turn.heads)


def _places(what: str, change: Callable[[Place], Place]) -> Mistake:
    """What is known of the path's points, changed."""
    return package(what, shared_band, "band", lambda known, eta, p: (
        _right_band(replace(known, places=[change(place) for place in known.places]), eta, p)))  # fmt: skip


def _constant(name: str, value: float) -> Mistake:
    return package(f"{name} too small", shared_band, name, value)


_HELPFUL = Mistake(
    "heads that help",
    lambda check: replace(check, measure=lambda m, seed: m**-0.25 * check.measure(m, seed)),
)

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-lemma-w-dense": [
        package("half of the columns", shared_layer, "spectral_bound", lambda p, m, d, delta: _right_spectral_bound(p, m // 2, d, delta)),
        package("a tail twice as long", shared_layer, "spectral_bound", lambda p, m, d, delta: _right_spectral_bound(p, m, d, delta**4)),
    ],
    "kr-lemma-w-dense/heads": [
        package("no root of the width", shared_layer, "head_bound", lambda V, delta: _right_head_bound(V, delta) * len(V) ** 0.5),
        package("two thirds", shared_layer, "head_bound", lambda V, delta: _right_head_bound(V, delta) / 1.5),
    ],
    "kr-proposition-w-dense-units": [
        _term("units", 0.99),
        package("a root of the heads forgotten", dense, "preactivations", lambda X, phi: (
            _right_preactivations(X, phi) * phi["V"].shape[1] ** 0.5)),
    ],
    "kr-proposition-w-dense-units/one": [
        package("a root of the heads forgotten", dense, "preactivations", lambda X, phi: (
            _right_preactivations(X, phi) * phi["V"].shape[1] ** 0.5)),
    ],
    "kr-proposition-w-dense-met/units": [measured("half of the exponent", lambda error: error**0.5)],
    "kr-proposition-w-dense-met/heads": [measured("half of the exponent", lambda error: error**0.5)],
    "kr-theorem-g-dense": [_term("readout")],
    "kr-theorem-g-dense/constants": [_term(name, 0.95) for name in ("readout", "bend", "mixed", "skew")],
    "kr-theorem-g-dense/stored": [_term("bend", 1.5), package("all terms over the width", shared_layer, "bound", lambda N, p, m, rho: _right_bound(N, p * m, m, rho))],
    "kr-proposition-w-dense-met": [
        formula("a slope twice as steep", lambda value, case: 2 * value),
        formula("heads that count", lambda value, case: value * case["phi0"]["V"].shape[1] ** 0.5),
    ],
    "kr-theorem-h-dense": [
        package("gradients that turn twice as far", shared_band, "turn", lambda *given: _scaled(_right_turn(*given), 2.0)),
        _places("no remainder", lambda place: replace(place, remainder=0.0, seen=0.0, pull=0 * place.pull, turned=0 * place.turned)),
    ],
    "kr-theorem-h-dense/turned": [
        package("gradients that turn a tenth as far", shared_start, "turn", lambda *given: _scaled(_right_turn(*given), 0.1)),
        package("gradients that turn twice as far", shared_start, "turn", lambda *given: _scaled(_right_turn(*given), 2.0)),
    ],
    "kr-theorem-h-dense/gradients": [
        package("a tenth less", shared_start, "operator", lambda rows: 0.9 * _right_operator(rows)),
        package("half as much again", shared_start, "operator", lambda rows: 1.5 * _right_operator(rows)),
    ],
    "kr-theorem-h-dense/columns": [
        package("a tenth less", shared_start, "columns", lambda V: 0.9 * _right_columns(V)),
        package("a tenth more", shared_start, "columns", lambda V: 1.1 * _right_columns(V)),
    ],
    **{
        f"kr-theorem-h-dense{part}": [
            _places("gradients that do not turn", lambda place: replace(place, pull=0 * place.pull)),
            _places("gradients that turn twice as far", lambda place: replace(place, pull=2 * place.pull)),
        ]
        for part in ("/readouts", "/hidden", "/attention")
    },
    **{
        f"kr-theorem-h-dense/turn-{block.lower()}": [_turned("heads" if block == "Wi" else block, 0.95)]
        for block in ("c", "V", "W", "Wi")
    },
    "kr-theorem-h-dense/constants": [
        *(_turned(name, 0.95) for name in ("c", "V", "W", "heads")),
        _constant("KAPPA", 0.7),
        _constant("SIGMA_2", 0.7),
    ],
    "kr-theorem-h-dense/recursion": [
        package("what keeps partners together for what drives them apart", shared_run, "apart", lambda rows: (
            {name: block - _right_apart(rows)[name] for name, block in rows.items()})),
        formula("1 % more", lambda value, case: 1.01 * value),
    ],
    "kr-theorem-h-dense/rate": [
        measured("a bound that a root more of the width enters", lambda m: m**0.25),
    ],
    "kr-proposition-w-dense-kernel": [
        package("all units independent", shared_layer, "approximation_bound", lambda *given: _right_approximation(*given) / 2**0.5),
        package("no root", shared_layer, "approximation_bound", lambda p, *more: _right_approximation(p * p // 2, *more)),
    ],
    "kr-proposition-w-dense-kernel/signs": [
        package("all units independent", shared_layer, "approximation_bound", lambda *given: _right_approximation(*given) / 2**0.5),
    ],
    "kr-proposition-w-dense-kernel/heads": [
        package("all heads independent", shared_layer, "covariance_bound", lambda *given: _right_covariance(*given) / 2**0.5),
    ],
    "kr-remark-w-dense": [measured("half of the exponent", lambda m: m**0.5)],
    "kr-remark-w-dense/run": [_HELPFUL],
    "kr-remark-w-dense/random": [measured("a slower fall", lambda m: m**0.25)],
    "kr-remark-w-dense/random-units": [measured("a slower fall", lambda p: p**0.25)],
    "kr-remark-w-dense/worst": [_HELPFUL],
}  # fmt: skip
