"""A tiny assignment, made once, and processes to grade it with."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from submissions import FIXTURE

from checks import unchecked


@pytest.fixture(autouse=True)
def as_an_instructor() -> Iterator[None]:
    """Signatures are not checked where notebooks are graded."""
    with unchecked():
        yield


@pytest.fixture(scope="session")
def course(tmp_path_factory) -> Path:
    """What ``make`` writes of the fixture."""
    from bookext.course import assign

    out = tmp_path_factory.mktemp("course")
    assign.make(FIXTURE, out)
    assign.pack_students(out)
    return out


@pytest.fixture(scope="module")
def nursery(course):
    """Where students' processes come from."""
    from bookext.course.process import Nursery

    with Nursery((course,)) as started:
        yield started
