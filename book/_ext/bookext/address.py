"""Where the book lives: every address of the site, the notebooks and the package is made here.

The repository's address stands in ``_config.yml`` (``repository``). GitHub Actions says its own in the environment
(``GITHUB_SERVER_URL``, ``GITHUB_REPOSITORY``), and that one wins: the buttons of a fork's site lead to the fork.

What is built for a tag leads to that tag and installs it; see ``revision``.
"""

import os
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from bookext.markup import ROOT, settings

#: The branch to which the publishing workflow writes the generated notebooks; those of a tag have a branch of their own.
NOTEBOOKS_BRANCH = "notebooks"
#: Folder of the notebooks with solutions, beside those without, which are the default.
SOLUTIONS = "solutions"


def repository() -> str:
    """Address of the repository, for example ``https://github.com/owner/name``."""
    if name := os.environ.get("GITHUB_REPOSITORY"):
        return f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com').rstrip('/')}/{name}"
    return settings()["repository"]["url"].rstrip("/")


def branch() -> str:
    """The branch that holds the book's sources."""
    return settings()["repository"]["branch"]


def tag() -> str:
    """The tag that is being built, or "": on GitHub the one that the workflow runs for, elsewhere one at this commit."""
    if os.environ.get("GITHUB_REF_TYPE"):
        return os.environ["GITHUB_REF_NAME"] if os.environ["GITHUB_REF_TYPE"] == "tag" else ""
    return git("describe", "--tags", "--exact-match", "HEAD")


def revision() -> str:
    """What is being built, by a name that the repository on GitHub knows.

    Returns: the tag; else on GitHub the commit, and elsewhere, where a commit may not have been pushed, the branch.
    """
    return tag() or (os.environ.get("GITHUB_REF_TYPE") and os.environ.get("GITHUB_SHA")) or branch()


def history() -> str:
    """The commit, and how far back git knows: the days of pages' last changes follow from it."""
    return git("rev-parse", "HEAD", "--is-shallow-repository")


def git(*command: str) -> str:
    """What git says of the book's sources; "" where there is no git, or no answer."""
    try:
        done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _owner_and_name() -> tuple[str, str]:
    owner, name = urlsplit(repository()).path.strip("/").split("/")
    return owner, name


def site() -> str:
    """Address of the published site, with a closing slash: GitHub Pages of the repository."""
    owner, name = _owner_and_name()
    root = f"https://{owner.lower()}.github.io/"
    return root if root == f"https://{name.lower()}/" else f"{root}{name}/"


def page(docname: str) -> str:
    """Address of a page on the published site."""
    return f"{site()}{docname}.html"


def notebook(chapter: str, solutions: bool = False) -> str:
    """Path of a chapter's generated notebook, below the site's folder of notebooks and on the notebooks branch.

    Returns: for example ``kernel_regime/model.ipynb``, with solutions ``solutions/kernel_regime/model.ipynb``.
    """
    path = Path(chapter).relative_to("book").as_posix() + ".ipynb"
    return f"{SOLUTIONS}/{path}" if solutions else path


def notebooks_branch() -> str:
    """The branch that holds the generated notebooks of what is being built: ``notebooks``, or ``notebooks-v1.2.3`` for a tag."""
    return f"{NOTEBOOKS_BRANCH}-{tag()}" if tag() else NOTEBOOKS_BRANCH


def colab(chapter: str, solutions: bool = False) -> str:
    """Address that opens a chapter's generated notebook in Colab."""
    path = "/".join((*_owner_and_name(), "blob", notebooks_branch(), notebook(chapter, solutions)))
    return f"https://colab.research.google.com/github/{path}"


def files() -> str:
    """Address below which the repository shows the files of what is being built: those of its tag, else of the branch."""
    return f"{repository()}/blob/{tag() or branch()}"


def source(page: str) -> str:
    """Address at which the repository shows a page's source."""
    return f"{files()}/{page}.md?plain=1"


def package() -> str:
    """What pip is asked to install in a notebook that lacks the package; ``SHALLOWFORMER_SOURCE`` overrides it."""
    return os.environ.get("SHALLOWFORMER_SOURCE", f"git+{repository()}@{revision()}")
