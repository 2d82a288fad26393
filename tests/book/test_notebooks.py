"""The generated notebooks: everything in them is rendered by plain Jupyter, and they are the same on every run."""

import dataclasses
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from bookext import address
from bookext.chapters import ROOT, chapters, read_notebook
from bookext.markup import MarkupError, directive, parse, settings, walk
from bookext.notebooks import convert, macros, sections
from bookext.notebooks.markdown import Flattener
from bookext.notebooks.references import Paper, Target, papers, targets

CHAPTERS = [pytest.param(path, id=path.stem) for path in chapters()]
#: What plain Jupyter and Colab know of what the site's parser finds.
COMMON = {"heading", "paragraph", "inline", "fence", "code_block", "math_block", "html_block", "blockquote", "hr", "bullet_list",
          "ordered_list", "list_item", "table", "thead", "tbody", "tr", "th", "td"}  # fmt: skip
COMMON_INLINE = {"text", "softbreak", "hardbreak", "code_inline", "math_inline", "em", "strong", "link", "image", "html_inline"}  # fmt: skip

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


def markdown(path: Path, student: bool = False) -> list[str]:
    return [cell.source for cell in convert(path, student).cells if cell.cell_type == "markdown"]


def leftovers(text: str) -> list[str]:
    """What plain Jupyter would not render in a Markdown cell."""
    found = []
    for token in parse(text):
        if directive(token) or token.type.removesuffix("_open").removesuffix("_close") not in COMMON:
            found.append(f"{token.type} {token.info}{token.content}")
        for child in token.children or []:
            if child.type.removesuffix("_open").removesuffix("_close") not in COMMON_INLINE:
                found.append(f"{child.type} {child.content}")
            if child.type == "text" and re.search(
                r"\{[\w:.#-]+\}|\$\$|:::|\[\^|\]\(|^\(\S+\)=|\\[a-z]{2}", child.content
            ):
                found.append(child.content)
    for opening in ("<details>", "<blockquote>", "<summary>"):
        if text.count(opening) != text.count(opening.replace("<", "</")):
            found.append(opening)
    return found


def formulas(text: str) -> list[tuple[str, bool]]:
    """Formulas of a text, and whether they are displayed."""
    return [
        (part.content, part.type != "math_inline")
        for token in walk(text)
        for part in [token, *(token.children or [])]
        if part.type.startswith("math_")
    ]


@pytest.mark.parametrize("path", CHAPTERS)
@pytest.mark.parametrize("student", [False, True], ids=["full", "student"])
def test_no_markup_of_the_site_is_left(path, student):
    for text in markdown(path, student):
        assert leftovers(text) == [], text
        assert re.search(r"<summary><b>[^<>*$`{}]+</b></summary>", text) or "<summary>" not in text


@pytest.mark.parametrize(
    "text",
    [":::{note}\nx\n:::", "```{math}\nx\n```", "By {eq}`a`.", "$$\nx\n$$ (a)", "(label)=\n# Title", "% comment", "a [^n]\n\n[^n]: b",
     "term\n: definition", "[word]{.class}", "see {unknown} braces", "<details>\n\nx", "::: left over", "\\begin{align}\nx\n\\end{align}"],
)  # fmt: skip
def test_markup_that_is_left_would_be_noticed(text):
    assert leftovers(text)


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_notebook_has_the_formulas_of_its_chapter(path):
    source = [f for cell in read_notebook(path).cells if cell.cell_type == "markdown" for f in formulas(cell.source)]  # fmt: skip
    titles = [
        f for cell in read_notebook(path).cells if cell.cell_type == "markdown" for token in walk(cell.source)
        if (d := directive(token)) for f in formulas(d.title)
    ]  # fmt: skip
    table = settings()["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]
    expected = sorted(macros.expand(tex, table).strip() for tex, _ in source + titles)
    found = [re.sub(r"\s*\\tag\{\d+\}\s*$", "", tex).strip() for text in markdown(path) for tex, _ in formulas(text)]  # fmt: skip
    assert sorted(found) == expected


def rendering_errors(found: list[tuple[str, bool]]) -> list[str]:
    """Formulas that MathJax, from the site's own copy, cannot render; unknown commands are errors."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not chromium:
        pytest.skip("no Chromium: install it (Debian: apt-get install chromium), or set CHROMIUM to its path")
    import importlib.util

    package = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent
    with playwright.sync_playwright() as browsers:
        browser = browsers.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        page = browser.new_page()
        page.set_content(
            "<script>MathJax = {startup: {typeset: false}, tex: {packages: {'[-]': ['noundefined', 'noerrors']}}}</script>"
        )
        page.add_script_tag(path=package / "static/mathjax/tex-chtml.js")
        errors = page.evaluate(
            """async formulas => {
                await MathJax.startup.promise;
                const errors = [];
                for (const [tex, display] of formulas) {
                    let error = null;
                    try {
                        const node = await MathJax.tex2chtmlPromise(tex, {display});
                        error = node.querySelector('mjx-merror')?.dataset.mjxError;
                    } catch (exception) { error = exception.message; }
                    if (error) errors.push(`${error}: ${tex}`);
                }
                return errors;
            }""",
            [list(formula) for formula in found],
        )
        browser.close()
    return errors


def test_every_formula_can_be_rendered():
    found = sorted({f for path in chapters() for text in markdown(path) for f in formulas(text)})
    assert len(found) > 300
    assert rendering_errors(found) == []


def test_a_formula_that_cannot_be_rendered_would_be_noticed():
    broken = [(r"\frac{1", False), (r"\begin{aligned} x", True), (r"\unknown x", False), (r"a \right)", False)]  # fmt: skip
    assert len(rendering_errors([*broken, (r"\|x\|\le1", False)])) == len(broken)


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_notebook_is_valid_and_the_same_on_every_run(path):
    notebook = convert(path)
    nbformat.validate(notebook)
    assert nbformat.writes(notebook) == nbformat.writes(convert(path))
    assert "import shallowformer" in notebook.cells[0].source
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    assert not any(cell.get("outputs") for cell in notebook.cells)


@pytest.mark.parametrize("student", [False, True], ids=["full", "student"])
def test_the_command_writes_the_same_bytes_where_the_site_looks_for_them(tmp_path, student):
    command = [sys.executable, "-m", "bookext.notebooks", str(tmp_path)] + ["--student"] * student
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "book/_ext"), "PYTHONHASHSEED": "7"}, capture_output=True, text=True)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    for path in chapters():
        written = tmp_path / address.notebook(path.relative_to(ROOT).with_suffix("").as_posix())
        assert written.read_text(encoding="utf-8") == nbformat.writes(convert(path, student)) + "\n"


def test_an_edit_changes_one_cell_id(monkeypatch):
    path = chapters()[1]
    before = [cell.id for cell in convert(path).cells]
    read = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda self, *a, **k: read(self, *a, **k).replace("## Where next\n", "## Where next?\n") if self == path else read(self, *a, **k))  # fmt: skip
    after = [cell.id for cell in convert(path).cells]
    assert len(set(before) ^ set(after)) == 2


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_student_gets_no_solution(path):
    text = nbformat.writes(convert(path, student=True))
    assert "<summary><b>Solution" not in text
    assert "assert feedback.passed" not in text
    if "exercise}" in path.read_text(encoding="utf-8"):
        assert "**Exercise " in text
        assert "<summary><b>Proof" in text


@pytest.mark.parametrize("path", CHAPTERS)
def test_what_the_site_folds_is_folded_by_jupyter_and_by_colab(path):
    code = [cell for cell in read_notebook(path).cells if cell.cell_type == "code"]
    made = [cell for cell in convert(path).cells if cell.cell_type == "code"][1:]
    assert len(made) == len(code)
    for before, after in zip(code, made, strict=True):
        folded = any(tag.startswith(("hide", "remove")) for tag in before.metadata.get("tags", ()))
        assert (after.metadata.get("cellView") == "form") == folded
        assert after.metadata.get("jupyter", {}).get("source_hidden", False) == folded
        assert after.source.startswith("# @title ") == folded
        assert after.source.removesuffix(before.source) in ("", after.source.partition("\n")[0] + "\n")


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_figure_keeps_its_caption_and_its_description(path):
    text = "\n".join(markdown(path))
    for cell in read_notebook(path).cells:
        if figure := cell.metadata.get("mystnb", {}).get("figure"):
            assert f"**{targets()[figure['name']].text}.** {figure['caption']}" in text
            described = cell.metadata["mystnb"].get("image")  # a figure that moves describes itself
            moves = any(maker in cell.source for maker in ("interactive.", "calculator."))
            assert described["alt"] in text if described else moves


def test_numbers_run_through_the_book():
    found = targets()
    for kind in ("(", "Fig. ", "Exercise "):
        numbers = [int(re.search(r"\d+", t.text)[0]) for t in found.values() if t.text.startswith(kind)]
        assert numbers == list(range(1, len(numbers) + 1))
    assert found["kr-fact-1"].text == "Fact 1"


def test_papers_have_authors_year_and_address():
    assert papers()["arda2026"].cite(in_text=True) == "[Arda, Cayci & Eryilmaz (2026)](https://arxiv.org/abs/2601.16514)"  # fmt: skip


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
