"""Lines in the format of the climate file of Jena, with the faults of the real one where a test wants them. Its numbers mean nothing."""

from pathlib import Path

from checks import normal
from shallowformer.real.jena import COLUMNS, TIME

HEADER = ",".join(f'"{name}"' for name in (TIME, *COLUMNS))


def line(time: str, T: float = 5.0, wind: str = "2.00") -> str:
    """One line; entries tell columns apart."""
    entries = [f"{10 * place + T:.2f}" for place in range(14)]
    entries[1], entries[11], entries[12] = f"{T:.2f}", wind, wind
    return ",".join([time, *entries])


def hours(count: int) -> list[str]:
    """Lines every ten minutes; the temperature tells the time."""
    return [
        line(f"{1 + h // 24:02d}.03.2010 {h % 24:02d}:{m:02d}:00", T=h + m / 100)
        for h in range(count)
        for m in range(0, 60, 10)
    ]


def write(path: Path, lines: list[str], header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *lines]) + "\n", encoding="ascii")
    return path


def write_noise(path: Path, days: int) -> Path:
    """A line an hour, all numbers drawn."""
    values = normal(24 * days, 14).tolist()
    times = (f"{1 + day:02d}.03.2010 {h:02d}:00:00" for day in range(days) for h in range(24))
    return write(
        path, [",".join([time, *map("{:.2f}".format, row)]) for time, row in zip(times, values, strict=True)]
    )
