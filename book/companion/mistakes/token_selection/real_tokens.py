"""Mistakes planted in the chapter *Bad starts, dependent tokens, real sentences*: what its checks must notice."""

from dataclasses import replace

import torch

from companion.experiments.token_selection import digit_patches
from companion.mistakes import larger
from companion.theory.token_selection import embeddings, limits, real_sentences
from shallowformer.token_selection import rules
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_GD, _NGD, _histogram, _similarities = rules.GD, rules.NGD, embeddings.histogram, embeddings.similarities
_dominated, _rates, _states = limits.dominated, digit_patches.rates, real_sentences.states


def _longer(instance):
    return {name: type(rule)(1.02 * rule.eta) for name, rule in _rates(instance).items()}


def _one_other(value, case):
    value = value.clone()
    value[0] = 1 - value[0]
    return value


def _fails(check, draws, generator):
    """A fifth more of the draws that fail, and at least two draws in a thousand."""
    failed = check.fails(draws, generator)
    count = int(failed.sum())
    return torch.arange(draws) < min(draws, max(count + draws // 500, round(1.2 * count)))


OFTENER = Mistake("oftener", lambda check: replace(check, fails=lambda *draws: _fails(check, *draws)))

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "ts-proposition-p": [larger(1.01)],
    "ts-proposition-p/direction": [measured("the distance, not its square", lambda value: value**0.5)],
    "ts-proposition-q": [larger(1.01)],
    "ts-proposition-q/above": [larger(1.01)],
    "ts-proposition-q/descent": [package("twice the step", rules, "GD", lambda eta: _GD(2 * eta))],
    "ts-proposition-q/steps": [larger(1.05)],
    "ts-proposition-q/long-steps": [
        formula("one step more", lambda value, case: value + 1),
        package("5 % more a step", rules, "NGD", lambda eta: _NGD(1.05 * eta)),
    ],
    "ts-proposition-q/values": [
        package("a hundredth of the step", rules, "GD", lambda eta: _GD(eta / 100)),
        formula("1 % more", lambda value, case: 1.01 * value),
    ],
    "ts-proposition-q/normalised": [larger(1.05)],
    "ts-proposition-r": [formula("5 % more", lambda value, case: 1.05 * value)],
    "ts-proposition-r/lost": [larger(1.25)],
    "ts-proposition-r/edge": [formula("one fate the other way", _one_other)],
    "ts-proposition-r-attracts": [formula("one fate the other way", _one_other)],
    "ts-corollary-r": [larger(1.01)],
    "ts-corollary-r/other": [
        larger(1.01),
        package(
            "2N − 2 for 2N − 1",
            limits,
            "dominated",
            lambda gram, n: (
                _dominated(gram, n)
                * (2 * (n - 1) * (gram.shape[-1] // n) - 2)
                / (2 * (n - 1) * (gram.shape[-1] // n) - 1)
            ),
        ),
    ],
    "ts-remark-s": [OFTENER],
    **{
        f"ts-remark-s/{part}": [OFTENER]
        for part in (
            "plane",
            "plane-with-mean-at-least",
            "three",
            "three-at-least",
            "ten",
            "half-2",
            "half-3",
            "half-5",
            "fifty",
            "fifty-dominated",
        )
    },
    **{
        f"ts-remark-t{part}": [larger(1.05)]
        for part in ("", "/early", "/kept", "/lost", "/local", "/local-gap", "/digit", "/noise")
    },
    "ts-proposition-v": [formula("one fate the other way", _one_other)],
    "ts-proposition-v/reviews": [formula("one fate the other way", _one_other)],
    **{
        f"ts-remark-w{part}": [larger(1.05)]
        for part in ("", "/early", "/direction", "/falls", "/selected", "/on-the-way")
    },
    "ts-remark-w/lost": [larger(2.0)],
    "ts-remark-w/again": [
        package("a step of 2 % more", digit_patches, "rates", _longer),
        formula("1 % more", lambda value, case: 1.01 * value),
    ],
    **{f"ts-remark-x{part}": [larger(1.05)] for part in ("", "/depth", "/table", "/centred")},
    "ts-remark-x/again": [
        package("5 % more", embeddings, "similarities", lambda *given: 1.05 * _similarities(*given)),
        formula("1 % more", lambda value, case: 1.01 * value),
    ],
    **{
        f"ts-remark-y{part}": [larger(1.05)]
        for part in (
            "",
            "/alone",
            "/orthogonal",
            "/unequal",
            "/pulling",
            "/pulling-most",
            "/dominance",
            "/depth",
            "/solvable",
        )
    },
    "ts-remark-y/again": [
        package("one block more", real_sentences, "states", lambda rows, depth: _states(rows, depth + 1)),
        formula("1 % more", lambda value, case: 1.01 * value),
    ],
    **{
        f"ts-remark-z{part}": [larger(1.05)]
        for part in ("", "/top", "/svm", "/falls", "/decoder", "/behind", "/plain", "/words")
    },
    "ts-proposition-u": [
        package("half the range", embeddings, "histogram", lambda cosines: _histogram(2 * cosines)),
        package("a smaller power of d", embeddings, "random_spread", lambda d: d**-0.45),
    ],
    "ts-proposition-u/share": [
        package("5 % more", embeddings, "similarities", lambda *given: 1.05 * _similarities(*given))
    ],
}
