"""Exercises of the chapter *On data: what the residual buys*."""

from collections.abc import Callable

import torch

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _on_the_hour(minutes: list[int]) -> torch.Tensor:
    return torch.tensor([minute for minute in minutes if minute % 60 == 0])


def _sixth(minutes: list[int], first: int) -> torch.Tensor:
    return torch.tensor(minutes[first::6])


def _counted(value: object, minutes: list[int]) -> torch.Tensor:
    """What is compared: which of the minutes are in the answer, and how often."""
    answer = [int(entry) for entry in value]
    return torch.tensor([answer.count(minute) for minute in minutes] + [len(answer)], dtype=torch.float64)


#: What people answer instead, by the hint they get.
HOUR_MISTAKES = {
    "the first line is not a full hour: the file begins at 00:10. And counting lines fails behind a gap.": lambda minutes: (
        _sixth(minutes, 0)
    ),
    "counting lines: the sixth line is a full hour only until the first gap. Look at the clock.": lambda minutes: (
        _sixth(minutes, 5)
    ),
    "give the minutes, not the places where they stand.": lambda minutes: torch.tensor(
        [place for place, minute in enumerate(minutes) if minute % 60 == 0]
    ),
    "only those of the full hours that are there: nothing is made up for a line that is absent.": lambda minutes: (
        torch.arange(-(-minutes[0] // 60) * 60, minutes[-1] + 1, 60)
    ),
    "hours, not minutes: do not divide by 60.": lambda minutes: _on_the_hour(minutes) // 60,
}


def check_hours(hours: Callable[[list[int]], list[int]]) -> Feedback:
    """Exercise *Hours by the clock*: which of the lines of a file stand at a full hour.

    Args:
        hours: minutes since midnight of the lines, ascending → those to keep.
    """
    whole = list(range(10, 400, 10))
    gap = [minute for minute in whole if not 130 <= minute < 160]
    long = [minute for minute in range(10, 900, 10) if not 170 <= minute < 250]
    cases = [
        ("no line is absent", (whole,)),
        ("three lines are absent", (gap,)),
        ("a full hour is absent", (long,)),
    ]
    return judge(
        "ex-climate-hours",
        hours,
        lambda minutes: _counted(_on_the_hour(minutes), minutes),
        cases,
        HOUR_MISTAKES,
        seen=_counted,
        slips=False,
    )


#: What people answer instead, by the hint they get.
STEPS_MISTAKES = {
    "that is with the step of coefficient 2: at coefficient 1 the curvature is four times smaller, so its own step is four times longer": 1600.0,
    "the curvature goes with g²: its own step is 4 times the other's, not twice": 800.0,
    "no faster than coefficient 2: with their own steps both multiply every error by 1 − σ_i²/σ_max² a step": 100.0,
    "no faster than coefficient 2: the products μg² are equal": 200.0,
}


def check_steps(steps: Answer) -> Feedback:
    """Exercise *A race that the step decides*: how many steps coefficient 1 needs with a step of its own."""
    return judge_number(
        "ex-climate-steps",
        steps,
        400.0,
        STEPS_MISTAKES,
        "errors are multiplied by 1 − μg²σ_i² a step: what is μg² in each of the three runs?",
        "μg² is the same as at coefficient 2, so every error falls alike",
        tolerance=0.5,
    )


#: What people answer instead, by the hint they get.
AHEAD_MISTAKES = {
    "the loss is a square: errors are multiplied by 0.99 a step, losses by 0.99²": 688.0,
    "at that step A is still ahead by a hair: its own small error has shrunk a little too, but 0.99^(2t) is not yet below it": 343.0,
    "that is where (1 − 0.01)^t falls below √0.001 by the approximation e^(−0.01t); compute with 0.99": 346.0,
    "A has lost its large part after one step; compare what is left of it, 0.001, with 0.99^(2t)": 1.0,
    "log to the base e, not 10": 150.0,
}


def check_ahead(step: Answer) -> Feedback:
    """Exercise *Ill-conditioned, and ahead*: the first step at which the well-conditioned problem has the smaller loss."""
    return judge_number(
        "ex-climate-ahead",
        step,
        344.0,
        AHEAD_MISTAKES,
        "twice the loss of A is 0.001·(1 − 10⁻⁶)^(2t) from the first step on, that of B 0.99^(2t)",
        "until then the problem with κ = 1000 is ahead of the one with κ = 10",
        tolerance=0.5,
        near=1e-4,
    )
