"""Which statement uses which follows the cross-references; sphinx-proof and the extension know the same statements."""

from pathlib import Path

import pytest
from sphinx.application import Sphinx

from bookext import uses
from bookext.chapters import statements
from bookext.uses import book_uses

FIRST = """
# First

## Foundations

:::{prf:definition} A
:label: definition
:nonumber:
$$ x=1 $$ (eq-definition)
:::

:::{prf:lemma} B
:label: plain
:nonumber:
Refers to itself: {prf:ref}`B <plain>`.

$$ y=1 $$ (eq-plain)
:::

Text: {prf:ref}`T <theorem>`.

::::{dropdown} Proof
:::{prf:proof}
By {eq}`eq-definition` and {eq}`eq-loose`.

$$ z=1 $$ (eq-in-proof)
:::
::::

$$ w=1 $$ (eq-loose)

:::{prf:proof}
Another proof, by {prf:ref}`C <forward>`.
:::

:::{prf:lemma} C
:label: forward
:nonumber:
Words.
:::

:::{prf:proof}
By {prf:ref}`R <remark>`.
:::

## Unproved

:::{prf:proof}
A proof of nothing, by {prf:ref}`B <plain>`.
:::
"""
SECOND = """
# Second

## Shared

:::{prf:remark} R
:label: remark
:nonumber:
In words.
:::

:::{prf:theorem} T
:label: theorem
:nonumber:
As in {prf:ref}`A <definition>`.
:::

### Details

:::{prf:proof}
By {eq}`eq-plain`, {eq}`eq-in-proof` and {prf:ref}`R <remark>`.
:::
"""
LABELS = ["definition", "plain", "forward", "remark", "theorem"]


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """Sphinx, having read a book of two pages."""
    source = tmp_path_factory.mktemp("small")
    for page, text in {"index": FIRST, "second": SECOND}.items():
        (source / f"{page}.md").write_text(text, encoding="utf-8")
    (source / "_toc.yml").write_text("root: index\nchapters:\n  - file: second\n", encoding="utf-8")
    settings = {
        "extensions": ["myst_parser", "sphinx_design", "sphinx_proof"],
        "myst_enable_extensions": ["colon_fence", "dollarmath"],
    }
    app = Sphinx(source, None, source / "out", source / "trees", "dummy", settings, status=None, warning=None)
    app.connect("doctree-read", uses.collect)
    app.build()
    return app


@pytest.fixture
def edges(app):
    """Who uses whom in it."""
    return book_uses(app.env, LABELS)


def test_a_statement_uses_what_its_proof_refers_to_by_label_or_by_equation(edges):
    assert edges["plain"] == ["definition", "forward"]


def test_a_proof_serves_all_statements_before_it_that_have_none_and_they_do_not_use_each_other_by_it(edges):
    assert edges["remark"] == ["plain"]
    assert edges["theorem"] == ["definition", "plain"]


def test_a_definition_has_no_proof_and_a_proof_in_another_section_counts_for_nobody(edges):
    assert edges["definition"] == []
    assert edges["forward"] == ["remark"]


@pytest.fixture
def complaints(app, monkeypatch):
    """What is said of a list of statements that is held against sphinx-proof's."""

    def compare(listed):
        said = []
        monkeypatch.setattr(uses, "statements", lambda: listed)
        monkeypatch.setattr(uses.logger, "warning", lambda text, *values: said.append(text % values))
        uses.compare_statements(app, app.env)
        return said

    return compare


def test_sphinx_proof_and_the_extension_know_the_same_statements(app, complaints):
    listed = statements(Path(app.srcdir))
    assert list(listed) == ["definition", "plain", "forward", "remark", "theorem"]
    assert complaints(listed) == []


def test_a_statement_that_one_of_them_does_not_know_is_named(app, complaints):
    listed = statements(Path(app.srcdir))
    missing = {label: statement for label, statement in listed.items() if label != "plain"}
    assert complaints(missing) == ["the lemma plain on index is known to sphinx-proof alone"]
    more = {**listed, "more": {"kind": "lemma", "title": "M", "page": "second"}}
    assert complaints(more) == ["the lemma more on second is known to bookext.chapters alone"]
