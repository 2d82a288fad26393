"""A rule of thumb, read off the grid of the contest before its held-out settings were looked at: which theory to ask, in three questions."""

from shallowformer.contracts import NonNegative, Positive, contract

#: For how long the kernel regime lasts, in units of the start's own time, over α√m or α.
LASTS = 4.0
#: A layer with own heads that is at least so lazy has met its labels before it leaves the kernel regime.
FITS = 5.0


@contract
def reach(heads: str, alpha: Positive, m: int) -> float:
    """How lazy a layer is: α√m where every unit has an attention of its own, α where all share one, whatever the width."""
    return alpha * m**0.5 if heads == "own" else alpha


@contract
def advice(
    heads: str,
    activation: str,
    trained: str,
    loss: str,
    rule: str,
    alpha: Positive,
    m: int,
    time: NonNegative,
    lasts: Positive = LASTS,
) -> str | None:
    """The voice to ask, or None where none will be right; the first arguments are the switches of the layer.

    Args:
        time: steps so far times η over the start's unit n/(α²λ), λ the largest eigenvalue of its tangent kernel.
        lasts: c; the kernel regime is asked up to time c·``reach``.
    """
    if trained == "W" and loss == "exponential":  # 1: does attention alone learn, to tell signs? It selects
        return "selection theorem"
    if rule == "preconditioned":  # 2: do steps follow the structure? It factorises
        return "preconditioned forecast"
    if activation == "identity" or trained == "C":  # outputs bend little, or not at all
        return "kernel forecast"
    # Labels are met before heads have moved far.
    if loss == "squared" and heads == "own" and reach(heads, alpha, m) >= FITS:
        return "kernel forecast"
    return "kernel forecast" if time <= lasts * reach(heads, alpha, m) else None  # 3: has it moved far?
