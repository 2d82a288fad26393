"""Which version of the book this is, and of which day: the package says the first, the commit or CITATION.cff the second."""

import datetime
import functools
import os

import yaml

from bookext.address import git
from bookext.markup import ROOT
from shallowformer import __version__ as VERSION

__all__ = ["VERSION", "cited", "day", "moment"]


def moment() -> int:
    """When what is here was committed, in seconds since 1970: all files of a release are of that time.

    The environment variable ``SOURCE_DATE_EPOCH`` overrides it. Where git knows nothing, it is 1980, as early as a zip file can say.
    """
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    return int(git("log", "-1", "--format=%ct") or 315532800)


def day() -> str:
    """The day of ``moment``, for example ``2026-11-20``."""
    return datetime.datetime.fromtimestamp(moment(), datetime.UTC).date().isoformat()


@functools.cache
def cited() -> dict:
    """How to cite the book: what CITATION.cff says."""
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
