"""A folder for the traces of rows, known to worker processes too, so that one start of them serves many tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import toys
from joblib.externals.loky import get_reusable_executor

from shallowformer.experiments import sweep


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Path]:
    """The folder; what is started from now on, or imports ``toys``, finds it."""
    folder, here = tmp_path_factory.mktemp("traces"), str(Path(__file__).parent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOY_FOLDER", str(folder))
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")])))
        yield folder
        get_reusable_executor().shutdown(kill_workers=True)  # they know this folder only


@pytest.fixture
def traces(shared) -> Iterator[Path]:
    """The folder, without the traces of other tests."""
    yield shared
    for trace in shared.iterdir():
        trace.unlink()


@pytest.fixture
def swept(tmp_path, traces) -> Path:
    """A folder with the rows of four squares."""
    sweep.run(toys.SQUARES, "laptop", tmp_path)
    return tmp_path
