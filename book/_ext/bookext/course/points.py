"""The table of points: a row a submission, a column a question."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path

from bookext.course.grading import Marks
from bookext.markup import MarkupError


def _questions(folder: Path) -> list[dict]:
    return json.loads((folder / "questions.json").read_text("utf-8"))


def read(table: Path) -> dict[str, dict[str, str]]:
    """The rows of a table, also as spreadsheets save it: with a mark in front, or with semicolons. Returns: submission → column → text."""
    if not table.exists():
        return {}
    try:
        lines = table.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise MarkupError(f"{table} is not UTF-8: save it as such") from None
    first = lines[0] if lines else ""
    rows = csv.DictReader(lines, delimiter=";" if first.count(";") > first.count(",") else ",")
    if lines and "submission" not in (rows.fieldnames or ()):
        raise MarkupError(f"{table}: its first line names no column 'submission'")
    return {row["submission"]: row for row in rows}


def write(folder: Path, marks: Iterable[Marks], table: Path) -> list[str]:
    """Write the table, and a text of feedback a submission beside it.

    Points by hand that stand in the table already are kept, and so are the rows of other submissions.

    Returns: the submissions that stand in the table and are not among these.
    """
    questions, before = _questions(folder), read(table)
    rows, feedback = dict(before), table.parent / "feedback" / folder.name
    graded = set()
    for each in marks:
        name = _cell(each.submission)
        graded.add(name)
        row = {"submission": name, "remarks": _cell(" | ".join(each.remarks))}
        for question in questions:
            column = question["name"]
            row[column] = (
                before.get(name, {}).get(column, "") if question["manual"] else f"{each.points[column]:g}"
            )
        rows[name] = row
        text = feedback / f"{each.submission}.txt"
        text.parent.mkdir(parents=True, exist_ok=True)
        text.write_text(_feedback(questions, each), "utf-8")
    _write(questions, rows.values(), table)
    return [name for name in before if name not in graded]


def total(folder: Path, table: Path) -> list[str]:
    """Add up, after points by hand were filled in. Returns: what is missing or impossible, a line each."""
    if not table.exists():
        raise FileNotFoundError(f"{table} is not there: 'make grade' writes it")
    questions, rows = _questions(folder), list(read(table).values())
    troubles = [
        f"{row['submission']}: {question['name']}: {trouble}"
        for row in rows
        for question in questions
        if (trouble := _trouble(row.get(question["name"]) or "", question["points"]))
    ]
    _write(questions, rows, table)
    return troubles


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _trouble(text: str, most: float) -> str:
    try:
        points = _number(text)
    except ValueError:
        return f"{text!r} is no number" if text else "no points yet"
    return "" if 0 <= points <= most else f"{points:g} points of {most:g}"


def _sum(row: dict[str, str], questions: list[dict]) -> str:
    """The sum, once every question has its points."""
    if any(_trouble(row.get(each["name"]) or "", each["points"]) for each in questions):
        return ""
    return f"{round(sum(_number(row[each['name']]) for each in questions), 4):g}"


def _write(questions: list[dict], rows: Iterable[dict], table: Path) -> None:
    columns = [question["name"] for question in questions]
    for row in rows:
        row["automatic"] = _sum(row, [question for question in questions if not question["manual"]])
        row["total"] = _sum(row, questions)
    table.parent.mkdir(parents=True, exist_ok=True)
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(
            file, ["submission", *columns, "automatic", "total", "remarks"], extrasaction="ignore"
        )
        writer.writeheader()
        writer.writerows(rows)


def _feedback(questions: list[dict], marks: Marks) -> str:
    lines = [f"{marks.submission}", ""]
    for question in questions:
        name, most = question["name"], question["points"]
        heading = f"{name} {question['title']}".strip()
        if question["manual"]:
            lines += [f"{heading}: marked by hand, of {most:g}", ""]
        else:
            lines += [f"{heading}: {marks.points[name]:g} of {most:g}", marks.feedback.get(name, ""), ""]
    return "\n".join([*lines, *(["Remarks", *marks.remarks] if marks.remarks else [])]) + "\n"


def _cell(text: str) -> str:
    """No formula for a spreadsheet."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
