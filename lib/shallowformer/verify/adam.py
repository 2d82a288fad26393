"""Climb by projected Adam with a cosine schedule: slower than ``ascent`` where a function is smooth, and not held up by its kinks."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from shallowformer.verify.ascent import Ascent, Numbers, Points, pick

MEMORY, SQUARE_MEMORY = 0.8, 0.99


def climb(
    evaluate: Callable[[Points], tuple[Numbers, Points]],
    admit: Callable[[Points], Points],
    open: Callable[[Points, Points], Points],
    at: Ascent,
    steps: int,
    rate: float,
    vectors: Sequence[tuple[slice, int]],
    ended: Callable[[Numbers], bool] = lambda f: False,
) -> Ascent:
    """Make ``steps`` steps, or fewer if ``ended`` says that the best values are enough. Returns: the best that each restart has seen.

    Args:
        evaluate: points → values and slopes.
        admit: raw points → admissible ones.
        open: (points, slopes) → what of the slopes can be followed there.
        rate: first step size.
        vectors: columns of points that are made of vectors, and their dimension. There a step size for each coordinate would bend the
            direction, and the projected iteration would come to rest beside the maximum.
    """
    best, z, g = at, at.z, at.g
    mean, square = np.zeros_like(z), np.zeros_like(z)
    for step in range(steps):
        slope = open(z, g)
        power = np.square(slope)
        for columns, d in vectors:
            part = power[:, columns].reshape(len(z), -1, d)
            power[:, columns] = np.broadcast_to(part.mean(-1, keepdims=True), part.shape).reshape(len(z), -1)
        mean += (1 - MEMORY) * (slope - mean)
        square += (1 - SQUARE_MEMORY) * (power - square)
        size = rate * (1e-4 + 0.5 * (1 + math.cos(math.pi * step / steps))) / (1 - MEMORY ** (step + 1))
        z = admit(z + size * mean / (np.sqrt(square / (1 - SQUARE_MEMORY ** (step + 1))) + 1e-12))
        f, g = evaluate(z)
        higher = f > best.f
        best = Ascent(pick(higher, z, best.z), np.where(higher, f, best.f), pick(higher, g, best.g))
        if step % 10 == 9 and ended(best.f):
            break
    return best
