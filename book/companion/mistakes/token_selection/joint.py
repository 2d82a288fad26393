"""Mistakes planted in the chapter *Decoder and attention together*: what its checks must notice."""

from dataclasses import replace

from companion.mistakes import larger
from companion.theory.token_selection import joint_bounds, joint_conditions, joint_gram
from companion.theory.token_selection.joint_conditions import Lemma11, Orthogonal
from shallowformer.verify.mistakes import SIGNS, Mistake, formula, measured, package

_right_run, _right_norms = joint_gram.run, joint_bounds.norms
_right_condition = joint_conditions.lemma_11


def _bold_norms(t, eta):
    """Without what the first step takes off."""
    u, W = _right_norms(t, eta)
    return u - eta, W - eta / 2


class _Backwards(joint_gram.Course):
    """Attention climbs instead of descending: all pulls of W turned."""

    gaps = property(lambda self: -joint_gram.Course.gaps.fget(self))
    log_loss = property(lambda self: 2 * self.between.roll(1, 0) - joint_gram.Course.log_loss.func(self))


def _backwards(K, query, eta, steps, p=2 / 3, q=1.0, start=None):
    return _Backwards(**vars(_right_run(K, query, eta, steps, p, q, start)))


def _bold_attention(K, query, eta, steps, p=2 / 3, q=1.0, start=None):
    """Attention without the additional factor in its step."""
    return _right_run(K, query, eta, steps, p, p, start)


def _no_logits(instance):
    """(E) and (N3) with κ forgotten."""
    found = _right_condition(instance)
    return replace(found, least=found.most)


def _wrong(kind: type, name: str, factor: float, what: str) -> Mistake:
    right = getattr(kind, name)
    return package(what, kind, name, property(lambda self: factor * right.fget(self)))


_right_logits = Lemma11.logits.fget
_PULL = [
    _wrong(Lemma11, "logits", 0.5, "16 for 32"),
    package("κ³ forgotten", Lemma11, "logits", property(lambda self: _right_logits(self) / self.kappa**3)),
]
_STEP = {
    "growth": [_wrong(Lemma11, "growth", 2.0, "c doubled"), larger(1.05)],
    "ratio": [_wrong(Lemma11, "gap_ratio", 1 / 3, "72 replaced by 24"), larger(1.05)],
    "pull": [*_PULL, larger(1.05)],
    "losses": [package("attention's step without its factor", joint_gram, "run", _bold_attention)],
}

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "ts-lemma-10": [package("a unit too low", joint_bounds, "norms", _bold_norms)],
    "ts-lemma-10/attention": [larger(1.06)],
    "ts-lemma-10-below": [larger(1.01)],
    "ts-definition-c1": [
        Mistake(
            "a third more noise",
            lambda check: replace(check, fails=lambda *draws: 4 / 3 * check.fails(*draws)),
        )
    ],
    "ts-definition-c1/length": SIGNS[:1],
    "ts-definition-c1-tokens": [
        package("κ forgotten", joint_conditions, "lemma_11", _no_logits),
        formula("1 % more", lambda value, case: 1.01 * value),
    ],
    "ts-lemma-11-geometry": [larger(1.01)],
    "ts-lemma-11-geometry/score": [larger(1.01)],
    "ts-lemma-11-geometry/score-above": [larger(1.01)],
    "ts-lemma-11-geometry/apart": [larger(1.01)],
    "ts-lemma-11": [larger(1.05), _wrong(Lemma11, "loss_ratio", 0.5, "C halved")],
    "ts-lemma-11/scores": [larger(1.01)],
    "ts-lemma-11/weights": [package("attention climbs", joint_gram, "run", _backwards)],
    **{f"ts-lemma-11/{part}": mistakes for part, mistakes in _STEP.items()},
    "ts-lemma-11/step": [_wrong(Lemma11, "eta", 33 / 32, "32 for 33")],
    "ts-lemma-11/overlap": [_wrong(Lemma11, "losses", 128 / 96, "128 for 96")],
    "ts-lemma-11/logits": [_wrong(Lemma11, "logits", 0.9, "a tenth less")],
    "ts-lemma-11-edges": [formula("1 % more", lambda value, case: 1.01 * value)],
    "ts-lemma-11-edges/zero": [formula("it moves", lambda value, case: value + 1e-6)],
    "ts-lemma-9": [_wrong(Orthogonal, "product", 0.8, "a fifth less")],
    "ts-definition-c2": [
        Mistake("half more", lambda check: replace(check, fails=lambda *draws: 1.5 * check.fails(*draws)))
    ],
    "ts-lemma-13": [larger(1.01)],
    "ts-lemma-13/speed": [larger(1.01)],
    "ts-lemma-13/acceleration": [package("a smaller cumulant", joint_bounds, "THIRD_CUMULANT", 0.09)],
    "ts-lemma-13/loss": [larger(1.02)],
    "ts-lemma-13/curvature": [larger(1.02)],
    "ts-lemma-13-decoder": [larger(1.01)],
    "ts-lemma-12": [larger(1.01)],
    "ts-lemma-12/second": [larger(1.01)],
    "ts-theorem-2-attention": [package("attention climbs", joint_gram, "run", _backwards)],
    "ts-theorem-2-attention/states": [
        package("attention climbs", joint_gram, "run", _backwards),
        larger(1.05),
    ],
    "ts-theorem-2": [larger(1.03)],
    "ts-theorem-2/constant": [larger(1.08)],
    "ts-theorem-2/rate": [larger(1.1)],
    "ts-theorem-2/slope": [formula("1 % more", lambda value, case: 1.01 * value)],
    "ts-theorem-3": [formula("1 % more", lambda value, case: 1.01 * value)],
    "ts-theorem-3/growth": [larger(1.03)],
    "ts-theorem-3-late": [larger(1.05), _wrong(Lemma11, "eta", 33 / 24, "24 for 33")],
    "ts-theorem-3-late/power": [larger(1.02)],
    "ts-theorem-3/rest": [formula("3 % more", lambda value, case: 1.03 * value)],
    "ts-theorem-3/rate": [measured("a root of it", lambda value: value**0.5)],
    "ts-theorem-3/length": [formula("2 % more", lambda value, case: 1.02 * value)],
    "ts-theorem-4": [larger(2.1)],
    "ts-theorem-4-full": [larger(1.05)],
    "ts-theorem-4-full/end": [formula("2 % more", lambda value, case: 1.02 * value)],
    "ts-theorem-4-full/rate": [measured("a fourth root of it", lambda value: value**0.25)],
    "ts-theorem-4-correlation": [larger(1.01)],
    "ts-lemma-11-tokens": [larger(1.05)],
    "ts-lemma-11-tokens/scores": [larger(1.01)],
    "ts-lemma-11-tokens/weights": [package("attention climbs", joint_gram, "run", _backwards)],
    **{f"ts-lemma-11-tokens/{part}": mistakes for part, mistakes in _STEP.items()},
    "ts-lemma-11-tokens/numbers": [
        package("κ forgotten", joint_conditions, "lemma_11", _no_logits),
        _wrong(Lemma11, "logits", 0.9, "a tenth less"),
    ],
    "ts-theorem-2-any": [formula("1 % more", lambda value, case: 1.01 * value)],
    "ts-theorem-2-any/search": [larger(1.25)],
    "ts-theorem-2-any/search-three": [larger(1.15)],
}
