"""A book of three pages with the real settings, extension and package: for what must be broken, or is not in the book."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from bookext.chapters import ROOT

#: What the small book has of the real one.
TAKEN = ("_config.yml", "CITATION.cff", "requirements.txt", "lib", "book/_ext", "book/_static", "book/_templates", "book/references.bib")  # fmt: skip
TEMPLATE = "book/kernel_regime/from_template"

TOC = f"format: jb-book\nroot: book/index\nchapters:\n  - file: book/kernel_regime/recorded\n  - file: {TEMPLATE}\n"
INDEX = "# A small book\n\n```{scoreboard}\n```\n\n```{bibliography}\n```\n"
#: The statement that the template refers to, with a check that the ledger records.
RECORDED = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  name: python3
  display_name: Python 3
  language: python
---

# A recorded statement

:::{prf:property} Fact 3, sharp: two weights
:label: kr-fact-3-sharp
:nonumber:

The product of two softmax weights is at most $1/4$.
:::

```{code-cell} ipython3
import torch

from shallowformer import verify

_ = verify.inequality(
    "kr-fact-3-sharp",
    lambda z: torch.softmax(z, -1).prod(-1),
    0.25,
    over=verify.product(z=verify.logits(2)),
    expect="tight",
    because="a product of 2 terms",
)
```
"""


class SmallBook:
    """The small book in a folder.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.site = root, root / "_build/html"
        for name in TAKEN:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            copy(ROOT / name, root / name)
        self.write("_toc.yml", TOC)
        self.write("book/index.md", INDEX)
        self.write("book/kernel_regime/recorded.md", RECORDED)
        self.write(f"{TEMPLATE}.md", (ROOT / "book/_template.md").read_text(encoding="utf-8"))
        self.write("results/ledger.json", "[]\n")

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def python(self, *arguments: str) -> subprocess.CompletedProcess:
        """Run one of the extension's commands on this book, with a cache of its own."""
        path = os.pathsep.join([str(self.root / "book/_ext"), str(self.root / "lib")])
        environment = {**os.environ, "PYTHONPATH": path, "SHALLOWFORMER_CACHE": str(self.root / "cache")}
        return subprocess.run([sys.executable, *arguments], cwd=self.root, env=environment, capture_output=True, text=True)  # fmt: skip

    def execute(self, *options: str) -> subprocess.CompletedProcess:
        return self.python("-m", "bookext.execute", "--jobs", "2", *options)

    def build(self) -> subprocess.CompletedProcess:
        return self.python("-m", "bookext.build")
