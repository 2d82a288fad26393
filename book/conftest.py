"""Run chapters through nbval, which reads only .ipynb by itself: here chapters are MyST text.

Building the book has executed them all, so the default run takes only the ones that readers write like; the others are
``thorough``.
"""

from pathlib import Path

import nbformat
import pytest
from nbval import plugin as nbval

from bookext.chapters import cells, chapters, read_notebook

#: Chapters of the default run.
SHORT = ("index", "your_own_claim")


class TextNotebook(nbval.IPyNbFile):
    """A chapter, cell by cell."""

    def collect(self):
        """Let nbval read the chapter as the notebook that it is."""
        read, whole = nbformat.read, read_notebook(self.path)
        whole.cells = cells(self.path)
        nbval.nbformat.read = lambda *args, **options: whole
        try:
            for cell in super().collect():
                if self.path.stem not in SHORT:
                    cell.add_marker("thorough")
                yield cell
        finally:
            nbval.nbformat.read = read


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the chapters of the table of contents; those that a run leaves out are not read."""
    wanted = file_path.stem in SHORT or parent.config.option.markexpr != "not thorough"
    if wanted and file_path.suffix == ".md" and file_path in chapters():
        return TextNotebook.from_parent(parent, path=file_path)
    return None
