"""Claims for others to read: the book's ledger or a reader's own verdicts, chosen, and written as lines, Markdown or JSON of one schema."""

import json
from collections.abc import Iterable, Sequence
from importlib.resources import files

from shallowformer.verify import ledger
from shallowformer.verify.verdict import Verdict

#: What a claim can be chosen by, and written as.
FIELDS = ("paper", "kind", "verdict", "support")
FORMATS = ("text", "markdown", "json")


def of(*verdicts: Verdict) -> list[dict]:
    """Entries of verdicts, a reader's own claims included: what the ledger keeps of the book's."""
    return ledger.gather((("", verdict.entry()) for verdict in verdicts), own=True)


def chosen(entries: Iterable[dict], words: str = "", **fields: str | None) -> list[dict]:
    """Entries that have these values in ``FIELDS``, and all words somewhere in id, number, summary, reason or finding."""
    if unknown := sorted(set(fields) - set(FIELDS)):
        raise ValueError(f"fields must be among {', '.join(FIELDS)}, got {', '.join(unknown)}")
    wanted = words.lower().split()
    return [
        entry
        for entry in entries
        if all(value in (None, entry[field]) for field, value in fields.items())
        and all(word in _text(entry) for word in wanted)
    ]


def _text(entry: dict) -> str:
    said = (
        entry.get(key, "") for key in ("id", "number", "variant", "title", "summary", "because", "finding")
    )
    return " ".join(said).lower()


def written(entries: Sequence[dict], format: str = "markdown", title: str = "Claims") -> str:
    """Entries as ``text``, a line each, as a ``markdown`` table, or as ``json``."""
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    if format == "json":
        return json.dumps(list(entries), indent=1, ensure_ascii=False)
    checks = [check for entry in entries for check in (entry, *entry["parts"])]
    if format == "text":
        width = max((len(check["id"]) for check in checks), default=0)
        return "\n".join(
            f"{check['id']:<{width}}  {check['headline']:<12} {check['support']:<15} {check['summary']}"
            for check in checks
        )
    lines = [
        f"# {title}",
        "",
        "| claim | verdict | the statement is | measured | finding |",
        "|---|---|---|---|---|",
    ]
    for check in checks:
        cells = (f"`{check['id']}`", check["headline"], check["support"], check["summary"], check["finding"])
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def schema() -> dict:
    """The JSON schema of what ``written`` gives as ``json``."""
    return json.loads((files("shallowformer.verify") / "ledger.schema.json").read_text(encoding="utf-8"))
