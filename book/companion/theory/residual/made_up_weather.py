"""Weather that was never measured, in a file of the format that ``climate`` reads: for tests, and where the file of Jena is not at hand."""

import csv
import io
import math
from pathlib import Path

import numpy as np

from companion.theory.residual.climate import TIME, VARIABLES
from shallowformer.contracts import Count, contract

#: Steps of ten minutes a day.
A_DAY = 144


def _wandering(steps: int, days: float, draw: np.random.Generator) -> np.ndarray:
    """A stationary AR(1) series of variance 1 that forgets in so many days."""
    a = math.exp(-1 / (days * A_DAY))
    noise = draw.standard_normal(steps) * math.sqrt(1 - a**2)
    x = np.empty(steps)
    x[0] = draw.standard_normal()
    for i in range(1, steps):
        x[i] = a * x[i - 1] + noise[i]
    return x


def _pressure_of_vapour(celsius: np.ndarray) -> np.ndarray:
    """Saturation over water in mbar, by Magnus' formula."""
    return 6.112 * np.exp(17.62 * celsius / (243.12 + celsius))


@contract
def variables(days: Count, seed: int) -> np.ndarray:
    """The 14 variables every ten minutes: five wander, the others follow from them by the formulas of meteorology.

    So the columns depend on one another as measured ones do: temperature, potential temperature and vapour pressures nearly determine
    each other, density follows from pressure and temperature. Returns: one time a row, in the units of ``climate.VARIABLES``.
    """
    steps, draw = days * A_DAY, np.random.default_rng(seed)
    day = np.arange(steps) / A_DAY
    T = 9 - 10 * np.cos(2 * np.pi * (day - 20) / 365) - 4 * np.cos(2 * np.pi * (day - 0.15))
    T = T + 4 * _wandering(steps, 3.0, draw) + 0.3 * _wandering(steps, 0.02, draw)
    p = 989 + 8 * _wandering(steps, 4.0, draw)
    dew = T - np.exp(1.2 + 0.6 * _wandering(steps, 0.7, draw) - 0.5 * np.cos(2 * np.pi * (day - 0.15)))
    wind = 2 * np.exp(0.5 * _wandering(steps, 0.3, draw) + 0.3 * draw.standard_normal(steps))
    gust = wind * (1.4 + 0.4 * draw.random(steps)) + 0.2
    direction = (180 + 120 * _wandering(steps, 1.0, draw) + 15 * draw.standard_normal(steps)) % 360
    most, vapour = _pressure_of_vapour(T), _pressure_of_vapour(dew)
    specific = 622 * vapour / (p - 0.378 * vapour)
    virtual = (T + 273.15) * (1 + 0.608e-3 * specific)
    return np.stack(
        [
            p, T, (T + 273.15) * (1000 / p) ** 0.286, dew, 100 * vapour / most, most, vapour, most - vapour,
            specific, 1000 * vapour / p, 1e5 * p / (287.05 * virtual), wind, gust, direction,
        ],
        1,
    )  # fmt: skip


def write(path: Path | str, days: int, seed: int = 0) -> None:
    """Write such a file, with the faults of the real one, always at the same times: winds of −9999, absent lines, doubled lines."""
    values = variables(days, seed)
    first = np.datetime64("2009-01-01T00:10")
    text = io.StringIO()
    text.write(",".join(f'"{name}"' for name in (TIME, *VARIABLES)) + "\n")
    lines = csv.writer(text, lineterminator="\n")
    for step, row in enumerate(values):
        if 1000 <= step % 5000 < 1020:  # 200 minutes without a line
            continue
        numbers = [f"{entry:.2f}" for entry in row]
        if 3000 <= step % 5000 < 3006:
            numbers[11:13] = "-9999.00", "-9999.00"
        date, clock = str(first + 10 * step).split("T")
        year, month, day = date.split("-")
        for _ in range(2 if step % 5000 == 4000 else 1):
            lines.writerow([f"{day}.{month}.{year} {clock}:00", *numbers])
    Path(path).write_text(text.getvalue(), encoding="ascii")
