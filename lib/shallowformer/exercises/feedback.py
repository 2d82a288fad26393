"""Judging a reader's function: against a reference on many cases, with hints for the mistakes that people make."""

import html
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import EllipsisType

import torch
from torch import Tensor

#: A reader's number, or the dots of the stub while there is none.
Answer = float | EllipsisType
#: A case: what to say about it when the answer is wrong there, and the arguments.
Case = tuple[str, tuple]

MARKS = {"passed": "✓", "wrong": "✗", "not yet": "○"}


@dataclass(frozen=True)
class Feedback:
    """What a check says of an answer.

    Args:
        exercise: label of the exercise on the page.
        state: ``passed``, ``wrong`` or ``not yet`` (nothing to judge so far).
        message: what was tried, or what is wrong and where to look.
    """

    exercise: str
    state: str
    message: str

    @property
    def passed(self) -> bool:
        """Whether the answer is right."""
        return self.state == "passed"

    def __repr__(self) -> str:
        return f"{MARKS[self.state]} {self.exercise}, {self.state}: {self.message}"

    def _repr_html_(self) -> str:
        state = self.state.replace(" ", "-")
        return (
            f'<div class="verdict feedback-{state}"><span class="verdict-mark" aria-hidden="true">{MARKS[self.state]}</span> '
            f"<code>{html.escape(self.exercise)}</code> <strong>{self.state}</strong> {html.escape(self.message)}</div>"
        )


def judge(
    exercise: str,
    answer: Callable,
    reference: Callable,
    cases: Iterable[Case],
    mistakes: Mapping[str, Callable],
    tolerance: float = 1e-9,
    seen: Callable = lambda value, *arguments: value,
) -> Feedback:
    """Compare a reader's function with a reference on every case.

    Args:
        exercise: label of the exercise on the page.
        answer: the reader's function.
        reference: returns the right value, a number or a tensor.
        cases: pairs of a description and arguments, simple ones first.
        mistakes: hint → function that makes this mistake; the hint is given when the answer agrees with it on every
            case on which it can be computed.
        tolerance: allowed error relative to the largest entry of the right value, or to 1 if that is larger.
        seen: what is compared: value and arguments → a number or a tensor.

    Returns:
        The feedback; nothing the reader's function does makes this raise.
    """
    cases = list(cases)

    def made(*arguments: object) -> object:
        value = answer(*arguments)
        return value if _missing(value) else seen(value, *arguments)

    def problem(value: object, *arguments: object) -> str:
        found = _difference(value, reference(*arguments), tolerance)
        hint = found and _hint(made, cases, mistakes, seen, tolerance)
        return found + (f" Hint: {hint}" if hint else "")

    judged = made if callable(answer) else answer
    return judge_by(exercise, judged, cases, problem, f"right on all {len(cases)} cases")


def judge_by(
    exercise: str, answer: Callable, cases: Iterable[Case], problem: Callable[..., str], praise: str
) -> Feedback:
    """Judge a reader's function by a property of its values, where more than one function is right.

    Args:
        exercise: label of the exercise on the page.
        answer: the reader's function.
        cases: pairs of a description and arguments, simple ones first.
        problem: value and arguments → what is wrong, or "".
        praise: what to say if nothing is.

    Returns:
        The feedback; nothing the reader's function does makes this raise.
    """
    if not callable(answer):
        return Feedback(
            exercise,
            "wrong",
            f"give the function itself, not {type(answer).__name__}: check(f), not check(f(x))",
        )
    for description, arguments in cases:
        try:
            value = answer(*_copies(arguments))
        except NotImplementedError:
            return Feedback(exercise, "not yet", "your function is still the stub")
        except Exception as error:
            return Feedback(
                exercise, "wrong", f"{description}: your function raises {type(error).__name__}: {error}"
            )
        if _missing(value):
            return Feedback(exercise, "not yet", "your function returns nothing yet")
        if found := problem(value, *arguments):
            return Feedback(exercise, "wrong", f"{description}: {found}")
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
) -> Feedback:
    """Compare an answer that is a number with the right one.

    Args:
        exercise: label of the exercise on the page.
        answer: the reader's answer: a Python, numpy or torch number.
        right: the right one.
        mistakes: hint → number that this mistake leads to.
        otherwise: what to say of any other number, or number → what to say.
        praise: what to say of the right one.
        tolerance: allowed error.
        near: distance at which an answer is taken for a mistake's number, relative to it unless that is 0.

    Returns:
        The feedback; "not yet" for a missing answer, "wrong" for what is not a number.
    """

    def verdict(number: float) -> Feedback:
        if abs(number - right) <= tolerance:
            return Feedback(exercise, "passed", praise)
        for hint, wrong in mistakes.items():
            if abs(number - wrong) <= near * (abs(wrong) or 1.0):
                return Feedback(exercise, "wrong", hint)
        return Feedback(exercise, "wrong", otherwise if isinstance(otherwise, str) else otherwise(number))

    return judge_number_by(exercise, answer, verdict)


def judge_number_by(exercise: str, answer: object, verdict: Callable[[float], Feedback]) -> Feedback:
    """Judge an answer that is a number, where more than one is right.

    Args:
        exercise: label of the exercise on the page.
        answer: the reader's answer: a Python, numpy or torch number.
        verdict: the number → the feedback.

    Returns:
        The feedback; "not yet" for a missing answer, "wrong" for what is not a number.
    """
    if _missing(answer):
        return Feedback(exercise, "not yet", "give a number")
    try:
        number = float(answer)
    except (TypeError, ValueError, RuntimeError):
        return Feedback(exercise, "wrong", f"expected a number, got {answer!r}")
    return verdict(number)


def _missing(value: object) -> bool:
    return value is None or value is Ellipsis


def _difference(value: object, right: Tensor | float, tolerance: float) -> str:
    """What is wrong with a value, or ""."""
    right = torch.as_tensor(right, dtype=torch.float64)
    try:
        value = torch.as_tensor(value, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        return f"expected a number or a tensor, got {type(value).__name__}."
    if value.shape != right.shape:
        return f"expected shape {tuple(right.shape)}, got {tuple(value.shape)}."
    if not value.isfinite().all():
        return "your value is NaN or infinite."
    error = (value - right).abs()
    if right.numel() == 0 or float(error.max()) <= tolerance * max(1.0, float(right.abs().max())):
        return ""
    if right.ndim == 0:
        wanted, given = f"{float(right):.6g}", f"{float(value):.6g}"
        if wanted == given:
            return f"off by {float(error):.3g}, which is more than rounding in double precision."
        return f"expected {wanted}, got {given}."
    return f"off by up to {float(error.max()):.3g} where entries reach {float(right.abs().max()):.3g}."


def _copies(arguments: tuple) -> tuple:
    """Arguments that a function may change."""
    return tuple(a.clone() if isinstance(a, Tensor) else a for a in arguments)


def _hint(
    made: Callable, cases: list[Case], mistakes: Mapping[str, Callable], seen: Callable, tolerance: float
) -> str:
    """The hint for the mistake that an answer makes, or "": two mistakes can agree on one case, hardly on all."""
    for hint, mistaken in mistakes.items():
        compared = [
            (arguments, wrong)
            for _, arguments in cases
            if (wrong := _computed(lambda *a, by=mistaken: seen(by(*a), *a), arguments)) is not None
        ]
        answered = ((_computed(made, arguments), wrong) for arguments, wrong in compared)
        if compared and not any(_difference(value, wrong, tolerance) for value, wrong in answered):
            return hint
    return ""


def _computed(function: Callable, arguments: tuple) -> object:
    """A finite value, or None where there is none: a mistake need not be computable on every case."""
    try:
        value = function(*_copies(arguments))
        return value if torch.as_tensor(value).isfinite().all() else None
    except Exception:
        return None
