"""Exercises of the chapter *On real tables*."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.exercises.feedback import Feedback, judge


def _bend(h: Tensor, b: float) -> Tensor:
    p = torch.softmax(b * h[:, None] * h, 1)
    return (p @ h / b - h).square().mean()


def _undivided(h: Tensor, b: float) -> Tensor:
    return (torch.softmax(b * h[:, None] * h, 1) @ h - h).square().mean()


def _of_the_average(h: Tensor, b: float) -> Tensor:
    return (torch.softmax(b * h[:, None] * h, 1) @ h - b * h).square().mean()


def _without_itself(h: Tensor, b: float) -> Tensor:
    scores = b * h[:, None] * h
    scores.fill_diagonal_(-torch.inf)
    return (torch.softmax(scores, 1) @ h / b - h).square().mean()


def _not_squared(h: Tensor, b: float) -> Tensor:
    return (torch.softmax(b * h[:, None] * h, 1) @ h / b - h).abs().mean()


def _no_temperature(h: Tensor, b: float) -> Tensor:
    return (torch.softmax(h[:, None] * h, 1) @ h / b - h).square().mean()


#: What people answer instead, by the hint they get.
BEND_MISTAKES = {
    "the answer is ẑ/b: it stands for h, not for bh.": _undivided,
    "that is the error of ẑ; divide it by b, so that it is the error of an answer of size 1.": _of_the_average,
    "the query is a row of the table, and the table holds it as a token too.": _without_itself,
    "mean square, not mean absolute value.": _not_squared,
    "b multiplies the scores.": _no_temperature,
}


def check_bend(bend: Callable[[Float[Tensor, " k"], float], Float[Tensor, ""]]) -> Feedback:
    """Exercise *Which column is straightest?*: mean square over rows h_i of ẑ_i/b − h_i, ẑ_i the average of all h_j with weights e^{b h_i h_j}."""
    generator = torch.Generator().manual_seed(3)
    cases = []
    for k, b in ((3, 0.5), (20, 0.2), (50, 0.7)):
        h = torch.randn(k, generator=generator, dtype=torch.float64).exp()
        cases.append((f"{k} rows, b = {b}", ((h - h.mean()) / h.std(correction=0), b)))
    return judge("ex-real-tables-bend", bend, _bend, cases, BEND_MISTAKES)


def _whiten(X: Tensor) -> Tensor:
    centred, values, V = _axes(X)
    return centred @ (V * values**-0.5) @ V.T


def _axes(X: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows less their mean; eigenvalues and eigenvectors of their covariance."""
    centred = X - X.mean(0)
    return centred, *torch.linalg.eigh(centred.T @ centred / len(X))


def _about_0(X: Tensor) -> Tensor:
    values, V = torch.linalg.eigh(X.T @ X / len(X))
    return X @ (V * values**-0.5) @ V.T


def _not_moved(X: Tensor) -> Tensor:
    _, values, V = _axes(X)
    return X @ (V * values**-0.5) @ V.T


def _by_power(power: float) -> Callable[[Tensor], Tensor]:
    def wrong(X: Tensor) -> Tensor:
        centred, values, V = _axes(X)
        return centred @ (V * values**power) @ V.T

    return wrong


def _not_turned_back(X: Tensor) -> Tensor:
    centred, values, V = _axes(X)
    return centred @ (V * values**-0.5)


def _by_cholesky(X: Tensor) -> Tensor:
    centred = X - X.mean(0)
    return torch.linalg.solve_triangular(
        torch.linalg.cholesky(centred.T @ centred / len(X)), centred.T, upper=False
    ).T


#: What people answer instead, by the hint they get.
WHITEN_MISTAKES = {
    "that is standardised: columns are still correlated.": lambda X: (X - X.mean(0)) / X.std(0, correction=0),
    "divide by k, not by k − 1.": lambda X: _whiten(X) * (1 - 1 / len(X)) ** 0.5,
    "a covariance is about the mean: take it off first.": _about_0,
    "the covariance is right; the rows have kept their mean.": _not_moved,
    "that is Σ^{½}, which doubles what it should undo.": _by_power(0.5),
    "that is Σ^{−1}; only half of it, its root, belongs here.": _by_power(-1.0),
    "these are coordinates along eigenvectors: turn them back by Vᵀ.": _not_turned_back,
    "the covariance is I, but Cholesky's root is not the symmetric one.": _by_cholesky,
    "divide by k: a sum of squares is not a covariance.": lambda X: _whiten(X) / len(X) ** 0.5,
}


def check_whiten(whiten: Callable[[Float[Tensor, "k d"]], Float[Tensor, "k d"]]) -> Feedback:
    """Exercise *What whitening leaves*: rows less their mean, times Σ^{−½}."""
    generator = torch.Generator().manual_seed(5)
    cases = []
    for k, d in ((6, 2), (30, 3)):
        mixed = torch.randn(k, d, generator=generator, dtype=torch.float64).exp()
        mixing = torch.randn(d, d, generator=generator, dtype=torch.float64)
        cases.append((f"{k} rows, {d} columns", (mixed @ mixing,)))
    return judge("ex-real-tables-whiten", whiten, _whiten, cases, WHITEN_MISTAKES, tolerance=1e-7)


def _first_bend(p: float) -> float:
    return _by_moments(_third(p), _fourth(p))


def _third(p: float) -> float:
    return (1 - 2 * p) / (p * (1 - p)) ** 0.5


def _fourth(p: float) -> float:
    return 1 / (p * (1 - p)) - 3


def _by_moments(third: float, fourth: float) -> float:
    return third**2 * fourth / 4


#: What people answer instead, by the hint they get.
FIRST_BEND_MISTAKES = {
    "the column is centred here, but its variance is p(1 − p): standardise it.": lambda p: (
        _first_bend(p) * (p * (1 - p)) ** 5
    ),
    "0 and 1 are their own powers: take off the mean and divide by the deviation first.": lambda p: p**3 / 4,
    "these tails are not a Gaussian's: the fourth moment is not 3.": lambda p: _by_moments(_third(p), 3.0),
    "the fourth moment, not its excess over a Gaussian's.": lambda p: _by_moments(_third(p), _fourth(p) - 3),
    "the inner mean is squared, too: (𝔼h³)².": lambda p: abs(_third(p)) * _fourth(p) / 4,
    "the query is a row of the column: the outer mean is 𝔼h⁴, not (𝔼h²)².": lambda p: _by_moments(
        _third(p), 1.0
    ),
    "Taylor's ½ is squared, too: ¼.": lambda p: 2 * _first_bend(p),
}


def check_first_bend(first_bend: Callable[[float], float]) -> Feedback:
    """Exercise *It rains or it does not*: p → ¼(𝔼h³)²𝔼h⁴ of a standardised column that is 1 with probability p, else 0."""
    cases = [(f"p = {p}", (p,)) for p in (0.5, 0.2, 0.9, 0.03)]
    return judge("ex-real-tables-rain", first_bend, _first_bend, cases, FIRST_BEND_MISTAKES)
