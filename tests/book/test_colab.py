"""A generated notebook runs as in Colab: a fresh environment without the package, an empty folder, the first cell installs.

The environment is made of hard links to what is installed here, so it costs a second and downloads nothing; the notebook's
own ``%pip install`` is left to do the rest, from a copy of this repository. One notebook by default; all of them with
``make test-all``.
"""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

import nbformat
import pytest
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from packaging.requirements import Requirement

from bookext.chapters import ROOT, chapters
from bookext.notebooks import convert, data_packages

#: What Colab brings, as far as the book needs it; and pip, as in every environment.
COLAB = ("torch", "numpy", "matplotlib", "seaborn", "ipykernel", "pip")
#: What it does not bring.
OURS = ("shallowformer", "scipy", "bookext", "sphinx", "myst_nb", "jupytext")
#: The notebook of the default run: it is done first, and has a figure and a verdict.
QUICKEST = "index"


def closure(names: tuple[str, ...]) -> dict[str, importlib.metadata.Distribution]:
    """Installed distributions of these names, and all that they need."""
    found, waiting = {}, list(names)
    while waiting:
        distribution = importlib.metadata.distribution(waiting.pop())
        name = distribution.metadata["Name"].lower()
        if name not in found:
            found[name] = distribution
            needed = map(Requirement, distribution.requires or ())
            waiting += [r.name for r in needed if not r.marker or r.marker.evaluate({"extra": ""})]
    return found


def link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copyfile(source, target)


def environment(folder: Path) -> Path:
    """Python of a fresh environment."""
    venv.create(folder, with_pip=False)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    # What a chapter installs without what it needs in turn is there: nothing is downloaded.
    data = [importlib.metadata.distribution(pin.split("==")[0]) for pin in data_packages()]
    for distribution in [*closure(COLAB).values(), *data]:
        home = Path(distribution.locate_file("")).resolve()
        for file in distribution.files:
            source = Path(distribution.locate_file(file)).resolve()
            if source.is_relative_to(home) and source.exists():
                target = packages / source.relative_to(home)
                target.parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(source, target)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


@pytest.fixture(scope="module")
def untouched():
    """Environments into which nothing was installed: thousands of files that need not be made again."""
    kept: list[Path] = []
    yield kept
    for python in kept:
        shutil.rmtree(python.parents[1])


@pytest.fixture
def colab(untouched, tmp_path_factory):
    """Python of a fresh environment."""
    python = untouched.pop() if untouched else environment(tmp_path_factory.mktemp("env"))
    yield python
    if importable(python, *OURS):
        shutil.rmtree(python.parents[1])
    else:
        untouched.append(python)


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A copy of what the package is built from, so that building leaves nothing in the repository."""
    copy = tmp_path / "source"
    for folder in ("lib", "book/companion"):
        shutil.copytree(
            ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__")
        )
    shutil.copytree(ROOT / "results", copy / "results")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    monkeypatch.setenv("SHALLOWFORMER_SOURCE", str(copy))
    return copy


@pytest.fixture
def notebook(request, source):
    """The notebook of a chapter."""
    return convert(request.param)


def outside() -> dict[str, str]:
    """The environment variables of this process, less what leads Python to this environment's packages."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "MPL"))}  # fmt: skip
    return kept | {"PYTHONNOUSERSITE": "1"}


def importable(python: Path, *names: str) -> list[str]:
    code = "import importlib.util, sys; print(*(n for n in sys.argv[1:] if importlib.util.find_spec(n)))"
    run = subprocess.run([python, "-c", code, *names], env=outside(), capture_output=True, text=True, check=True)  # fmt: skip
    return run.stdout.split()


def run(notebook: nbformat.NotebookNode, python: Path, folder: Path) -> None:
    """Execute a notebook in place, by a kernel of that Python, in that folder."""
    spec = folder.parent / "kernels" / "colab"
    spec.mkdir(parents=True)
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"]
    (spec / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "Colab", "language": "python"}))  # fmt: skip
    manager = KernelManager(
        kernel_name="colab", kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(spec.parent)])
    )
    client = NotebookClient(notebook, km=manager, timeout=600, resources={"metadata": {"path": str(folder)}})
    client.execute(env=outside())


@pytest.mark.parametrize("notebook", [pytest.param(chapters()[-1], id="any")], indirect=True)
def test_an_installation_that_fails_says_what_to_do(notebook, colab, source, tmp_path):
    shutil.rmtree(source)
    notebook.cells = notebook.cells[:1]
    folder = tmp_path / "content"
    folder.mkdir()
    with pytest.raises(Exception, match=r"could not be installed(.|\n)*pip install"):
        run(notebook, colab, folder)


@pytest.mark.parametrize(
    "notebook",
    [pytest.param(path, id=path.stem, marks=[] if path.stem == QUICKEST else [pytest.mark.thorough]) for path in chapters()],
    indirect=True,
)  # fmt: skip
def test_a_notebook_runs_where_only_its_first_cell_installs_the_package(notebook, colab, tmp_path):
    assert importable(colab, *OURS, "torch", "matplotlib") == ["torch", "matplotlib"]
    folder = tmp_path / "content"
    folder.mkdir()
    run(notebook, colab, folder)
    assert importable(colab, *OURS) == ["shallowformer", "scipy"]
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not any(output.output_type == "error" for output in outputs)
    shown = [output.data for output in outputs if "data" in output]
    assert "verify." not in str(notebook) or any("verdict" in data.get("text/html", "") for data in shown)
    assert "plt.show()" not in str(notebook) or any("image/png" in d or "image/svg+xml" in d for d in shown)
    assert list(folder.iterdir()) == []


@pytest.mark.thorough
@pytest.mark.parametrize("path", [next(path for path in chapters() if path.stem == "gradients")])
def test_a_student_s_wrong_answers_are_answered_a_hint_at_a_time(path, source, colab, tmp_path):
    """The student's notebook of a chapter, without the cells between its imports and its exercises."""
    whole = convert(path, student=True)
    imports = next(cell for cell in whole.cells if "as exercises" in cell.source)
    stubs = [cell for cell in whole.cells if "exercises.check_" in cell.source]
    answers = (
        "def token_gradient(X, q, U, W):\n    alpha = torch.softmax(X @ W @ q, 0)\n"
        "    return (1 - torch.tanh(alpha @ X @ U) ** 2) * torch.outer(alpha, U)",
        "from companion.exercises.kernel_regime.gradients import _query_gradient as query_gradient",
        "limit = 1 / 8",
    )
    whole.cells = [whole.cells[0], imports, *stubs]
    for stub, answer in zip(stubs, answers, strict=True):
        call = next(line for line in stub.source.splitlines() if line.startswith("exercises.check_"))
        stub.source = f"{answer}\nfeedback = {call}\nprint(feedback.told)\nfeedback"
    folder = tmp_path / "content"
    folder.mkdir()
    run(whole, colab, folder)
    told = [cell.outputs[0].text for cell in stubs]
    shown = [cell.outputs[1].data["text/html"] for cell in stubs]
    assert told[0].startswith("T = 2, d = 2: off by ")
    assert "also changes its logit" in told[0].splitlines()[1]
    assert told[0].splitlines()[2] == "case by case."
    assert "_query_gradient is the package's function: write your own" in told[1]
    assert "softmax tilts the tokens" in told[2].splitlines()[1]
    assert [page.count("<summary>Next hint</summary>") for page in shown] == [2, 0, 2]
