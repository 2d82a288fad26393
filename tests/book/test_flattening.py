"""The site's markup becomes Markdown that plain Jupyter and Colab render; what has no such form is an error that names its line."""

import dataclasses

import pytest
from plain_markdown import leftovers

from bookext import address
from bookext.chapters import ROOT
from bookext.markup import MarkupError
from bookext.notebooks import macros, sections
from bookext.notebooks.markdown import Flattener
from bookext.notebooks.references import Paper, Target

FLAT = Flattener(
    ROOT / "book/kernel_regime/gradients.md",
    {
        "eq-here": Target("book/kernel_regime/gradients", "equation-eq-here", "(3)"),
        "eq-there": Target("book/notation", "equation-eq-there", "(1)"),
        "fig-there": Target("book/notation", "fig-there", "Fig. 2"),
        "kr-fact-1": Target("book/notation", "kr-fact-1", "Fact 1"),
        "ex": Target("book/kernel_regime/gradients", "ex", "Exercise 4"),
        "fig": Target("book/kernel_regime/gradients", "fig", "Fig. 5"),
    },
    {
        "arda": Paper("Arda & Cayci", "2026", "https://arxiv.org/a"),
        "qin": Paper("Qin", "2025", "https://arxiv.org/q"),
    },
    {"R": "\\mathbb{R}", "norm": ["\\|#1\\|", 1]},
)
THERE = address.page("book/notation")


@pytest.mark.parametrize(
    "text",
    [":::{note}\nx\n:::", "```{math}\nx\n```", "By {eq}`a`.", "$$\nx\n$$ (a)", "(label)=\n# Title", "% comment", "a [^n]\n\n[^n]: b",
     "term\n: definition", "[word]{.class}", "see {unknown} braces", "<details>\n\nx", "::: left over", "\\begin{align}\nx\n\\end{align}"],
)  # fmt: skip
def test_markup_that_is_left_would_be_noticed(text):
    assert leftovers(text)


@pytest.mark.parametrize(
    ("source", "flat"),
    [
        ("By {eq}`eq-here`, {eq}`eq-there`.", f"By (3), [(1)]({THERE}#equation-eq-there)."),
        ("{prf:ref}`the fact <kr-fact-1>`, {prf:ref}`kr-fact-1`", f"[the fact]({THERE}#kr-fact-1), [Fact 1]({THERE}#kr-fact-1)"),
        ("{numref}`fig-there` and {numref}`Picture %s <fig-there>`", f"[Fig. 2]({THERE}#fig-there) and [Picture 2]({THERE}#fig-there)"),
        ("{cite:t}`arda` {cite:p}`arda, qin`", "[Arda & Cayci (2026)](https://arxiv.org/a) ([Arda & Cayci 2026](https://arxiv.org/a); [Qin 2025](https://arxiv.org/q))"),
        ("{cite:t}`a`".replace("a`", "qin`") + " in `{cite:t}` code", "[Qin (2025)](https://arxiv.org/q) in `{cite:t}` code"),
        ("$x\\in\\R^d$ and `$\\R$` and {math}`\\norm{x}`", "$x\\in\\mathbb{R}^d$ and `$\\R$` and $\\|x\\|$"),
        ("[a](../notation.md#b) [c](https://d.e) [f](#kr-lemma-1)", f"[a]({THERE}#b) [c](https://d.e) [f]({address.page('book/kernel_regime/gradients')}#kr-lemma-1)"),
        ("A [word]{.new} and H{sub}`2`O[^n].\n\n[^n]: A note {eq}`eq-here`.", "A word and H<sub>2</sub>O<sup>n</sup>.\n\n<sup>n</sup> A note (3)."),
        ("| a |\n|---|\n| {eq}`eq-here` $\\R$ |", "| a |\n|---|\n| (3) $\\mathbb{R}$ |"),
        ("one {eq}`eq-here`\n: first\n\ntwo\n: second\n  more", "- **one (3)**:\n  first\n\n- **two**:\n  second\n  more"),
        ("(label)=\n# Title\n\n% a comment\ntext", "\n# Title\n\n\ntext".lstrip("\n")),
        ("$$\n\\R=b\n$$ (eq-here)", "$$\n\\mathbb{R}=b\n\\tag{3} $$"),
        ("- item\n\n  $$ a $$ (eq-here)", "- item\n\n  $$ a \\tag{3} $$"),
        ("```{math}\n:label: eq-here\n\nx\n```", "$$\nx\n\\tag{3} $$"),
        (":::{prf:lemma} L {cite:p}`qin`\n:label: l\n:nonumber:\n\nBody $x$.\n:::\n\nAfter.",
         "<blockquote>\n\n**L ([Qin 2025](https://arxiv.org/q))**\n\nBody $x$.\n\n</blockquote>\n\nAfter."),
        ("::::{dropdown} Proof\n:::{prf:proof}\nBy {eq}`eq-here`.\n:::\n::::", "<details><summary><b>Proof</b></summary>\n\nBy (3).\n\n</details>"),
        (":::{prf:proof}\nClear.\n:::", "*Proof.*\n\nClear."),
        (":::{exercise} $MU$\n:label: ex\n\nDo.\n:::", "**Exercise 4. $MU$**\n\nDo."),
        ("```{note} First.\nSecond.\n```", "<blockquote>\n\n**Note**\n\nFirst.\nSecond.\n\n</blockquote>"),
        ("::::{tab-set}\n:::{tab-item} A\na\n:::\n:::{tab-item} B\nb\n:::\n::::", "**A**\n\na\n**B**\n\nb"),
        ("```python\n# {eq}`eq-here`\n$$ (a)\n\n\n:::{note}\n```", "```python\n# {eq}`eq-here`\n$$ (a)\n\n\n:::{note}\n```"),
        ("```{code-block} python\nx = '$'\n```", "```python\nx = '$'\n```"),
        ('Take <a href="?m=32&amp;at=9#live-run">32 heads</a>.', f"Take [32 heads]({address.page('book/kernel_regime/gradients')}?m=32&at=9#live-run)."),
        ("```{live-panel} run\n:still: fig\n```", f"[The live panel on the site]({address.page('book/kernel_regime/gradients')})"),
        ("```{scoreboard}\n```", f"[The scoreboard on the site]({address.page('book/kernel_regime/gradients')})"),
        ("\\{eq}`x` costs \\$5 and \\$6", "\\{eq}`x` costs \\$5 and \\$6"),
    ],
)  # fmt: skip
def test_markup_is_flattened(source, flat):
    assert FLAT.text(source) == flat


def test_images_travel_with_the_notebook():
    image = FLAT.text("![An icon](/book/_static/favicon.svg)")
    assert image.startswith("![An icon](data:image/svg+xml;base64,")
    figure = FLAT.text(":::{figure} /book/_static/favicon.svg\n:name: fig\n:alt: An icon\n\nWhat it is.\n:::")
    assert figure == f"{image}\n\n**Fig. 5.** What it is."


@pytest.mark.parametrize(
    "bad",
    [":::{unheard}\n:::", "A {unheard}`role`.", "See {eq}`eq-nowhere`.", "See {cite:p}`nobody`.", "[a](nowhere.md)", "![a](none.png)",
     "- list\n\n  :::{note}\n  x\n  :::", "{.class}\n| a |\n|---|\n| b |", "\\begin{align}\nx\n\\end{align}", "$$\na\n\nb\n$$", "> $$\n> a\n> $$",
     "$\\norm$", ":::{exercise} no label\n\nx\n:::", ":::{prf:lemma} L\n\n\nBy {eq}`eq-nowhere`.\n:::"],
)  # fmt: skip
def test_what_cannot_be_shown_is_an_error_that_names_file_and_line(bad):
    line = 10 + bad[: bad.find("eq-nowhere")].count("\n") if "eq-nowhere" in bad else 10
    with pytest.raises(MarkupError, match=rf"book/kernel_regime/gradients.md:({line}|1[0-3])\b"):
        FLAT.text(bad, 9)


def test_an_error_inside_a_directive_names_its_line():
    with pytest.raises(MarkupError, match=r"gradients.md:15: .*eq-nowhere"):
        FLAT.text("One.\n\n:::{prf:lemma} L\n:label: l\n\nBy {eq}`eq-nowhere`.\n:::", 9)


def test_a_student_gets_no_solution_of_any_form():
    student = dataclasses.replace(FLAT, student=True)
    for solution in (
        ":::{dropdown} Answer\n:class-container: solution\n\nx\n:::",
        ":::{solution} ex\nx\n:::",
    ):
        assert student.text(solution) == ""
        assert "<details>" in FLAT.text(solution)


def test_markdown_is_cut_at_headings_but_not_in_code():
    text = "# A\n\n```\n# no heading\n```\n\n## B\n\n:::{dropdown} P\nx\n:::\n\nAfter."
    assert [first for first, _ in sections(text)] == [0, 6, 11]


@pytest.mark.parametrize(
    ("tex", "expanded"),
    [
        (r"\R^d", r"\mathbb{R}^d"),
        (r"\Re \\R", r"\Re \\R"),
        (r"\norm{\norm x_{1}}^2", r"\|\|x\|_{1}\|^2"),
        (r"\pair{a{b}}{\R}", r"\langle a{b},\mathbb{R}\rangle"),
    ],
)
def test_macros_are_written_out(tex, expanded):
    table = {"R": r"\mathbb{R}", "norm": [r"\|#1\|", 1], "pair": [r"\langle #1,#2\rangle", 2]}
    assert macros.expand(tex, table) == expanded


@pytest.mark.parametrize(
    "table",
    [{"x": r"\x"}, {"x": ["#1", 1]}, {"x": ["#1#2", 2, "default"]}],
    ids=["loop", "short", "optional"],
)
def test_a_macro_that_cannot_be_written_out_is_refused(table):
    with pytest.raises(ValueError, match=r"the macro \\x"):
        macros.expand(r"\x", table)
