"""The smallest width at which a certificate holds: by the law of widths first, then on draws."""

from collections.abc import Callable
from dataclasses import replace

from shallowformer.contracts import Count, Positive, contract
from shallowformer.residual.random_start.certify import Certificate, certify
from shallowformer.residual.random_start.start import Start


@contract
def widened(s: Start, factor: Positive) -> Start:
    """The start at ``factor`` times the width if A and W_1 grow like the square root, and ‖W_2W_U‖ stays, which draws do up to chance."""
    c = factor**0.5
    known = s.linear and replace(
        s.linear, r=s.linear.r / (1 if s.w_2 else c), nu=s.linear.nu * c, m_4=s.linear.m_4 * c
    )
    return replace(
        s, sigma_A=s.sigma_A * c, a=s.a * c, w=s.w * c, psi=s.psi / c, q=s.q / c, q_2=s.q_2 / c, linear=known
    )


def factor(s: Start, holds: Callable[[Start], bool], accuracy: float = 1e-3) -> float:
    """The least factor of the width at which something holds, by bisection: ``holds`` is monotone in the width."""
    high = 1.0
    while not holds(widened(s, high)):
        high *= 10
        if high > 1e15:
            raise ValueError(f"holds must hold at some width, got none up to {high:.0e} times this one")
    low = high / 10
    while low > 1e-15 and holds(widened(s, low)):
        low, high = low / 10, low
    while high > low * (1 + accuracy):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if holds(widened(s, middle)) else (middle, high)
    return high


@contract
def smallest(
    start: Callable[[int], Start],
    first: Count,
    ratio: Positive = 1.06,
    most: int = 2_000_000,
    cells: int = 300,
) -> tuple[int, Certificate] | None:
    """The smallest width, up to a ratio, at which the certificate of a draw holds, walking from where the law points.

    Returns: the width and its certificate; None if there is none up to ``most``.

    Args:
        first: a width to extrapolate from.
        ratio: between one width that is tried and the next, above 1.
    """
    if ratio <= 1:
        raise ValueError(f"ratio must be above 1, got {ratio!r}")
    at = int(first * factor(start(first), lambda s: certify(s, cells).holds, 0.02))
    found = None
    while at <= most:
        known = certify(start(at), cells)
        if known.holds:
            found = at, known
            at = int(at / ratio)
        elif found:
            return found
        else:
            at = int(at * ratio) + 1
    return found
