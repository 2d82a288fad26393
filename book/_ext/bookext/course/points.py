"""The table of points: a row a submission, a column a question."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path

from bookext.course.grading import Marks


def _questions(folder: Path) -> list[dict]:
    return json.loads((folder / "questions.json").read_text("utf-8"))


def read(table: Path) -> dict[str, dict[str, str]]:
    """The rows of a table.

    Args:
        table: path; it need not exist.

    Returns:
        Submission → column → text.
    """
    if not table.exists():
        return {}
    with table.open(newline="", encoding="utf-8") as file:
        return {row["submission"]: row for row in csv.DictReader(file)}


def write(folder: Path, marks: Iterable[Marks], table: Path) -> None:
    """Write the table, and a text of feedback a submission beside it.

    Points by hand that stand in the table already are kept.

    Args:
        folder: the instructor's, of the assignment.
        marks: of the submissions.
        table: path of the CSV.
    """
    questions, before, rows = _questions(folder), read(table), []
    feedback = table.parent / "feedback"
    feedback.mkdir(parents=True, exist_ok=True)
    for each in marks:
        name = _cell(each.submission)
        row = {"submission": name, "remarks": _cell(" | ".join(each.remarks))}
        for question in questions:
            column = question["name"]
            row[column] = (
                before.get(name, {}).get(column, "") if question["manual"] else f"{each.points[column]:g}"
            )
        rows.append(row)
        (feedback / f"{each.submission.replace('/', '-')}.txt").write_text(
            _feedback(questions, each), "utf-8"
        )
    _write(questions, rows, table)


def total(folder: Path, table: Path) -> list[str]:
    """Add up, after points by hand were filled in.

    Args:
        folder: the instructor's, of the assignment.
        table: path of the CSV, which is written again.

    Returns:
        What is missing or impossible, a line each.
    """
    questions, rows = _questions(folder), list(read(table).values())
    troubles = [
        f"{row['submission']}: {question['name']}: {trouble}"
        for row in rows
        for question in questions
        if (trouble := _trouble(row.get(question["name"]) or "", question["points"]))
    ]
    _write(questions, rows, table)
    return troubles


def _trouble(text: str, most: float) -> str:
    try:
        points = float(text)
    except ValueError:
        return f"{text!r} is no number" if text else "no points yet"
    return "" if 0 <= points <= most else f"{points:g} points of {most:g}"


def _write(questions: list[dict], rows: list[dict], table: Path) -> None:
    """The sum stands there once every question has its points."""
    columns = [question["name"] for question in questions]
    automatic = [question["name"] for question in questions if not question["manual"]]
    for row in rows:
        row["automatic"] = f"{round(sum(float(row[name]) for name in automatic), 4):g}"
        done = not any(_trouble(row.get(each["name"]) or "", each["points"]) for each in questions)
        row["total"] = f"{round(sum(float(row[name]) for name in columns), 4):g}" if done else ""
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
