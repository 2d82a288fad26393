"""Every formula of the notebooks can be rendered; those that stand on the site as well are looked at there."""

import importlib.util
import re
from pathlib import Path

import nbformat
import pytest
from browsing import LOOK
from built import CHAPTERS, SITE
from formulas import formulas

from bookext import address
from bookext.chapters import cells, chapters
from bookext.markup import directives

MATHJAX = (
    Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent / "static/mathjax/tex-chtml.js"
)

#: Renders formulas one by one; returns what is wrong with them.
RENDER = """async formulas => {
  await MathJax.startup.promise;
  const errors = [];
  for (const [tex, display] of formulas) {
    let error = null;
    try {
      const node = await MathJax.tex2chtmlPromise(tex, {display});
      error = node.querySelector("mjx-merror")?.dataset.mjxError;
    } catch (exception) { error = exception.message; }
    if (error) errors.push(`${error}: ${tex}`);
  }
  return errors;
}"""


def of_sources() -> set[tuple[str, bool]]:
    """The formulas of the chapters as they stand in their sources, those of titles included."""
    texts = [cell.source for path in chapters() for cell in cells(path) if cell.cell_type == "markdown"]  # fmt: skip
    titles = [inner.title for text in texts for inner in directives(text)]
    return {(tex.strip(), display) for text in [*texts, *titles] for tex, display in formulas(text)}


def of_notebooks() -> set[tuple[str, bool]]:
    """The formulas of the notebooks as the site serves them, without the numbers that these give them."""
    files = [SITE / "notebooks" / address.notebook(page, solutions=True) for page in CHAPTERS]
    read = (nbformat.read(file, as_version=4).cells for file in files)
    cells = [cell.source for cells in read for cell in cells if cell.cell_type == "markdown"]
    return {(re.sub(r"\s*\\tag\{[\d.]+\}\s*$", "", tex).strip(), display) for text in cells for tex, display in formulas(text)}  # fmt: skip


@pytest.fixture(scope="module")
def rendering_errors(browser):
    """What is wrong with formulas: MathJax, from the site's own copy, cannot render them; unknown commands count."""
    tab = browser.new_page()
    tab.set_content("<script>MathJax = {startup: {typeset: false}, tex: {packages: {'[-]': ['noundefined', 'noerrors']}}}</script>")  # fmt: skip
    tab.add_script_tag(path=MATHJAX)
    return lambda found: tab.evaluate(RENDER, [list(formula) for formula in found])


def test_formulas_that_stand_in_notebooks_only_can_be_rendered(site, rendering_errors):
    found = of_notebooks()
    assert len(found) > 300
    assert rendering_errors(sorted(found - of_sources())) == []


BROKEN = [(r"\frac{1", False), (r"\begin{aligned} x", True), (r"\unknown x", False), (r"a \right)", False)]


def test_a_formula_that_cannot_be_rendered_would_be_noticed(rendering_errors):
    assert len(rendering_errors([*BROKEN, (r"\|x\|\le1", False)])) == len(BROKEN)


@pytest.mark.parametrize("tex", [tex for tex, _ in BROKEN])
def test_a_formula_that_cannot_be_rendered_would_be_seen_on_the_site(browser, tex):
    tab = browser.new_page()
    tab.set_content(f'<span class="math">\\({tex}\\)</span> <span class="math">\\(x\\)</span>')
    tab.add_script_tag(path=MATHJAX)
    tab.evaluate("() => MathJax.startup.promise")
    seen = tab.evaluate(LOOK)
    tab.close()
    assert seen["wrong"] + seen["unrendered"] != []
