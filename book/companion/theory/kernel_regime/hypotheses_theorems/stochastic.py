"""The balance of a run and the noise of a batch, each without one hypothesis; exact."""

from fractions import Fraction


def comparator_outside(kept: bool) -> tuple[Fraction, Fraction]:
    """‖φ − ηg − φ⁺‖² and P_s for one readout in [−1, 1] that a step moves from 1 to 3/2: φ̃ = ½ (kept) or 2."""
    target = Fraction(1, 2) if kept else Fraction(2)
    before, after = Fraction(3, 2), Fraction(1)
    return (before - after) ** 2, (before - target) ** 2 - (after - target) ** 2


def single_sample(kept: bool) -> tuple[Fraction, Fraction]:
    """Distance of the sides of the balance of a step, f = (p, q), labels 0, φ̃ = 0, from (1, 2), η = ¼: full gradient (kept), or p's."""
    eta, p, q = Fraction(1, 4), Fraction(1), Fraction(2)
    loss, slope = (p**2 + q**2) / 2, p**2 + q**2  # e = 0; the gradient is (p, q)
    after = (p - eta * p) ** 2 + (q - eta * q) ** 2 if kept else (p - 2 * eta * p) ** 2 + q**2
    return abs(after - (p**2 + q**2) + 4 * eta * loss - eta**2 * slope), Fraction(0)


def not_uniform(kept: bool) -> tuple[Fraction, Fraction]:
    """‖E g − ∇L̂‖² for the residuals (p, q) = (1, 2), batches of one: drawn uniformly (kept), or always the first."""
    p, q = Fraction(1), Fraction(2)
    mean = (p, q) if kept else (2 * p, Fraction(0))
    return (mean[0] - p) ** 2 + (mean[1] - q) ** 2, Fraction(0)


def without_replacement(kept: bool) -> tuple[Fraction, Fraction]:
    """|E‖g‖² − formula| for the residuals (1, 2), n = b = 2: drawn with replacement (kept), or without, so that g is the full gradient."""
    p, q = Fraction(1), Fraction(2)
    full, single = p**2 + q**2, (4 * p**2 + 4 * q**2) / 2
    expected = (single + full) / 2 if kept else full
    return abs(expected - (single / 2 + full / 2)), Fraction(0)


def one_draw_for_all(kept: bool) -> tuple[Fraction, Fraction]:
    """E‖g‖² and its bound for the residuals (1, 2), n = b = 2: two independent draws (kept), or one that is used twice."""
    p, q = Fraction(1), Fraction(2)
    full, single = p**2 + q**2, (4 * p**2 + 4 * q**2) / 2
    loss = (p**2 + q**2) / 2
    return ((single + full) / 2 if kept else single), 4 * loss * (
        Fraction(1, 2) + Fraction(1, 2) * Fraction(1, 2)
    )
