"""Exercises of the chapter *Long memory*."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float64
from scipy import stats
from torch import Generator, Tensor

from shallowformer.exercises.feedback import Answer, Feedback, judge, judge_number


def _forecast(X: Tensor, L: int, beta: float) -> Tensor:
    T = X.shape[1]
    return beta * X[:, T - L] if T >= L else torch.zeros_like(X[:, 0])


#: What people answer instead, by the hint they get; arguments are windows [n T], the lag and β.
FORECAST_MISTAKES = {
    "a window shorter than the lag says nothing about what follows: the best forecast is the mean.": lambda X, L, beta: beta * X[:, max(0, X.shape[1] - L)],
    "one too early: the value L steps before X_{T+1} is X_{T+1−L}, and Python counts from 0.": lambda X, L, beta: beta * X[:, X.shape[1] - L - 1],
    "one too late: the value L steps before X_{T+1} is X_{T+1−L}, and Python counts from 0.": lambda X, L, beta: beta * X[:, X.shape[1] - L + 1],
    "that is the L-th value from the left; count from the right.": lambda X, L, beta: beta * X[:, L],
    "β is missing: the noise pulls the series back to 0.": lambda X, L, beta: X[:, X.shape[1] - L] if X.shape[1] >= L else 0 * X[:, 0],
    "only the value L steps back counts, not the last one.": lambda X, L, beta: beta * X[:, -1],
}  # fmt: skip


def check_forecast(
    forecast: Callable[[Float64[Tensor, "n T"], int, float], Float64[Tensor, " n"]],
) -> Feedback:
    """Exercise *The best forecast*: E[X_{T+1} | X_1, …, X_T]; windows, lag, β → forecasts."""
    generator = Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64)
    cases = [
        (f"windows of {T}, lag {L}, β = {beta:g}", (draw(3, T), L, beta))
        for T, L, beta in ((9, 3, 0.9), (4, 4, -0.5), (3, 5, 0.9))
    ]
    return judge("ex-memory-forecast", forecast, _forecast, cases, FORECAST_MISTAKES)


def _best_loss(k: int, L: int, beta: float, variance: float) -> float:
    return variance * (1 - beta ** (2 * math.ceil(k / L))) / (1 - beta**2)


#: What people answer instead, by the hint they get; arguments are the horizon, the lag, β and σ_ε².
BEST_LOSS_MISTAKES = {
    "that treats the lag as 1: the noise enters once every L steps.": lambda k, L, beta, variance: (
        variance * (1 - beta ** (2 * k)) / (1 - beta**2)
    ),
    "how often does noise enter between the last known value and X_{T+k}? Round up.": lambda k, L, beta, variance: (
        variance * (1 - beta ** (2 * (k // L))) / (1 - beta**2)
    ),
    "up to k = L that is right; from there on noise enters more than once.": lambda k, L, beta, variance: (
        variance
    ),
    "a step further the old noise counts β² times, not once.": lambda k, L, beta, variance: (
        variance * math.ceil(k / L)
    ),
    "variances are passed on by β², not by β.": lambda k, L, beta, variance: (
        variance * (1 - abs(beta) ** math.ceil(k / L)) / (1 - abs(beta))
    ),
    "that is the variance of the series; a long window knows more.": lambda k, L, beta, variance: (
        variance / (1 - beta**2)
    ),
}


def check_best_loss(best_loss: Callable[[int, int, float, float], float]) -> Feedback:
    """Exercise *Further ahead*: the smallest mean square error of a forecast of X_{T+k} from a long window; k, L, β, σ_ε² → a number."""
    cases = [
        (f"k = {k}, L = {L}, β = {beta:g}, σ² = {variance:g}", (k, L, beta, variance))
        for k, L, beta, variance in ((1, 4, 0.9, 0.1), (4, 4, 0.9, 0.1), (10, 4, 0.9, 0.1), (9, 3, -0.5, 2.0))
    ]
    return judge("ex-memory-ahead", best_loss, _best_loss, cases, BEST_LOSS_MISTAKES)


_NEEDED = math.log(96) / float(stats.norm.ppf(0.95))

#: What people answer instead, by the hint they get.
CONTRAST_MISTAKES = {
    "the others are T − 1 = 96 tokens, each with e^g: the threshold is g < −log 96": math.log(97)
    / float(stats.norm.ppf(0.95)),
    "one side only: 5 % of a Gaussian lie below −1.645 standard deviations": math.log(96)
    / float(stats.norm.ppf(0.975)),
    "that is the variance; v is the standard deviation": _NEEDED**2,
    "α > ½ asks that the others together have less than the one token: (T − 1)e^g < 1, not e^g < 1": 0.0,
}


def check_contrast(v: Answer) -> Feedback:
    """Exercise *One token in a crowd*: the contrast at which one head in twenty looks at a single token of 97."""
    return judge_number(
        "ex-memory-crowd",
        v,
        _NEEDED,
        CONTRAST_MISTAKES,
        "α = 1/(1 + (T − 1)e^g) with g of standard deviation v; when is it above ½?",
        "log 96 is 1.645 standard deviations; in the unit ball v is at most 2",
        tolerance=2e-3,
        near=2e-3,
    )
