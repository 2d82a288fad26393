"""Command line of the course."""

import argparse
import sys
from pathlib import Path

from bookext.course import __doc__ as about
from bookext.course import assign, master
from bookext.markup import MarkupError


def make(options: argparse.Namespace) -> None:
    """Make assignments: those named, or all."""
    names = options.assignments or sorted(path.stem for path in master.SOURCES.glob("*.md"))
    if not names:
        raise FileNotFoundError(f"no assignments in {master.SOURCES}")
    if not options.assignments:  # none that has another name now stays behind
        for path in (options.out / "student").glob("*.ipynb"):
            path.unlink()
    folders = []
    for name in names:
        folders.append(assign.make(master.find(name), options.out, options.label))
        print(folders[-1], flush=True)
        if (whole := assign.points(folders[-1])) != 100:
            print(f"{folders[-1].name}: {whole:g} points in all")
    print(assign.pack_students(options.out))
    if not options.assignments:
        decks(options)
    if options.check:
        from bookext.course import check

        troubles = [trouble for folder in folders for trouble in check.troubles(folder)]
        if troubles:
            raise MarkupError("\n".join(troubles))
        print("the solutions score everything, here and with otter")


def decks(options: argparse.Namespace) -> None:
    """Make the decks of the weeks, and the pack of figures."""
    from bookext.course import decks, pictures

    found = pictures.pack(options.out / "figures")
    if not found:
        print("no figures: they are those of the site, and 'make book' builds it")
    print(*decks.build(options.out / "decks"), sep="\n")


def grade(options: argparse.Namespace) -> None:
    """Grade a folder of notebooks."""
    from bookext.course import grading, points
    from bookext.course.process import Limits, Nursery

    folder = _folder(options)
    found = sorted(
        path for path in options.submissions.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts
    )
    if not found:
        raise FileNotFoundError(f"no notebooks below {options.submissions}")
    limits = Limits(cell=options.cell_seconds, call=options.call_seconds)
    marks = []
    with Nursery((options.out_folder, options.submissions)) as nursery:
        for path in found:
            name = path.relative_to(options.submissions).with_suffix("").as_posix()
            marks.append(grading.grade(folder, path, nursery, name, limits))
            print(f"{name}: {sum(marks[-1].points.values()):g}", *marks[-1].remarks, sep="\n  ", flush=True)
    for name in points.write(folder, marks, options.out):
        print(f"{name}: kept as it stood in the table; there is no such notebook now")
    print(options.out)


def total(options: argparse.Namespace) -> None:
    """Add up a table."""
    from bookext.course import points

    troubles = points.total(_folder(options), options.table)
    print(*troubles, options.table, sep="\n")


def _folder(options: argparse.Namespace) -> Path:
    """The instructor's folder of an assignment."""
    # a path to a source is as good as its name
    folder = options.out_folder / "instructor" / Path(options.assignment).stem
    if not (folder / "questions.json").exists():
        raise FileNotFoundError(f"{folder} is not there: 'make course' makes it")
    return folder


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="bookext.course", description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = top.add_subparsers(required=True)
    making = commands.add_parser("make", help="write students' notebooks and the instructor's folder")
    making.set_defaults(run=make)
    making.add_argument("assignments", nargs="*", help="for example ps1, or a path to a source; without: all")
    making.add_argument("--class", dest="label", help="a number or a word; the parameters follow from it")
    making.add_argument("--out", type=Path, default=assign.OUT)
    making.add_argument("--check", action="store_true", help="run the solutions against the tests")
    showing = commands.add_parser("decks", help="write a deck of slides a week, and the figures as files")
    showing.set_defaults(run=decks)
    showing.add_argument("--out", type=Path, default=assign.OUT)
    named = argparse.ArgumentParser(add_help=False)
    named.add_argument("assignment", help="for example ps1")
    named.add_argument(
        "--course", dest="out_folder", type=Path, default=assign.OUT, help="where 'make' wrote"
    )
    grading = commands.add_parser("grade", parents=[named], help="grade a folder of notebooks")
    grading.set_defaults(run=grade)
    grading.add_argument("submissions", type=Path, help="folder; notebooks are taken from its folders, too")
    grading.add_argument("--out", type=Path, default=Path("points.csv"), help="the table")
    grading.add_argument("--cell-seconds", type=float, default=60, help="a cell may take so long")
    grading.add_argument(
        "--call-seconds", type=float, default=10, help="a call of a function may take so long"
    )
    adding = commands.add_parser("total", parents=[named], help="add up, after points by hand were filled in")
    adding.set_defaults(run=total)
    adding.add_argument("table", type=Path, help="what 'grade' wrote")
    return top


if __name__ == "__main__":
    options = parser().parse_args()
    try:
        options.run(options)
    except (MarkupError, FileNotFoundError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
