"""Work beside Sphinx, which keeps one core busy: another process does what needs no page to be written.

What has begun is finished even if the build fails, and what goes wrong there is told when its result is asked for.
"""

import functools
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor


@functools.cache
def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1)


def begin(function: Callable, *arguments: object) -> Future:
    """Begin a piece of work, a function at the top of a module. Returns: what will hold its result."""
    return _process().submit(function, *arguments)
