"""A folder for the traces of rows, known to worker processes too."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def traces(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "traces"
    folder.mkdir()
    monkeypatch.setenv("TOY_FOLDER", str(folder))
    here = str(Path(__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")])))
    return folder
