"""Which version of the book this is, and of which day: the package says the first, the commit or CITATION.cff the second."""

import datetime
import os
import subprocess

from bookext.chapters import ROOT
from shallowformer import __version__ as VERSION

__all__ = ["VERSION", "day", "moment"]


def moment() -> int:
    """When what is here was committed, in seconds since 1970: all files of a release are of that time.

    The environment variable ``SOURCE_DATE_EPOCH`` overrides it. Where git knows nothing, it is 1980, as early as a zip file can say.
    """
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    asked = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return int(asked.stdout) if asked.returncode == 0 and asked.stdout.strip() else 315532800


def day() -> str:
    """The day of ``moment``, for example ``2026-11-20``."""
    return datetime.datetime.fromtimestamp(moment(), datetime.UTC).date().isoformat()
