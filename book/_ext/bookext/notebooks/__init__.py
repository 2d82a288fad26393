"""Every chapter, with its supplement behind it, as a notebook that plain Jupyter and Colab can show.

    python -m bookext.notebooks FOLDER [--student]

The site's markup is flattened (``markdown``), its references lead to the published site (``references``), its macros are
written out (``macros``). The first cell installs the package if it is missing, as it was when the notebook was made.
``--student`` leaves the solutions out, and has a cell for each argument that an exercise asks for.
"""

import hashlib
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinx.application import Sphinx

from bookext import address, beside, keys
from bookext.chapters import ROOT, chapters, docname, parts, read_notebook
from bookext.markup import MarkupError, directive, directives, parse, settings
from bookext.notebooks.markdown import Flattener, fold
from bookext.said import filled

INSTALL = """\
# @title Run this first: it installs the package where it is missing
try:
    import shallowformer
except ModuleNotFoundError:
    %pip install --quiet {source}
    try:
        import shallowformer
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "The package could not be installed: pip says above why. "
            "Is there a network connection, and Python 3.11 or newer? Mend that and run this cell again, "
            "or install by hand in a terminal and restart the kernel: pip install {source}"
        ) from None"""

#: What a chapter that reads measured data needs besides; files alone are read, so what these packages import is spared.
DATA = "\n%pip install --quiet --no-deps {packages}  # measured data"

#: Tags of code cells that the site folds or leaves out; a notebook folds them all.
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}


#: What a student's notebook says of its exercises.
EXERCISES = (
    "\n\n*Exercises check themselves: hand your function to its check. A wrong answer is told where it fails; open "
    "“Next hint” below it, or ask for* `.hint(2)` *and* `.hint(3)`*, if that is not enough. "
    "[The same notebook with solutions]({url}).*"
)
#: Where a student writes what no check reads.
ARGUMENT = "**{exercise}: your argument.** *Double-click here and write it down.*"


def header(page: str, exercises: bool = False, supplement: bool = False) -> str:
    """What stands under the chapter's title: where the notebook comes from. Returns: Markdown."""
    files = address.files()
    how = EXERCISES.format(url=address.colab(page, solutions=True)) if exercises else ""
    what = "A chapter, with its supplement at the end, of" if supplement else "A chapter of"
    return (
        f"*{what}* [{settings()['title']}]({address.site()})*.* [Read it on the site]({address.page(page)}). "
        f"Code: [MIT]({files}/LICENSE); text and figures: [CC BY 4.0]({files}/LICENSE-CONTENT); "
        f"[how to cite]({files}/CITATION.cff).{how}"
    )


def sections(text: str) -> Iterator[tuple[int, str]]:
    """Cut Markdown before headings and behind folds: an edit changes few cells, and Colab can fold sections. Yields: first line, piece."""
    lines = text.splitlines()
    outer = [token for token in parse(text) if not token.level and token.map]
    headings = {token.map[0] for token in outer if token.type == "heading_open"}
    folds = {token.map[1] for token in outer if (d := directive(token)) and d.name == "dropdown"}
    bounds = sorted({0, len(lines)} | headings | folds)
    for first, end in itertools.pairwise(bounds):
        yield first, "\n".join(lines[first:end])


def code(cell: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A code cell, folded where the site folds it: JupyterLab reads one setting, Colab another and a title."""
    tags = cell.metadata.get("tags", [])
    metadata, source = {"tags": list(tags)} if tags else {}, cell.source
    if FOLDED & set(tags):
        name = "Solution" if "solution" in tags else "Figure" if "mystnb" in cell.metadata else "Code"
        source = f"# @title {name}\n{source}"
        metadata |= {"cellView": "form", "jupyter": {"source_hidden": True}}
    return new_code_cell(source, metadata=metadata)


def caption(cell: nbformat.NotebookNode, flattener: Flattener, line: int) -> str:
    """What stands under the figure of a code cell: number, caption, and its description in a fold; empty without one."""
    settings_ = cell.metadata.get("mystnb", {})
    figure = settings_.get("figure", {})
    if "caption" not in figure:
        return ""
    text = f"**{flattener.targets[figure['name']].text}.** {flattener.line(figure['caption'], line)}"
    described = settings_.get("image", {}).get("alt")
    return f"{text}\n\n{fold('The figure in words', described)}" if described else text


def argued(text: str) -> str:
    """Label of the last exercise in a cell, if it wants an argument (two stars or three); else ""."""
    found = [d for d in directives(text) if d.name == "exercise"]
    return found[-1].options["label"] if found and found[-1].body.lstrip().startswith("★★") else ""


def convert(path: Path, student: bool = False) -> nbformat.NotebookNode:
    """One chapter and its supplement as a notebook without outputs; the same bytes on every run."""
    converted = [cell for page in parts(path) for cell in _converted(page, student)]
    source = INSTALL.format(source=address.package())
    if reads_data(cell.source for cell in converted if cell.cell_type == "code"):
        source += DATA.format(packages=" ".join(data_packages()))
    cells = [new_code_cell(source, metadata={"cellView": "form"}), *converted]
    title, _, rest = cells[1].source.partition("\n")
    exercises = student and any("exercises.check_" in cell.source for cell in cells)
    cells[1].source = f"{title}\n\n{header(docname(path), exercises, len(parts(path)) > 1)}\n{rest}"
    _name(cells)
    return in_python(cells)


def reads_data(cells: Iterable[str]) -> bool:
    """Whether code can read measured data."""
    return any(file.parent == ROOT / "lib/shallowformer/real" for file in keys.modules(cells))


def data_packages() -> list[str]:
    """The packages that hold measured data, with their versions, and what reads them, in any: another may need what is there."""
    lines = (ROOT / "requirements-data.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    return [pin.split("==")[0] if pin.startswith(("safetensors", "tokenizers")) else pin for pin in pins]


def in_python(cells: list[nbformat.NotebookNode]) -> nbformat.NotebookNode:
    """A notebook of cells."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def _converted(path: Path, student: bool) -> list[nbformat.NotebookNode]:
    """The cells of one page."""
    flattener = Flattener(path, student=student)
    notebook = read_notebook(path, fill=lambda text: filled(text, docname(path)))
    cells, waiting = [], ""
    for cell, line in zip(notebook.cells, notebook.metadata["source_map"], strict=True):
        if cell.cell_type == "markdown":
            flat = (flattener.text(piece, line + first) for first, piece in sections(cell.source))
            cells += [new_markdown_cell(text) for text in flat if text]
            waiting = argued(cell.source) if student else ""
        elif cell.cell_type != "code":
            raise MarkupError(f"{path.relative_to(ROOT)}:{line + 1}: notebooks cannot show a raw cell")
        elif not (student and "solution" in cell.metadata.get("tags", ())):
            under = caption(cell, flattener, line)
            cells += [code(cell), *([new_markdown_cell(under)] if under else [])]
            if waiting:
                cells.append(new_markdown_cell(ARGUMENT.format(exercise=flattener.targets[waiting].text)))
                waiting = ""
    return cells


def _name(cells: list[nbformat.NotebookNode]) -> None:
    """Give each cell an id made from its text (and how often it stood before): an edit changes one id."""
    seen: dict[str, int] = {}
    for cell in cells:
        count = seen[cell.source] = seen.get(cell.source, 0) + 1
        cell["id"] = hashlib.sha256(f"{count} {cell.cell_type} {cell.source}".encode()).hexdigest()[:12]


def write(folder: Path, student: bool = False) -> list[Path]:
    """Write all notebooks, where ``address.notebook`` says. Returns: their paths."""
    written = []
    for path in chapters():
        target = folder / address.notebook(docname(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(convert(path, student), target)
        written.append(target)
    return written


def write_all(folder: Path) -> None:
    """Write all notebooks twice: without solutions, and with them in a folder of their own."""
    write(folder, student=True)
    write(folder / address.SOLUTIONS)


class BesideThePages:
    """The site serves its own notebooks; they are written while Sphinx reads and writes pages."""

    def begin(self, app: Sphinx) -> None:
        """Handle Sphinx's ``builder-inited``."""
        html = app.builder.format == "html"
        self.begun = beside.begin(write_all, Path(app.outdir) / "notebooks") if html else None

    def end(self, app: Sphinx, exception: Exception | None) -> None:
        """Handle Sphinx's ``build-finished``."""
        if self.begun and not exception:
            self.begun.result()
