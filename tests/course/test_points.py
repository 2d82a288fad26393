"""The table: a row a submission, points by hand are kept, the sum stands there when all is marked."""

import csv

import pytest

from bookext.course import points
from bookext.course.grading import Marks
from bookext.markup import MarkupError


@pytest.fixture
def folder(course):
    return course / "instructor/fixture"


@pytest.fixture
def table(folder, tmp_path):
    marks = [
        Marks("a/ada", {"q1": 30, "q2": 20}, [], {"q1": "all passed"}),
        Marks("=1+1", {"q1": 10.5, "q2": 0}, ["q2: 0, as it looped", "=HYPERLINK(1)"]),
    ]
    points.write(folder, marks, tmp_path / "out/points.csv")
    return tmp_path / "out/points.csv"


def rows(table):
    return list(csv.DictReader(table.open(newline="", encoding="utf-8")))


def fill(table, name, value):
    text = table.read_text("utf-8").splitlines()
    text = [line.replace(",,", f",{value},", 1) if line.startswith(name) else line for line in text]
    table.write_text("\n".join(text) + "\n", "utf-8")


def test_columns(table):
    ada, other = rows(table)
    assert list(ada) == ["submission", "q1", "q2", "q3", "automatic", "total", "remarks"]
    assert (ada["q1"], ada["q2"], ada["q3"], ada["automatic"], ada["total"]) == ("30", "20", "", "50", "")
    assert other["automatic"] == "10.5"
    assert other["remarks"] == "q2: 0, as it looped | =HYPERLINK(1)"


def test_no_cell_is_a_formula(table):
    assert not any(value.startswith(("=", "+", "-", "@")) for row in rows(table) for value in row.values())


def test_totals_after_marking_by_hand(folder, table):
    assert points.total(folder, table) == ["a/ada: q3: no points yet", "'=1+1: q3: no points yet"]
    fill(table, "a/ada", "45.5")
    assert points.total(folder, table) == ["'=1+1: q3: no points yet"]
    assert [row["total"] for row in rows(table)] == ["95.5", ""]


@pytest.mark.parametrize(
    ("value", "trouble"), [("51", "51 points of 50"), ("-1", "-1 points of 50"), ("b+", "'b+' is no number")]
)
def test_impossible_points_are_told_and_not_added(folder, table, value, trouble):
    fill(table, "a/ada", value)
    assert points.total(folder, table)[0] == f"a/ada: q3: {trouble}"
    assert rows(table)[0]["total"] == ""


def test_grading_again_keeps_points_by_hand(folder, table):
    fill(table, "a/ada", "40")
    points.write(folder, [Marks("a/ada", {"q1": 0, "q2": 20})], table)
    ada, _ = rows(table)
    assert (ada["q1"], ada["q3"], ada["total"]) == ("0", "40", "60")


def test_grading_late_submissions_alone_keeps_the_others(folder, table):
    fill(table, "a/ada", "40")
    kept = points.write(folder, [Marks("late", {"q1": 30, "q2": 10})], table)
    assert kept == ["a/ada", "'=1+1"]
    assert [(row["submission"], row["q3"], row["total"]) for row in rows(table)] == [
        ("a/ada", "40", "90"),
        ("'=1+1", "", ""),
        ("late", "", ""),
    ]


def test_a_table_that_a_spreadsheet_saved_is_read(folder, table):
    fill(table, "a/ada", "45.5")
    text = table.read_text("utf-8").replace(",", ";").replace("45.5", "45,5").replace("\n", "\r\n")
    table.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert points.total(folder, table) == ["'=1+1: q3: no points yet"]
    assert [row["total"] for row in rows(table)] == ["95.5", ""]


@pytest.mark.parametrize("content", [b"name,q1\nada,3\n", b"submission,q1\nm\xfcller,3\n"])
def test_what_is_no_table_is_refused_and_left_alone(content, folder, table):
    table.write_bytes(content)
    with pytest.raises(MarkupError):
        points.total(folder, table)
    assert table.read_bytes() == content


def test_an_emptied_cell_of_a_test_is_told(folder, table):
    table.write_text(table.read_text("utf-8").replace("a/ada,30,", "a/ada,,"), "utf-8")
    assert points.total(folder, table)[0] == "a/ada: q1: no points yet"
    assert rows(table)[0]["automatic"] == ""


def test_a_table_that_is_not_there_is_not_made(folder, tmp_path):
    with pytest.raises(FileNotFoundError):
        points.total(folder, tmp_path / "other.csv")
    assert not (tmp_path / "other.csv").exists()


def test_feedback_stands_beside_the_table(table):
    text = (table.parent / "feedback/fixture/a/ada.txt").read_text("utf-8")
    assert "q1 Softmax ★: 30 of 30\nall passed" in text
    assert "q3 A proof: marked by hand, of 50" in text


def test_no_feedback_takes_the_place_of_another(folder, table):
    points.write(folder, [Marks(name, {"q1": 0, "q2": 0}) for name in ("a/ada", "a-ada")], table)
    texts = {path.read_text("utf-8").splitlines()[0] for path in table.parent.glob("feedback/**/*.txt")}
    assert texts == {"a/ada", "a-ada", "=1+1"}
