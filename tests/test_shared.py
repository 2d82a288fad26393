"""The package is what chapters share: what serves one of them stands with the chapters, in ``companion``."""

from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from bookext import closure
from bookext.chapters import chapters, code
from bookext.markup import ROOT

LIBRARY = ROOT / "lib/shallowformer"
#: What is no chapter's: engines and the command line, the door for measured data, and gradient descent on any function, the oracle of closed forms.
ENGINES = ("verify/", "experiments/", "exercises/", "real/", "__main__.py", "training/autograd.py")


def served(chapter: Path) -> frozenset[Path]:
    """What a chapter imports, directly or not."""
    plain = TransformerManager().transform_cell
    return closure.closure(set().union(*(closure.imported(plain(cell)) for cell in code(chapter))))


def test_at_least_two_chapters_use_a_module():
    each = [served(chapter) for chapter in chapters()]
    alone = {
        path.relative_to(LIBRARY).as_posix()
        for path in LIBRARY.rglob("*.py")
        if sum(path in files for files in each) < 2
    }
    assert {name for name in alone if not name.startswith(ENGINES)} == set()
