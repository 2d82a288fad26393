"""Judging a reader's function: against a reference on many cases, with hints for the mistakes that people make."""

import functools
import html
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import EllipsisType

from shallowformer.arguments import count
from shallowformer.exercises import hints
from shallowformer.exercises.borrowed import borrowed
from shallowformer.exercises.hints import Case

#: A reader's number, or the dots of the stub while there is none.
Answer = float | EllipsisType

MARKS = {"passed": "✓", "wrong": "✗", "not yet": "○"}


@dataclass(frozen=True)
class Feedback:
    """What a check says of an answer: at once what is wrong, and hints for those who ask for them, a step at a time."""

    exercise: str  # label of the exercise on the page
    state: str  # ``passed``, ``wrong`` or ``not yet`` (nothing to judge so far)
    message: str  # what was tried, or what is wrong and where: the first step
    hints: tuple[str, ...] = ()  # the second step, and the third

    @property
    def passed(self) -> bool:
        """Whether the answer is right."""
        return self.state == "passed"

    @property
    def told(self) -> str:
        """All steps, one below the other."""
        return "\n".join((self.message, *self.hints))

    def hint(self, step: int = 2) -> str:
        """One step: 1 says what is wrong and where, 2 which mistake it is, 3 more; or a sentence that says that there is none."""
        steps = (self.message, *self.hints)
        if count("step", step) > len(steps):
            return f"there is no step {step} for this answer; the last one is {len(steps)}."
        return steps[step - 1]

    def __repr__(self) -> str:
        ask = "\n  For the next hint: .hint(2)" + ", then .hint(3)" * (len(self.hints) > 1)
        return f"{MARKS[self.state]} {self.exercise}, {self.state}: {self.message}{ask if self.hints else ''}"

    def _repr_html_(self) -> str:
        state, folds = self.state.replace(" ", "-"), ""
        for hint in reversed(self.hints):  # the third opens within the second
            lines = html.escape(hint).replace("\n", "<br>")
            folds = f"<details><summary>Next hint</summary>{lines}{folds}</details>"
        return (
            f'<div class="verdict feedback-{state}"><span class="verdict-mark" aria-hidden="true">{MARKS[self.state]}</span> '
            f"<code>{html.escape(self.exercise)}</code> <strong>{self.state}</strong> {html.escape(self.message)}{folds}</div>"
        )


def judge(
    exercise: str,
    answer: Callable,
    reference: Callable,
    cases: Iterable[Case],
    mistakes: Mapping[str, Callable],
    tolerance: float = 1e-9,
    seen: Callable = lambda value, *arguments: value,
    slips: bool = True,
) -> Feedback:
    """Compare a reader's function with a reference on every case; nothing that function does makes this raise.

    Args:
        reference: returns the right value, a number or a tensor.
        cases: pairs of a description and arguments, simple ones first.
        mistakes: hint → function that makes this mistake, the likeliest first; the hint is given when the answer agrees
            with it on every case on which it can be computed.
        tolerance: allowed error relative to the largest entry of the right value, or to 1 if that is larger.
        seen: what is compared: value and arguments → a number or a tensor.
        slips: whether what is compared may be off by a sign, a factor, a square …, which get hints of their own.
    """
    cases = list(cases)

    def made(*arguments: object) -> object:
        value = answer(*arguments)
        return value if _missing(value) else seen(value, *arguments)

    def problem(value: object, *arguments: object) -> tuple[str, ...]:
        found = hints.difference(value, reference(*arguments), tolerance)
        return (found, *further()) if found else ()

    def further() -> tuple[str, str]:
        on_all = lambda function: [hints.computed(function, arguments) for _, arguments in cases]
        right = [reference(*arguments) for _, arguments in cases]
        wrong = {hint: on_all(lambda *a, by=by: seen(by(*a), *a)) for hint, by in mistakes.items()}
        return hints.further(on_all(made), right, cases, wrong, tolerance, slips)

    judged = functools.wraps(answer)(made) if callable(answer) else answer
    return judge_by(exercise, judged, cases, problem, f"right on all {len(cases)} cases", reference)


def judge_by(
    exercise: str,
    answer: Callable,
    cases: Iterable[Case],
    problem: Callable[..., str | tuple[str, ...]],
    praise: str,
    reference: Callable | None = None,
) -> Feedback:
    """Judge a reader's function by a property of its values, where more than one function is right; nothing it does makes this raise.

    Args:
        answer: the reader's function; one made around it by ``functools.wraps``.
        cases: pairs of a description and arguments, simple ones first.
        problem: value and arguments → what is wrong, or that and the hints that follow it, or nothing.
        praise: what to say if nothing is.
        reference: a function that is right, which an answer must not call.
    """
    if not callable(answer):
        return Feedback(
            exercise,
            "wrong",
            f"give the function itself, not {type(answer).__name__}: check(f), not check(f(x))",
        )
    for description, arguments in cases:
        try:
            value = answer(*hints.copies(arguments))
        except Exception as error:
            # A library's own error of this kind says what is not implemented.
            if isinstance(error, NotImplementedError) and not error.args:
                return Feedback(exercise, "not yet", "your function is still the stub")
            return Feedback(
                exercise, "wrong", f"{description}: your function raises {type(error).__name__}: {error}"
            )
        if _missing(value):
            return Feedback(exercise, "not yet", "your function returns nothing yet")
        if found := problem(value, *arguments):
            first, *more = (found,) if isinstance(found, str) else found
            return Feedback(exercise, "wrong", f"{description}: {first}", tuple(more))
    if name := borrowed(answer, reference):
        return Feedback(exercise, "wrong", f"right, but {name} is the package's function: write your own")
    return Feedback(exercise, "passed", praise)


def judge_number(
    exercise: str,
    answer: object,
    right: float,
    mistakes: Mapping[str, float],
    otherwise: str | Callable[[float], str],
    praise: str,
    tolerance: float = 1e-3,
    near: float = 0.01,
    begin: str = "",
) -> Feedback:
    """Compare an answer that is a Python, numpy or torch number with the right one: "not yet" if missing, "wrong" for what is no number.

    Args:
        mistakes: hint → number that this mistake leads to, the likeliest first.
        otherwise: how to begin, the last hint; or number → what to say of one that no mistake leads to.
        praise: what to say of the right one.
        tolerance: allowed error.
        near: distance at which an answer is taken for a mistake's number, relative to it unless that is 0.
        begin: how to begin, where ``otherwise`` is a function.
    """
    fixed = otherwise if isinstance(otherwise, str) else begin

    def verdict(number: float) -> Feedback:
        if abs(number - right) <= tolerance:
            return Feedback(exercise, "passed", praise)
        first = f"{number:.6g} is not it."
        off = {hint: abs(number - wrong) / (abs(wrong) or 1.0) for hint, wrong in mistakes.items()}
        nearest = min(off, key=off.get, default="")
        if nearest and off[nearest] <= near:
            first += " A mistake that people make leads there."
            steps = [nearest, fixed]
        else:
            told = "" if isinstance(otherwise, str) else otherwise(number)
            steps = [hints.slip(number, right, tolerance), told, fixed]
        return Feedback(exercise, "wrong", first, tuple(filter(None, steps))[:2])

    return judge_number_by(exercise, answer, verdict)


def judge_number_by(exercise: str, answer: object, verdict: Callable[[float], Feedback]) -> Feedback:
    """Judge an answer that is a number, where more than one is right: "not yet" if missing, "wrong" for what is no number."""
    if _missing(answer):
        return Feedback(exercise, "not yet", "give a number")
    try:
        number = float(answer)
    except (TypeError, ValueError, RuntimeError):
        return Feedback(exercise, "wrong", f"expected a number, got {answer!r}")
    return verdict(number)


def _missing(value: object) -> bool:
    return value is None or value is Ellipsis
