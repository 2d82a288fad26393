"""The generated notebooks: nothing of the site's markup is left, and they are the same on every run."""

import re

import nbformat
import pytest

from bookext.chapters import chapters
from bookext.notebooks import convert, flatten

CITATIONS = {"arda2026": "Arda, Cayci & Eryilmaz 2026"}


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_no_markup_of_the_site_is_left(path):
    for cell in convert(path).cells:
        if cell.cell_type == "markdown":
            found = re.findall(r"^:::|\{[a-z:]+\}`|^:[a-z-]+:|\$\$ \(", cell.source, re.MULTILINE)
            assert found == [], cell.source
            assert cell.source.count("<details>") == cell.source.count("</details>")


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_a_notebook_is_valid_and_the_same_on_every_run(path):
    notebook = convert(path)
    nbformat.validate(notebook)
    assert nbformat.writes(notebook) == nbformat.writes(convert(path))
    assert "import shallowformer" in notebook.cells[0].source


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_a_student_gets_no_solution(path):
    text = nbformat.writes(convert(path, student=True))
    assert "<summary>Solution" not in text
    assert "assert feedback.passed" not in text
    if "exercise}" in path.read_text(encoding="utf-8"):
        assert "**Exercise." in text
        assert "<summary>Proof" in text


def test_a_statement_becomes_a_title_with_text():
    text = ":::{prf:lemma} Lemma 1: gradients {cite:p}`arda2026`\n:label: kr-lemma-1\n:nonumber:\n\nBody $x$.\n:::\n\nAfter."
    assert flatten(text, {}, CITATIONS).split() == [
        "**Lemma",
        "1:",
        "gradients",
        "(Arda,",
        "Cayci",
        "&",
        "Eryilmaz",
        "2026)**",
        "Body",
        "$x$.",
        "After.",
    ]


def test_equations_are_numbered_and_referred_to():
    text = "$$\na=b\n$$ (eq-one)\n\nBy {eq}`eq-one` and {prf:ref}`Fact 1 <kr-fact-1>`."
    assert flatten(text, {}, CITATIONS) == "$$\na=b \\tag{1}\n$$\n\nBy (1) and Fact 1."
