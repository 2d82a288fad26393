"""How a page is cited."""

import yaml

from bookext import address, page_context
from bookext.chapters import ROOT


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


def test_a_page_without_a_history_is_cited_without_a_day():
    assert "None" not in page_context.citation("A", "book/a", None)["text"]
