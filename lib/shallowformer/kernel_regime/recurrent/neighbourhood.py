"""The set Ω_ρ around an initialisation of recurrent units, and the projection on it."""

from collections.abc import Sequence

from shallowformer import arguments
from shallowformer.kernel_regime.recurrent.network import Units
from shallowformer.training.balls import Balls


def projection(start: Units, rho: Sequence[float]) -> Balls:
    """Π on Ω_ρ, for ``training.descent``: every |c_i − c_i⁽⁰⁾|, ‖U_i − U_i⁽⁰⁾‖ and |w_i − w_i⁽⁰⁾| at most ρ/√m.

    Source: Arda, Cayci, Eryilmaz 2026, appendix B.1.

    Args:
        start: the initialisation φ⁽⁰⁾.
    """
    return Balls(start.blocks, [radius / start.m**0.5 for radius in arguments.triple("rho", rho)])
