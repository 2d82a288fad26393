"""A folder for the traces of rows, known to worker processes too."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor


@pytest.fixture
def traces(tmp_path, monkeypatch) -> Iterator[Path]:
    folder = tmp_path / "traces"
    folder.mkdir()
    monkeypatch.setenv("TOY_FOLDER", str(folder))
    here = str(Path(__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")])))
    yield folder
    get_reusable_executor().shutdown(kill_workers=True)  # its processes know this folder only
