"""Execute one chapter in a kernel of its own, watched, with its mistakes planted at the end."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from bookext import closure, keys, warm
from bookext.chapters import code, read_notebook
from bookext.markup import ROOT
from bookext.records import Record

#: What a chapter may take: gigabytes of memory, and seconds of a cell.
GIGABYTES, PATIENCE = 4, 600


@dataclass(frozen=True)
class Run:
    """What became of a chapter."""

    chapter: str  # its path without suffix, relative to the repository
    record: Record | None  # its execution, or None if it failed
    error: str = ""  # what went wrong, or ""


def run(path: Path, full: bool = False, parent: warm.Parent | None = None) -> Run:
    """Execute a chapter, and its supplement after it.

    Returns: the run; its ``error`` names the claim, the cell's exception, the budget that was overrun, or what was read beside the key.

    Args:
        full: plant its mistakes without early exits.
        parent: to fork its kernel from; by default the kernel starts by itself.
    """
    chapter = path.relative_to(ROOT).with_suffix("").as_posix()
    cells = code(path)
    key = keys.key(chapter, cells, full)
    with tempfile.TemporaryDirectory() as scratch:
        seen, outcomes = Path(scratch, "seen.json"), Path(scratch, "mistakes.json")
        before, after = _around(chapter, full, seen, outcomes)
        copy = nbformat.v4.new_notebook(
            metadata=read_notebook(path).metadata,
            cells=[nbformat.v4.new_code_cell(source) for source in (*before, *cells, *after)],
        )
        if error := _execute(copy, path.parent, parent):
            return Run(chapter, None, error)
        watched = json.loads(seen.read_text(encoding="utf-8"))
        planted = json.loads(outcomes.read_text(encoding="utf-8"))
    if watched["gigabytes"] > GIGABYTES:
        return Run(chapter, None, f"took {watched['gigabytes']:.1f} GB of memory, more than {GIGABYTES}")
    modules = keys.modules(cells)
    read, complaints = keys.unaccounted(watched, modules)
    if complaints:
        return Run(chapter, None, "depends on what its key does not know: it " + "; it ".join(complaints))
    files = modules | keys.mistakes_modules(chapter)
    if changed := keys.changed_since(keys.STARTED, [*files, *(ROOT / place for place in read)]):
        return Run(chapter, None, f"{changed} changed while the chapter ran; run it again")
    record = Record(
        chapter=chapter,
        key=key,
        read={place: keys.state(place) for place in read},
        outputs=[_joined(cell.outputs) for cell in copy.cells[len(before) : len(before) + len(cells)]],
        seconds=watched["seconds"],
        gigabytes=watched["gigabytes"],
        **planted,
    )
    for outputs in record.outputs:
        for output in outputs:
            if output.output_type == "execute_result":
                output.execution_count -= len(before)
    return Run(chapter, record)


def _around(chapter: str, full: bool, seen: Path, outcomes: Path) -> tuple[list[str], list[str]]:
    """Cells that run before the chapter's and after them; they leave no names behind."""
    call = lambda module, what: f"__import__('importlib').import_module('{module}').{what}"
    # Where no program has drawn before, matplotlib first asks another process which fonts there are; figures are drawn in its own.
    before = [
        call("shallowformer.verify.planting", "keep()"),
        call("matplotlib.font_manager", "fontManager"),
        call("bookext.watch", "start()"),
    ]
    plant = f"plant({chapter!r}, {str(closure.PACKAGES['companion'])!r}, {full}, {str(outcomes)!r})"
    return before, [call("bookext.watch", f"report({str(seen)!r})"), call("bookext.planted", plant)]


def _joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Outputs, with text that follows text in one piece: where it was cut depends on how fast the machine is."""
    whole: list[nbformat.NotebookNode] = []
    for output in outputs:
        last = whole[-1] if whole else {}
        if output.output_type == last.get("output_type") == "stream" and output.name == last.name:
            last.text += output.text
        else:
            whole.append(output)
    return whole


def _execute(notebook: nbformat.NotebookNode, folder: Path, parent: warm.Parent | None) -> str:
    """Run all cells; what went wrong, or ""."""
    client = NotebookClient(
        notebook,
        timeout=PATIENCE,
        record_timing=False,
        # A kernel on this machine warns that its local port is not encrypted.
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    )
    if parent:
        manager = client.create_kernel_manager()
        manager.provisioner = warm.Provisioner(warm=parent, kernel_spec=manager.kernel_spec, parent=manager)
    try:
        client.execute()
    except CellExecutionError as failure:
        return f"{failure.ename}: {failure.evalue}"
    except (CellTimeoutError, DeadKernelError, ConnectionError) as failure:
        return str(failure)
    return ""
