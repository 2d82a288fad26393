"""The symbols of a chapter: those rows of the notation page that it uses."""

import re

from bs4 import BeautifulSoup

from bookext import symbols
from bookext.symbols import Row

CHAPTER = r"""
# A chapter

The parameters $\varphi$ lie in $\Omega_\rho$, and $\alpha_t$ is a weight; $S$ is a set.

```{code-cell}
from shallowformer import softmax
from shallowformer.kernel_regime.model import parameters
approximation = r"$G_1$"
```
"""


def found(name="chapter", source=CHAPTER):
    return [row.symbol for row in symbols.of_chapter(name, source)]


def test_a_row_needs_its_symbol_and_its_module():
    assert r"$\varphi=(c,U,W)$" in found()
    assert r"$\varphi=(c,U,W)$" not in found(source=CHAPTER.replace("import parameters", "import x"))
    assert r"$\varphi=(c,U,W)$" not in found(source=CHAPTER.replace(r"$\varphi$", r"$\phi$"))
    assert "$S$" not in found()  # another S, of a module that the chapter does not use
    assert "$G_1,G_2$" not in found()  # in code only


def test_a_symbol_that_cannot_be_mistaken_needs_no_module():
    assert r"$\Omega_\rho$, $\Pi$" in found()


def test_a_row_may_belong_to_some_chapters():
    source = CHAPTER.replace("$S$", r"$\varsigma$")
    assert r"$\lambda,\,\varsigma$ (smoothness)" in found("smoothness", source)
    assert r"$\lambda,\,\varsigma$ (smoothness)" not in found("chapter", source)


def test_a_part_with_a_table_of_its_own_has_its_symbols_there(monkeypatch):
    mine, first = Row("$W$", (), "mine", "token_selection"), Row("$W$", (), "of part one")
    monkeypatch.setattr(symbols, "rows", lambda: (first, mine))
    assert symbols.of_chapter("book/token_selection/joint", "$W$") == [mine]
    assert symbols.of_chapter("book/kernel_regime/model", "$W$") == [first]


def test_a_list_is_several_symbols_and_a_definition_is_not_part_of_one():
    assert Row(r"$n,\,T$, $v=(a,b)$, $k(s,t)$", (), "").pieces == ["n", "T", "v", "k(s,t)"]


def test_the_fold_stands_below_the_title():
    soup = BeautifulSoup("<section><h1>A</h1><p>b</p></section>", "html.parser")
    symbols.fold(soup, [Row(r"$R$", (), r"a bound on $U$, in `code`")], "notation.html")
    box = soup.h1.find_next_sibling()
    assert box.name == "details"
    assert not box.has_attr("open")
    assert [formula.get_text() for formula in box.select("span.math")] == [r"\(R\)", r"\(U\)"]
    assert box.find("code").get_text() == "code"
    assert box.find("a")["href"] == "notation.html"


def test_the_fold_does_not_name_the_chapter_by_its_file():
    soup = BeautifulSoup("<section><h1>A</h1></section>", "html.parser")
    symbols.fold(soup, [Row(r"$R,\,r$ (every_step, joint)", (), "bounds (of two kinds)")], "notation.html")
    assert [cell.get_text() for cell in soup("td")] == [r"\(R,\,r\) (here)", "bounds (of two kinds)"]


def test_a_formula_that_is_one_symbol_says_which_rows_explain_it():
    text = (
        r'<span class="math">\(R\)</span> <span class="math">\(R^2\)</span> <span class="math">\(\,m\)</span>'
    )
    soup = BeautifulSoup(text, "html.parser")
    symbols.mark(soup, [Row("$R$, $m$", (), "one"), Row("$m=2$ (chapter)", (), "another")])
    assert [formula.get("data-symbol") for formula in soup("span")] == ["0", None, "0 1"]


def test_without_symbols_there_is_no_fold():
    soup = BeautifulSoup("<h1>A</h1>", "html.parser")
    symbols.fold(soup, [], "notation.html")
    assert str(soup) == "<h1>A</h1>"


def test_the_notation_page_calls_chapters_by_their_titles():
    written = [symbols.NOTATION.read_text(encoding="utf-8")]
    symbols.name_chapters(None, "book/notation", written)
    rows = written[0].splitlines()
    assert any(row.startswith("| $C_T$ ([The gradients](kernel_regime/gradients.md)) |") for row in rows)
    assert sum("](kernel_regime/no_logs.md); [Self-bounding](kernel_regime/self_bounding.md)) |" in row for row in rows) == 1  # fmt: skip
    tagged = [row for row in symbols.rows() if row.only_in]
    assert sum(bool(re.search(r"\.md\)\) \|", row)) for row in rows) == len(tagged) > 50


def test_words_in_brackets_that_name_no_chapter_stay():
    for page, text in (
        ("book/notation", "| $a$ (of two kinds) | `b` | c | d |"),
        ("book/map", "| $C_T$ (gradients) |"),
    ):
        written = [text]
        symbols.name_chapters(None, page, written)
        assert written == [text]


def test_every_table_of_the_notation_page_has_a_head_and_rows_as_wide():
    text = symbols.NOTATION.read_text(encoding="utf-8")
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == text.count("\n|---|")
    for head, rule, *rows in tables:
        assert set(rule) == {"|", "-"}
        widths = {len(re.split(r"(?<!\\)\|", line)) for line in (head, rule, *rows)}
        assert len(widths) == 1, head
