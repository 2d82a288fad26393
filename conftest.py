"""How the tests are spread over processes, and in which order."""

from collections import Counter

from xdist.scheduler import LoadScopeScheduling

#: Files whose tests look at the same parsed pages: those of one page stay together.
PARSED = ("test_html.py", "test_site.py", "test_site_notebooks.py", "test_weight.py")


class ByFileAndChapter(LoadScopeScheduling):
    """A file's tests stay together, but checks that are run again, perturbed, stay with those of their chapter only.

    The cells of a notebook share a kernel, and a chapter whose checks are perturbed is first run as a whole; both
    need one process. Their ids begin with the chapter: ``test_…[book/kernel_regime/model:kr-remark-1]``.
    """

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)


def scope(nodeid: str) -> str:
    """What stays in one process."""
    file, _, rest = nodeid.partition("::")
    chapter = rest.partition("[book/")[2].partition(":")[0]
    if chapter and file.endswith(PARSED):
        file = "parsed"
    return f"{file}[{chapter}]" if chapter else file.removesuffix(".md")


def pytest_xdist_make_scheduler(config, log):
    """Use the scheduler above."""
    return ByFileAndChapter(config, log)


def pytest_collection_modifyitems(items):
    """What is long must not begin last: files marked ``first``, then those with many tests."""
    tests = Counter(scope(item.nodeid) for item in items)
    items.sort(key=lambda item: (item.get_closest_marker("first") is None, -tests[scope(item.nodeid)]))
