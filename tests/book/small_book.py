"""A book of few pages with the real settings, extension and package: for what must be broken, or is not in the book."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from bookext.chapters import ROOT

#: What the small book has of the real one.
TAKEN = ("_config.yml", "CITATION.cff", "requirements.txt", "lib", "book/companion", "book/_ext", "book/_static", "book/_templates", "book/errata.yml", "book/provenance.yml", "book/references.bib")  # fmt: skip
TEMPLATE = "book/kernel_regime/from_template"

TOC = f"""format: jb-book
root: book/index
chapters:
  - file: book/kernel_regime/recorded
    sections:
      - file: book/kernel_regime/recorded_supplement
  - file: {TEMPLATE}
  - file: book/words
  - file: book/map
"""
INDEX = "# A small book\n\n```{scoreboard}\n```\n\n```{bibliography}\n```\n"
#: What a chapter begins with.
NOTEBOOK = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  name: python3
  display_name: Python 3
  language: python
---
"""
#: The statement that the template refers to, with a check that the ledger records.
RECORDED = (
    NOTEBOOK
    + """
# A recorded statement

:::{prf:property} Fact 3, sharp: two weights
:label: kr-fact-3-sharp
:nonumber:

The product of two softmax weights is at most $1/4$.
:::

```{code-cell} ipython3
import torch

from shallowformer import verify
from shallowformer.said import say

verdict = verify.inequality(
    "kr-fact-3-sharp",
    lambda z: torch.softmax(z, -1).prod(-1),
    0.25,
    over=verify.product(z=verify.logits(2)),
    expect="tight",
    because="a product of 2 terms",
)
say(".2f", product=0.25, shares=[0.126, 0.874])
```
"""
)
#: A figure and a source.
SUPPLEMENT = """
# Supplement to “A recorded statement”

The zebra of {numref}`fig-line`, by {cite:t}`arda2026`, of $x={{ product|tex }}$.

```{code-cell} ipython3
---
mystnb:
  image:
    alt: "A line of {{ product }}."
  figure:
    caption: "A line, at {{ shares[0] }}."
    name: fig-line
tags: [hide-input]
---
import matplotlib.pyplot as plt

_ = plt.plot([0, 1])
```
"""
#: A page without code: a statement that uses another, with a formula and an exercise that are referred to.
WORDS = """
# Words

A gnu of {{ kernel_regime/recorded.shares }}. See {numref}`Exercise {number} <ex-words>` and {eq}`eq-words`.

:::{prf:lemma} Words
:label: my-words

They are equal:

$$
x = y
$$ (eq-words)
:::

:::{prf:proof}
By {prf:ref}`Fact 3 <kr-fact-3-sharp>`.
:::

:::{exercise} A word
:label: ex-words

Say it.
:::
"""
MAP = "# Map\n\n```{map-of-results}\n```\n\n```{errata} kernel_regime\n```\n"


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
        self.write("book/kernel_regime/recorded_supplement.md", NOTEBOOK + SUPPLEMENT)
        self.write("book/words.md", WORDS)
        self.write("book/map.md", MAP)
        self.write(f"{TEMPLATE}.md", (ROOT / "book/_template.md").read_text(encoding="utf-8"))
        self.write("results/ledger.json", "[]\n")

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    @property
    def environment(self) -> dict[str, str]:
        """Of the extension's commands on this book, with a cache of its own."""
        path = os.pathsep.join(
            [str(self.root / "book/_ext"), str(self.root / "lib"), str(self.root / "book")]
        )
        return {**os.environ, "PYTHONPATH": path, "SHALLOWFORMER_CACHE": str(self.root / "cache")}

    def python(self, *arguments: str) -> subprocess.CompletedProcess:
        """Run one of the extension's commands on this book."""
        return subprocess.run([sys.executable, *arguments], cwd=self.root, env=self.environment, capture_output=True, text=True)  # fmt: skip

    def execute(self, *options: str) -> subprocess.CompletedProcess:
        return self.python("-m", "bookext.execute", "--jobs", "2", *options)

    def build(self) -> str:
        """Build it, and give what was printed."""
        run = self.python("-m", "bookext.build")
        assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
        return run.stdout + run.stderr

    def files(self) -> dict[str, bytes]:
        """The built site."""
        found = (path for path in self.site.rglob("*") if path.is_file())
        return {path.relative_to(self.site).as_posix(): path.read_bytes() for path in found}
