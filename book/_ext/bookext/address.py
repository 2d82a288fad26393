"""Where the book lives: every address of the site, the notebooks and the package is made here.

The repository's address stands in ``_config.yml`` (``repository``). GitHub Actions says its own in the environment
(``GITHUB_SERVER_URL``, ``GITHUB_REPOSITORY``), and that one wins: the buttons of a fork's site lead to the fork.
"""

import os
from pathlib import Path
from urllib.parse import urlsplit

from bookext.markup import settings

#: The branch to which the publishing workflow writes the generated notebooks.
NOTEBOOKS_BRANCH = "notebooks"


def _settings() -> dict[str, str]:
    return settings()["repository"]


def repository() -> str:
    """Address of the repository, for example ``https://github.com/owner/name``."""
    if name := os.environ.get("GITHUB_REPOSITORY"):
        return f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com').rstrip('/')}/{name}"
    return _settings()["url"].rstrip("/")


def branch() -> str:
    """The branch that holds the book's sources."""
    return _settings()["branch"]


def _owner_and_name() -> tuple[str, str]:
    owner, name = urlsplit(repository()).path.strip("/").split("/")
    return owner, name


def site() -> str:
    """Address of the published site, with a closing slash: GitHub Pages of the repository."""
    owner, name = _owner_and_name()
    root = f"https://{owner.lower()}.github.io/"
    return root if root == f"https://{name.lower()}/" else f"{root}{name}/"


def page(docname: str) -> str:
    """Address of a page on the published site.

    Args:
        docname: for example ``book/kernel_regime/model``.

    Returns:
        The address.
    """
    return f"{site()}{docname}.html"


def notebook(chapter: str) -> str:
    """Path of a chapter's generated notebook, below the site and on the notebooks branch.

    Args:
        chapter: docname, for example ``book/kernel_regime/model``.

    Returns:
        For example ``kernel_regime/model.ipynb``.
    """
    return Path(chapter).relative_to("book").as_posix() + ".ipynb"


def colab(chapter: str) -> str:
    """Address that opens a chapter's generated notebook in Colab.

    Args:
        chapter: docname.

    Returns:
        The address.
    """
    owner, name = _owner_and_name()
    return (
        f"https://colab.research.google.com/github/{owner}/{name}/blob/{NOTEBOOKS_BRANCH}/{notebook(chapter)}"
    )


def source(page: str) -> str:
    """Address at which the repository shows a page's source.

    Args:
        page: docname.

    Returns:
        The address.
    """
    return f"{repository()}/blob/{branch()}/{page}.md?plain=1"


def package() -> str:
    """What pip is asked to install in a notebook that lacks the package; ``SHALLOWFORMER_SOURCE`` overrides it."""
    return os.environ.get("SHALLOWFORMER_SOURCE", f"git+{repository()}")
