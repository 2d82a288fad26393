"""Judging a reader's function: against a reference on many cases, with hints for the mistakes that people make."""

import html
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

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
) -> Feedback:
    """Compare a reader's function with a reference on every case.

    Args:
        exercise: label of the exercise on the page.
        answer: the reader's function.
        reference: returns the right value, a number or a tensor.
        cases: pairs of a description and arguments, simple ones first.
        mistakes: hint → function that makes this mistake; the hint is given when the answer agrees with it.
        tolerance: allowed error relative to the largest entry of the right value, or to 1 if that is larger.

    Returns:
        The feedback; nothing the reader's function does makes this raise.
    """
    cases = list(cases)
    if not callable(answer):
        return Feedback(
            exercise,
            "wrong",
            f"give the function itself, not {type(answer).__name__}: check(f), not check(f(x))",
        )
    for description, arguments in cases:
        try:
            value = answer(*(a.clone() if isinstance(a, Tensor) else a for a in arguments))
        except NotImplementedError:
            return Feedback(exercise, "not yet", "your function is still the stub")
        except Exception as error:
            return Feedback(
                exercise, "wrong", f"{description}: your function raises {type(error).__name__}: {error}"
            )
        if value is None or value is Ellipsis:
            return Feedback(exercise, "not yet", "your function returns nothing yet")
        problem = _problem(value, reference(*arguments), tolerance)
        if problem:
            hint = _hint(value, arguments, mistakes, tolerance)
            return Feedback(
                exercise, "wrong", f"{description}: {problem}" + (f" Hint: {hint}" if hint else "")
            )
    return Feedback(exercise, "passed", f"right on all {len(cases)} cases")


def judge_number(exercise: str, answer: object, verdict: Callable[[float], Feedback]) -> Feedback:
    """Judge an answer that is a number: a Python, numpy or torch one.

    Args:
        exercise: label of the exercise on the page.
        answer: the reader's answer.
        verdict: the number → the feedback.

    Returns:
        The feedback; "not yet" for a missing answer, "wrong" for what is not a number.
    """
    if answer is None or answer is Ellipsis:
        return Feedback(exercise, "not yet", "give a number")
    try:
        number = float(answer)
    except (TypeError, ValueError, RuntimeError):
        return Feedback(exercise, "wrong", f"expected a number, got {answer!r}")
    return verdict(number)


def _problem(value: object, right: Tensor | float, tolerance: float) -> str:
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


def _hint(value: object, arguments: tuple, mistakes: Mapping[str, Callable], tolerance: float) -> str:
    for hint, mistaken in mistakes.items():
        try:
            if not _problem(value, mistaken(*arguments), tolerance):
                return hint
        except Exception:  # a mistake need not be computable on every case
            continue
    return ""


class _LargestResult(TorchDispatchMode):
    """Remembers the number of entries of the largest tensor that any operation returns."""

    def __init__(self) -> None:
        super().__init__()
        self.entries = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for item in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(item, Tensor):
                self.entries = max(self.entries, item.numel())
        return result


def largest_tensor(function: Callable, *arguments: Tensor) -> int:
    """Number of entries of the largest tensor that a computation makes on its way.

    Args:
        function: what to run.
        *arguments: what to run it on.

    Returns:
        The number of entries; views count with the entries they show.
    """
    with _LargestResult() as mode:
        function(*arguments)
    return mode.entries
