"""Write every chapter as a notebook that plain Jupyter and Colab can show.

    python -m bookext.notebooks FOLDER [--student]

The site's markup is flattened: statements become bold titles with text, proofs and solutions fold in ``<details>``,
citations read author–year, references are plain text. The first cell installs the package if it is missing.
``--student`` leaves the solutions out.
"""

import argparse
import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from pybtex.database import parse_file

from bookext import address
from bookext.chapters import ROOT, chapters, read_notebook

INSTALL = """\
try:
    import shallowformer
except ImportError:
    %pip install --quiet {source}
    try:
        import shallowformer
    except ImportError:
        raise SystemExit("The package could not be installed. Install it by hand ({source}), restart the kernel, run again.")
"""

_FENCE = re.compile(r"^(?P<fence>:{3,})(?:\{(?P<name>[^}]+)\}\s*(?P<title>.*))?$")


def authors_and_years() -> dict[str, str]:
    """BibTeX key → "Arda, Cayci & Eryilmaz 2026"."""
    entries = parse_file(str(ROOT / "book/references.bib")).entries
    names = {
        key: [" ".join(person.last_names) for person in entry.persons["author"]]
        for key, entry in entries.items()
    }
    return {
        key: (", ".join(n[:-1]) + " & " if len(n) > 1 else "") + f"{n[-1]} {entries[key].fields['year']}"
        for key, n in names.items()
    }


def flatten(text: str, equations: dict[str, int], citations: dict[str, str], student: bool = False) -> str:
    """Turn a Markdown cell of a chapter into Markdown that needs no extension.

    Args:
        text: the cell.
        equations: label → number of the chapter's equations so far; new ones are added.
        citations: BibTeX key → author–year.
        student: leave folded solutions out.

    Returns:
        The flattened cell, possibly empty.
    """
    lines: list[str] = []
    closing: list[tuple[str, str]] = []  # the fence that will end a block, and what to write then
    skipped = 0  # depth below a solution that is left out
    at_options = False
    for line in text.splitlines():
        fence = _FENCE.match(line.strip())
        if fence and fence["name"]:
            after = ""
            student_solution = (
                student and fence["name"] == "dropdown" and fence["title"].startswith("Solution")
            )
            if skipped or student_solution:
                skipped += 1
            elif fence["name"] == "dropdown":
                lines += [f"<details><summary>{fence['title']}</summary>", ""]
                after = "\n</details>"
            elif fence["name"] == "prf:proof":
                pass
            elif fence["name"] == "exercise":
                lines += [f"**Exercise. {fence['title']}**", ""]
            else:
                lines += [f"**{fence['title'].strip()}**", ""]
            closing.append((fence["fence"], after))
            at_options = True
        elif fence and closing and fence["fence"] == closing[-1][0]:
            _, after = closing.pop()
            if skipped:
                skipped -= 1
            elif after:
                lines += [after]
        elif at_options and re.match(r"^:[\w-]+:", line.strip()):
            continue
        else:
            at_options = at_options and not line.strip()
            if not skipped:
                lines.append(line)
    return _inline("\n".join(lines), equations, citations).strip()


def _inline(text: str, equations: dict[str, int], citations: dict[str, str]) -> str:
    def tagged(match: re.Match) -> str:
        number = equations.setdefault(match[2], len(equations) + 1)
        return f"$${match[1].rstrip()} \\tag{{{number}}}\n$$"

    def cited(match: re.Match) -> str:
        names = "; ".join(citations[key.strip()] for key in match[2].split(","))
        return f"({names})" if match[1] == "p" else names

    text = re.sub(r"\$\$([^$]+)\$\$ \(([\w-]+)\)", tagged, text)
    text = re.sub(
        r"\{eq\}`([^`]+)`",
        lambda m: f"({equations[m[1]]})" if m[1] in equations else "the model's equation",
        text,
    )
    text = re.sub(r"\{cite:([pt])\}`([^`]+)`", cited, text)
    text = re.sub(r"\{(?:prf:)?(?:num)?ref\}`([^`<]+?)\s*<[^`]*>`", r"\1", text)
    return re.sub(r"\]\(([\w/]+)\.md\)", r"](\1.ipynb)", text)


def convert(path: Path, student: bool = False) -> nbformat.NotebookNode:
    """One chapter as a notebook without outputs; the same bytes on every run.

    Args:
        path: of the chapter.
        student: leave solutions out.

    Returns:
        The notebook.
    """
    citations, equations = authors_and_years(), {}
    cells = [new_code_cell(INSTALL.format(source=address.package()))]
    for cell in read_notebook(path).cells:
        if cell.cell_type == "markdown":
            text = flatten(cell.source, equations, citations, student)
            cells += [new_markdown_cell(text)] if text else []
        elif not (student and "solution" in cell.metadata.get("tags", ())):
            cells.append(new_code_cell(cell.source, metadata={"tags": list(cell.metadata.get("tags", ()))}))
            caption = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", "")
            cells += [new_markdown_cell(f"*{caption}*")] if caption else []
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where to write, with the folders of book/")
    parser.add_argument("--student", action="store_true", help="leave the solutions out")
    options = parser.parse_args()
    for path in chapters():
        target = options.folder / path.relative_to(ROOT / "book").with_suffix(".ipynb")
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(convert(path, options.student), target)
        print(target)


if __name__ == "__main__":
    main()
