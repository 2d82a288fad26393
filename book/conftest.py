"""Run every chapter through nbval, which reads only .ipynb by itself: here chapters are MyST text."""

from pathlib import Path

import nbformat
import pytest
from nbval import plugin as nbval

from bookext.chapters import chapters, read_notebook


class TextNotebook(nbval.IPyNbFile):
    """A chapter, collected cell by cell."""

    def collect(self):
        """Let nbval read the chapter as the notebook that it is."""
        read = nbformat.read
        nbval.nbformat.read = lambda *args, **options: read_notebook(self.path)
        try:
            yield from super().collect()
        finally:
            nbval.nbformat.read = read


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the chapters of the table of contents."""
    if file_path.suffix == ".md" and file_path in chapters():
        return TextNotebook.from_parent(parent, path=file_path)
    return None
