"""The bibliography: a source is called what the text calls it, and sources stand in the order of these names."""

import functools
import unicodedata
from collections.abc import Iterator

from pybtex import plugin
from pybtex.database import Entry
from pybtex.style.formatting.plain import Style
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting import BaseSortingStyle
from pybtex.style.template import field
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle
from sphinxcontrib.bibtex.style.template import join

#: Letters that are not another one with an accent.
_STROKES = str.maketrans("łø", "lo")


def called(entry: Entry) -> str:
    """What the text calls a source. Returns: for example "Arda et al., 2026"."""
    style = AuthorYearReferenceStyle()
    name = join(sep=style.author_year_sep)[
        style.person.author_or_editor_or_title(full=False), field("year", raw=True)
    ]
    return str(name.format_data({"entry": entry, "style": style}))


class CalledAsInText(BaseLabelStyle):
    """Labels that a reader of the text looks for."""

    def format_labels(self, sorted_entries: list[Entry]) -> Iterator[str]:
        """Label entries."""
        return map(called, sorted_entries)


class ByName(BaseSortingStyle):
    """The order of the labels; letters with accents and strokes count as those without."""

    def sorting_key(self, entry: Entry) -> str:
        """Say by what an entry is sorted. Returns: its label in small plain letters."""
        parts = unicodedata.normalize("NFD", called(entry).lower())
        return "".join(c for c in parts if not unicodedata.combining(c)).translate(_STROKES)


class AuthorYear(Style):
    """Entries as in the style "plain", with such labels and in their order."""

    default_label_style = CalledAsInText
    default_sorting_style = ByName


def register() -> None:
    """Let the settings name this style "author_year"."""
    # Else every citation asks all installed packages for the same style. (A private function: pybtex has no other way.)
    plugin._load_entry_point = functools.cache(plugin._load_entry_point)
    plugin.register_plugin("pybtex.style.formatting", "author_year", AuthorYear)
