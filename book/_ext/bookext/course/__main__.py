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
    for name in names:
        folder = assign.make(master.find(name), options.out, options.label)
        print(folder)
    print(assign.pack_students(options.out))


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
    return top


if __name__ == "__main__":
    options = parser().parse_args()
    try:
        options.run(options)
    except (MarkupError, FileNotFoundError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
