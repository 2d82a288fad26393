"""How a page is cited, what a supplement is called, and what comes next."""

import re

import pytest
import yaml

from bookext import address, page_context
from bookext.chapters import ROOT, chapter_numbers, chapters, docname, parts


def test_a_page_is_cited_with_its_address_and_day():
    found = page_context.citation("The gradients", "book/kernel_regime/gradients", "20 November 2026")
    version = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    url = f"{address.site()}book/kernel_regime/gradients.html"
    for text in found.values():
        assert "The gradients" in text
        assert url in text
        assert f"version {version}, 20 November 2026" in text
    assert found["bibtex"].count("{") == found["bibtex"].count("}")
    assert found["bibtex"].startswith("@incollection{shallowformer-gradients,\n")


def test_quotation_marks_of_a_title_are_single_ones_in_the_sentence():
    found = page_context.citation("Supplement to “A”", "book/a_supplement", None)
    assert "“Supplement to ‘A’”, in" in found["text"]
    assert "Supplement to “A”" in found["bibtex"]


def test_a_supplement_names_its_chapter_by_number():
    titled = lambda page, text: [page_context.number_supplement(None, page, source := [text]), source[0]][1]
    page, number = "book/residual/convergence_supplement", chapter_numbers()["book/residual/convergence"]
    assert titled(page, "---\nx\n---\n\n# Supplement to “A”\n") == (
        f"---\nx\n---\n\n# Supplement to chapter {number}, “A”\n"
    )
    assert titled("book/residual/convergence", "# Supplement to “A”") == "# Supplement to “A”"


def test_every_supplement_bears_its_number_on_the_site(site):
    for path in chapters():
        for part in parts(path)[1:]:
            page = site.joinpath(f"{docname(part)}.html").read_text(encoding="utf-8")
            assert f"<h1>Supplement to chapter {chapter_numbers()[docname(path)]}, “" in page, part.name


@pytest.mark.parametrize(
    ("page", "previous", "following"),
    [
        ("neighbourhood", "gradients", "smoothness"),
        ("neighbourhood_supplement", "neighbourhood", "smoothness"),
        ("smoothness", "neighbourhood", "linear_model"),
        ("linear_model", "smoothness", "tangent_kernel"),
        ("gradients", "softmax_calculus", "neighbourhood"),
    ],
)
def test_a_supplement_is_not_what_comes_next(site, page, previous, following):
    html = (site / f"book/kernel_regime/{page}.html").read_text(encoding="utf-8")
    links = {
        way: re.search(rf'class="{way}-\w+"\s+href="([^"]+)\.html"', html)[1] for way in ("left", "right")
    }
    assert links == {"left": previous, "right": following}


def test_a_page_without_a_history_is_cited_without_a_day():
    assert "None" not in page_context.citation("A", "book/a", None)["text"]
