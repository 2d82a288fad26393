"""Stored rows as text for a terminal."""

from collections.abc import Sequence
from pathlib import Path

from shallowformer.experiments import SCALES, store
from shallowformer.experiments.experiment import Experiment, planned


def show(experiment: Experiment, results: Path | None = None) -> str:
    """What is stored of an experiment, and what is missing.

    Returns: lines: title, counts a scale, rows with the fields that vary and the results that are single values, names of the other
    results, time taken.
    """
    rows = store.load(experiment.name, results)
    held = {row["key"] for row in rows}
    plans = {scale: planned(experiment, scale) for scale in SCALES}
    lines = [f"{experiment.name}: {experiment.title}", f"{store.path(experiment.name, results)}", ""]
    for scale, plan in plans.items():
        here = len(held & set(plan))
        lines.append(f"{scale:<7} {here:>5} rows stored, {len(plan) - here:>5} missing")
    unplanned = len(held.difference(*plans.values()))
    if unplanned:
        lines.append(
            f"{unplanned} stored rows (*) belong to no plan any more; they are kept, and never verified"
        )
    if rows:
        known = set().union(*plans.values())
        lines += ["", *table(rows, [" " if row["key"] in known else "*" for row in rows])]
        folded = dict.fromkeys(
            name for row in rows for name, value in row["result"].items() if _folded(value)
        )
        if folded:
            lines += ["", f"not shown, as they are lists or mappings: {', '.join(folded)}"]
        names = [name for row in rows for name in row["result"]]
        some = [
            f"{name} ({count})" for name in dict.fromkeys(names) if (count := names.count(name)) < len(rows)
        ]
        if some:
            lines += ["", f"not in every row, by configuration or as compute has changed: {', '.join(some)}"]
        hours = sum(row["provenance"].get("seconds", 0) for row in rows) / 3600
        lines += ["", f"computed in {hours:.1f} hours, added up over the rows"]
    return "\n".join(lines)


def table(rows: Sequence[dict], marks: Sequence[str] | None = None) -> list[str]:
    """Rows under each other.

    Returns: lines; the first is the head. Columns: fields of the configuration that differ, then results that are single values.

    Args:
        rows: from ``store.load``, at least one.
        marks: put before each row.
    """
    fields = dict.fromkeys(name for row in rows for name in row["config"])
    varying = [name for name in fields if len({repr(row["config"].get(name)) for row in rows}) > 1]
    single = dict.fromkeys(
        name for row in rows for name, value in row["result"].items() if not _folded(value)
    )
    columns = [
        *([name, *(_cell(row["config"].get(name, "")) for row in rows)] for name in varying),
        *([name, *(_cell(row["result"].get(name, "")) for row in rows)] for name in single),
    ]
    if marks is not None:
        columns.insert(0, [" ", *marks])
    widths = [max(map(len, column)) for column in columns]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in zip(*columns, strict=True)
    ]


def _folded(value: object) -> bool:
    return isinstance(value, (list, dict))


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
