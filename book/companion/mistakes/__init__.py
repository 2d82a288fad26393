"""Mistakes planted in the chapters, a folder a room, and the one that most of them share."""

from dataclasses import replace

from shallowformer.verify.inequality import Inequality, OneOfTwo, sides
from shallowformer.verify.mistakes import Mistake


def larger(factor: float) -> Mistake:
    """A left side that is ``factor`` times as large; sides that are computed together still are."""

    def change(check: Inequality) -> Inequality:
        lhs, rhs = check.lhs, check.rhs
        if not (isinstance(lhs, OneOfTwo) and isinstance(rhs, OneOfTwo) and lhs.together is rhs.together):
            return replace(check, lhs=lambda **point: factor * lhs(**point))

        def together(**point):
            both = lhs.together(**point)
            return factor * both[lhs.which], both[rhs.which]

        left, right = sides(together)
        return replace(check, lhs=left, rhs=right)

    return Mistake(f"times {factor:g}", change)
