"""The generated notebooks: everything in them is rendered by plain Jupyter, and they are the same on every run."""

import functools
import json
import re
import runpy
import sys
from pathlib import Path

import nbformat
import pytest
from formulas import formulas as formulas_of
from plain_markdown import leftovers

from bookext import address, hypotheses, markup, notebooks
from bookext.chapters import chapter_numbers, chapters, docname, leaves, parts, read_notebook
from bookext.markup import directive, settings
from bookext.notebooks import convert, macros
from bookext.notebooks.references import papers, targets
from bookext.said import filled

CHAPTERS = [pytest.param(path, id=path.stem) for path in chapters()]
MACROS = settings()["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]

#: A chapter's notebook, converted once, and what stands in a text; not to be changed.
converted = functools.cache(convert)
walk = functools.cache(lambda text: tuple(markup.walk(text)))
formulas = functools.cache(formulas_of)


@functools.cache
def cells(path: Path) -> list[nbformat.NotebookNode]:
    """The cells of a chapter and its supplement, with what was said in place."""
    pages = [read_notebook(page, fill=functools.partial(filled, page=docname(page))) for page in parts(path)]
    return [cell for page in pages for cell in page.cells]


def markdown(path: Path, student: bool = False) -> list[str]:
    return [cell.source for cell in converted(path, student).cells if cell.cell_type == "markdown"]


@pytest.mark.parametrize("path", CHAPTERS)
@pytest.mark.parametrize("student", [False, True], ids=["full", "student"])
def test_no_markup_of_the_site_is_left(path, student):
    for text in markdown(path, student):
        assert leftovers(text) == [], text
        assert re.search(r"<summary><b>[^<>*$`{}]+</b></summary>", text) or "<summary>" not in text


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_notebook_has_the_formulas_of_its_chapter(path):
    source = [f for cell in cells(path) if cell.cell_type == "markdown" for f in formulas(cell.source)]  # fmt: skip
    titles = [
        f for cell in cells(path) if cell.cell_type == "markdown" for token in walk(cell.source)
        if (d := directive(token)) for f in formulas(d.title)
    ]  # fmt: skip
    rows = [
        f for cell in cells(path) if cell.cell_type == "markdown" for token in walk(cell.source)
        if (d := directive(token)) and d.name == "hypotheses"
        for f in formulas("\n".join(hypotheses.written(*d.title.split(), linked=False)))
    ]  # fmt: skip
    figures = [cell.metadata.get("mystnb", {}).get("figure", {}) for cell in cells(path)]
    captions = [f for figure in figures for f in formulas(figure.get("caption", ""))]
    expected = sorted(macros.expand(tex, MACROS).strip() for tex, _ in source + titles + rows + captions)
    found = [re.sub(r"\s*\\tag\{[\d.]+\}\s*$", "", tex).strip() for text in markdown(path) for tex, _ in formulas(text)]  # fmt: skip
    assert sorted(found) == expected


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_notebook_is_valid(path):
    notebook = converted(path)
    nbformat.validate(notebook)
    assert "import shallowformer" in notebook.cells[0].source
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    assert not any(cell.get("outputs") for cell in notebook.cells)


def test_every_run_writes_the_same_bytes_where_the_site_looks_for_them(site, tmp_path, monkeypatch, capsys):
    """The build of the site, which was another process, with other hashes; this process; and the command, here."""
    monkeypatch.setattr(notebooks, "convert", converted)
    monkeypatch.setattr(sys, "argv", ["bookext.notebooks", str(tmp_path), "--student"])
    runpy.run_module("bookext.notebooks", run_name="__main__")
    assert capsys.readouterr().err == ""
    for path in chapters():
        page, texts = (
            docname(path),
            [nbformat.writes(converted(path, student)) + "\n" for student in (True, False)],
        )
        there = [site / "notebooks" / address.notebook(page, solutions) for solutions in (False, True)]
        assert [file.read_text(encoding="utf-8") for file in there] == texts
        assert (tmp_path / address.notebook(page)).read_text(encoding="utf-8") == texts[0]


def test_an_edit_changes_one_cell_id(monkeypatch):
    path = chapters()[1]
    before = [cell.id for cell in converted(path).cells]
    read = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda self, *a, **k: read(self, *a, **k).replace("## Where next\n", "## Where next?\n") if self == path else read(self, *a, **k))  # fmt: skip
    after = [cell.id for cell in convert(path).cells]
    assert len(set(before) ^ set(after)) == 2


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_student_gets_no_solution(path):
    text = nbformat.writes(converted(path, True))
    assert "<summary><b>Solution" not in text
    assert "# @title Solution" not in text
    for cell in cells(path):
        assert "solution" not in cell.metadata.get("tags", ()) or json.dumps(cell.source) not in text
    assert "assert feedback.passed" not in text
    if "exercise}" in path.read_text(encoding="utf-8"):
        assert "**Exercise " in text
    if "{prf:proof}" in path.read_text(encoding="utf-8"):
        assert "<summary><b>Proof" in text


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_student_has_a_cell_for_each_argument_behind_the_stub(path):
    cells = converted(path, True).cells
    asked = [d.options["label"] for d in markup.directives(path.read_text(encoding="utf-8")) if d.name == "exercise" and d.body.lstrip().startswith("★★")]  # fmt: skip
    places = [k for k, cell in enumerate(cells) if "your argument.**" in cell.source]
    assert [cells[k].source.partition(":")[0] for k in places] == [f"**{targets()[label].text}" for label in asked]  # fmt: skip
    assert all("exercises.check_" in cells[k - 1].source for k in places)
    assert not any("your argument.**" in text for text in markdown(path))


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_student_is_told_where_hints_and_solutions_are(path):
    has_exercises = "exercises.check_" in path.read_text(encoding="utf-8")
    heads = {student: markdown(path, student)[0] for student in (False, True)}
    assert (f"({address.colab(docname(path), solutions=True)})" in heads[True]) == has_exercises
    assert ("`.hint(2)`" in heads[True]) == has_exercises
    assert ".hint(" not in heads[False]


@pytest.mark.parametrize("path", CHAPTERS)
def test_what_the_site_folds_is_folded_by_jupyter_and_by_colab(path):
    code = [cell for cell in cells(path) if cell.cell_type == "code"]
    made = [cell for cell in converted(path).cells if cell.cell_type == "code"][1:]
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
    for cell in cells(path):
        if figure := cell.metadata.get("mystnb", {}).get("figure"):
            assert f"**{targets()[figure['name']].text}.** {figure['caption']}" in text
            described = cell.metadata["mystnb"].get("image")  # a figure that moves describes itself
            moves = any(maker in cell.source for maker in ("interactive.", "calculator."))
            assert described["alt"] in text if described else moves


def test_numbers_run_through_each_chapter():
    found, numbered, above, chapter = targets(), chapter_numbers(), {}, ""
    for leaf in leaves():  # supplements, and pages that stand below a chapter, count on in it
        chapter = chapter if leaf.depth else leaf.page
        above[leaf.page] = chapter
    assert list(numbered.values()) == list(range(1, len(numbered) + 1))
    for kind in ("(", "Fig. ", "Exercise "):
        for page in (*numbered, ""):  # those of pages without a number run through all of these
            prefix = f"{kind}{numbered[page]}." if page else kind
            home = lambda t: above[t.page] if above[t.page] in numbered else ""
            here = [t for t in found.values() if home(t) == page]
            numbers = [
                t.text.removeprefix(prefix).strip(")")
                for t in here
                if re.fullmatch(rf"{re.escape(kind)}[\d.]+\)?", t.text)
            ]
            assert numbers == [str(k) for k in range(1, len(numbers) + 1)]
    assert found["kr-fact-1"].text == "Fact 1"


def test_papers_have_authors_year_and_address():
    assert papers()["arda2026"].cite(in_text=True) == "[Arda, Cayci & Eryilmaz (2026)](https://arxiv.org/abs/2601.16514)"  # fmt: skip
    assert papers()["stein1981"].url == "https://doi.org/10.1214/aos/1176345632"
    assert papers()["bhatia2000"].url == "https://doi.org/10.1080/00029890.2000.12005203"
    assert papers()["banach1938"].url == address.page("book/bibliography")
