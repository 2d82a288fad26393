"""The ledger: one entry a claim, gathered from the verdicts that the chapters emit when they are executed."""

import json
import math
from collections.abc import Iterable
from pathlib import Path

from shallowformer.verify.claims import parse

#: A fresh measurement may differ from the stored one by this much (absolutely below 1, relatively above): other machines
#: round differently, and a search then ends at a slightly different point. Errors of identities are rounding noise
#: altogether, and are held against their tolerances by the check itself; how many restarts arrive is up to rounding, too.
TOLERANCE = 1e-3

#: Powers below the first hang on how far a search got, and those below ``TOLERANCE`` are alike; those of values are rounding alone.
SMALL, ROUNDING = 1e-2, 1e-9

#: Kind of a check that is about a hypothesis; the book's stand apart, as they may be far from their statements (``controls``).
CONTROL = "control"

#: Fields of an entry that a fresh run must reproduce exactly.
EXACT = (
    "paper",
    "number",
    "variant",
    "origin",
    "kind",
    "expectation",
    "verdict",
    "support",
    "chapter",
    "budget",
    "because",
    "finding",
)


def gather(verdicts: Iterable[tuple[str, dict]], own: bool = False) -> list[dict]:
    """Make the ledger of the verdicts that chapters emitted: one entry a claim, sorted by id, further checks of it under ``parts``.

    Args:
        verdicts: pairs of a chapter's path and ``Verdict.entry()``.
        own: whether readers' own claims are kept.
    """
    entries: dict[str, dict] = {}
    parts: dict[str, list[dict]] = {}
    for chapter, verdict in verdicts:
        claim = parse(verdict["claim"])
        if not own if claim.own else verdict["kind"] == CONTROL:
            continue
        entry = _entry(chapter, verdict)
        if claim.part:
            parts.setdefault(claim.label, []).append(entry)
        elif claim.label in entries:
            raise ValueError(
                f"claim {claim.label} is checked twice, in {entries[claim.label]['chapter']} and {chapter}; name a part"
            )
        else:
            entries[claim.label] = entry
    orphans = sorted(set(parts) - set(entries))
    if orphans:
        raise ValueError(
            f"claims {', '.join(orphans)} are checked only in parts; one check must carry the id itself"
        )
    for label, entry in entries.items():
        entry["parts"] = sorted(parts.get(label, []), key=lambda part: part["id"])
        ids = [part["id"] for part in entry["parts"]]
        if len(set(ids)) < len(ids):
            raise ValueError(f"claim {label} has two parts of the same name among {', '.join(ids)}")
    return [entries[label] for label in sorted(entries)]


def controls(verdicts: Iterable[tuple[str, dict]]) -> list[dict]:
    """What became of hypotheses, of the verdicts that chapters emitted: one entry a control, sorted by id."""
    entries = [
        _entry(chapter, verdict)
        for chapter, verdict in verdicts
        if verdict["kind"] == CONTROL and not parse(verdict["claim"]).own
    ]
    ids = [entry["id"] for entry in entries]
    if len(set(ids)) < len(ids):
        raise ValueError(f"two controls have the same name among {', '.join(sorted(ids))}")
    return sorted(entries, key=lambda entry: entry["id"])


def _entry(chapter: str, verdict: dict) -> dict:
    """What the ledger keeps of a check."""
    claim = parse(verdict["claim"])
    # In alphabetical order: cached outputs come with their keys sorted, those of a fresh run do not.
    measured = {name: _rounded(value, name) for name, value in sorted(verdict["measured"].items())}
    return {
        "id": verdict["claim"],
        "paper": claim.paper,
        "number": claim.number,
        "variant": claim.variant,
        "origin": "reader" if claim.own else claim.origin,
        **{key: verdict[key] for key in ("kind", "expectation", "verdict", "headline", "support", "summary")},
        "measured": measured,
        "budget": dict(sorted(verdict["budget"].items())),
        "notices": verdict["notices"],
        **{key: verdict[key] for key in ("because", "finding")},
        "chapter": chapter,
    }


def read(path: Path) -> list[dict]:
    """Read a ledger. Returns: its entries; none if there is no file yet."""
    if not path.exists():
        return []
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"path must be a ledger, but {path} is not JSON: {error}") from error
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and "id" in entry for entry in entries
    ):
        raise ValueError(f"path must be a ledger, a list of entries with an id; {path} is not")
    return entries


def write(path: Path, entries: list[dict]) -> None:
    """Write a ledger, replacing the file in one step."""
    scratch = path.with_suffix(".tmp")
    scratch.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    scratch.replace(path)


def differences(fresh: list[dict], stored: list[dict]) -> list[str]:
    """Where a fresh ledger departs from the stored one: one line a difference, each naming the claim; empty if the run reproduces it."""
    new, old = _by_id(fresh), _by_id(stored)
    lines = [f"{claim}: checked, but not in the ledger" for claim in sorted(set(new) - set(old))]
    lines += [f"{claim}: in the ledger, but not checked" for claim in sorted(set(old) - set(new))]
    for claim in sorted(set(new) & set(old)):
        for key in EXACT:
            if new[claim].get(key) != old[claim].get(key):
                lines.append(
                    f"{claim}: {key} is {new[claim].get(key)!r}, the ledger says {old[claim].get(key)!r}"
                )
        measured, recorded = new[claim]["measured"], old[claim]["measured"]
        for name in sorted(set(measured) | set(recorded)):
            if not _close(measured.get(name), recorded.get(name), name):
                lines.append(
                    f"{claim}: {name} is {measured.get(name)!r}, the ledger says {recorded.get(name)!r}"
                )
        if not _same_power(new[claim].get("notices"), old[claim].get("notices")):
            lines.append(
                f"{claim}: notices is {new[claim].get('notices')!r}, the ledger says {old[claim].get('notices')!r}"
            )
    return lines


def _same_power(new: dict | None, old: dict | None) -> bool:
    """The same kind of change, and as small a one: as a measurement, or, if small or of a value, within a factor of 2, or both next to nothing."""
    if (
        not (new and old)
        or new.keys() != old.keys()
        or any(new.get(name) != old.get(name) for name in ("what", "side"))
    ):
        return new == old
    value = new["what"] == "value"
    return all(
        _near(
            float(new[name]), float(old[name]), ROUNDING if value else TOLERANCE, math.inf if value else SMALL
        )
        for name in ("change", "pinned")
        if name in new
    )


def _near(a: float, b: float, nothing: float, small: float) -> bool:
    low, high = sorted((a, b))
    if low == high or high <= nothing:
        return True
    return high <= 2 * low if low < small else high - low <= TOLERANCE * max(1.0, low)


def _by_id(entries: list[dict]) -> dict[str, dict]:
    return {item["id"]: item for entry in entries for item in (entry, *entry.get("parts", ()))}


def _close(new: object, old: object, name: str) -> bool:
    if isinstance(new, list) and isinstance(old, list):
        return len(new) == len(old) and all(_close(a, b, name) for a, b in zip(new, old, strict=True))
    if isinstance(new, (int, float)) and isinstance(old, (int, float)):
        if name.startswith("tolerance"):
            return new == old
        return "error" in name or name == "arrived" or abs(new - old) <= TOLERANCE * max(1.0, abs(old))
    return new == old


def _rounded(value: object, name: str) -> object:
    """Seven digits of a measurement, one of a rounding error: a ledger that changes only when something did."""
    if isinstance(value, list):
        return [_rounded(item, name) for item in value]
    if not isinstance(value, float) or not math.isfinite(value):
        return value if not isinstance(value, float) else str(value)
    return float(f"{value:.1g}" if "error" in name else f"{value:.7g}")
