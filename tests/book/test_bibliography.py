"""The bibliography: what a source is called, in which order sources stand, and that each is linked once."""

import re

from pybtex.database import parse_file
from pybtex.plugin import find_plugin

from bookext import bibliography
from bookext.chapters import ROOT, pages

SOURCES = parse_file(str(ROOT / "book/references.bib"))


def listed() -> list:
    bibliography.register()
    style = find_plugin("pybtex.style.formatting", "author_year")()
    return list(style.format_bibliography(SOURCES))


def test_a_source_is_called_as_in_the_text():
    words = {entry.key: entry.label for entry in listed()}
    assert words["stein1981"] == "Stein, 1981"
    assert words["cayci2024"] == "Cayci and Eryilmaz, 2024"
    assert words["arda2026"] == "Arda et al., 2026"
    assert len(set(words.values())) == len(SOURCES.entries), "two sources that the text calls alike"


def test_sources_stand_in_the_order_of_their_names():
    keys = [entry.key for entry in listed()]
    together = lambda *some: sorted(some, key=keys.index)
    assert together("ma2018", "lojasiewicz1963", "liu2020", "liu2020landscapes") == [
        "liu2020landscapes", "liu2020", "lojasiewicz1963", "ma2018"
    ]  # fmt: skip
    assert together("boucheron2013", "bohning1992", "bohbot2025") == ["bohbot2025", "bohning1992", "boucheron2013"]  # fmt: skip


def test_the_settings_name_the_style():
    assert re.search(r"^ *bibtex_default_style: author_year\b", (ROOT / "_config.yml").read_text(encoding="utf-8"), re.MULTILINE)  # fmt: skip


def test_a_source_is_linked_once():
    for key, entry in SOURCES.entries.items():
        fields = entry.fields
        assert sum(name in fields for name in ("url", "eprint", "doi")) <= 1, key
        assert "arxiv.org" not in fields.get("url", ""), f"{key}: an eprint"
        assert not fields.get("note", "").startswith("arXiv:"), f"{key}: an eprint"


def test_every_source_is_cited():
    text = "".join(page.read_text(encoding="utf-8") for page in pages())
    cited = {key.strip() for keys in re.findall(r"\{cite:\w+\}`([^`]+)`", text) for key in keys.split(",")}
    assert cited == set(SOURCES.entries)
