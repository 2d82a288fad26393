"""Command line: print the built site as one PDF."""

import argparse
import sys
import time
from pathlib import Path

from bookext import address, version
from bookext.chapters import ROOT, Leaf, leaves
from bookext.pdf import joining, links
from bookext.pdf.front import Book, front
from bookext.pdf.printing import chromium, pressing, print_html, print_leaf, serving


def book() -> Book:
    """What the title page says: from CITATION.cff, the package and the repository."""
    authors = ", ".join(author["name"] for author in version.cited()["authors"])
    return Book(version.cited()["title"], authors, version.VERSION, version.day(), address.site())


def chosen(pages: list[str] | None) -> list[Leaf]:
    """The pages that are asked for by their docnames, or all, in reading order."""
    if unknown := sorted(set(pages or ()) - {leaf.page for leaf in leaves()}):
        raise ValueError(f"pages must be in _toc.yml, for example book/tour; got {', '.join(unknown)}")
    return [leaf for leaf in leaves() if pages is None or leaf.page in pages]


def make(target: Path, site: Path, pages: list[str] | None = None) -> list[str]:
    """Print the site, or some pages of it. Returns: what went wrong, a line each."""
    wanted = chosen(pages)
    if not (executable := chromium()):
        raise RuntimeError("no Chromium")
    about, places = book(), links.places(site, [leaf.page for leaf in wanted])
    printed, firsts, first = [], [], 1
    with serving(site) as home, pressing(executable) as context:
        for leaf in wanted:
            each = print_leaf(context, home, leaf, places[leaf.page], first)
            printed.append(each)
            firsts.append(first)
            first += joining.length(each.pdf)
            print(f"{leaf.page}: {first - firsts[-1]} pages", flush=True)
        opening = print_html(context, front(about, printed, firsts, home))
    joined = joining.join(opening, printed, home, about.site)
    subject = f"Version {about.version}, {about.date}"
    joining.describe(
        joined.writer, about.title, about.authors, subject, f"D:{about.date.replace('-', '')}000000Z"
    )
    joined.writer.compress_identical_objects(remove_duplicates=True, remove_unreferenced=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    joined.writer.write(target)
    return [trouble for each in printed for trouble in each.troubles] + joined.troubles


def main(arguments: list[str] | None = None) -> int:
    """Command line.

    Returns: exit status: 0 also where Chromium is missing, which is said; 1 where the site is, or where something went wrong on the way.
    """
    parser = argparse.ArgumentParser(
        prog="python -m bookext.pdf", description="Print the built site as one PDF."
    )
    parser.add_argument("file", nargs="?", type=Path, default=ROOT / "_build" / "shallowformer.pdf")
    parser.add_argument(
        "--site", type=Path, default=ROOT / "_build" / "html", help="folder of the built site"
    )
    parser.add_argument(
        "--pages", nargs="+", metavar="DOCNAME", help="print these only, for example book/tour"
    )
    options = parser.parse_args(arguments)
    if not chromium():
        print(
            "No PDF: it needs Chromium (apt-get install chromium, or say where it is in the environment variable CHROMIUM)."
        )
        return 0
    if not (options.site / "book/index.html").exists():
        print(f"No PDF: there is no built site in {options.site}; 'make book' builds it.", file=sys.stderr)
        return 1
    began = time.monotonic()
    try:
        troubles = make(options.file, options.site, options.pages)
    except ValueError as error:
        print(f"No PDF: {error}", file=sys.stderr)
        return 1
    for trouble in troubles:
        print(trouble, file=sys.stderr)
    size = options.file.stat().st_size / 1e6
    print(f"The book is in {options.file} ({size:.1f} MB, {time.monotonic() - began:.0f} s)")
    return int(bool(troubles))


if __name__ == "__main__":
    sys.exit(main())
