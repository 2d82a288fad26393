"""The figure of what is covered says no more than the ledger does."""

import math

import matplotlib.pyplot as plt
import pytest

from bookext.chapters import LEDGER
from companion.theory.beyond import coverage
from shallowformer.verify import ledger

SUPPORT = {entry["id"]: entry["support"] for entry in ledger.read(LEDGER)}
CELLS = [
    pytest.param(cell, id=f"{row}-{column}".replace("\n", " "))
    for row, cells in coverage.COVERAGE.items()
    for column, cell in zip(coverage.COLUMNS, cells, strict=True)
]
#: What a word asks of the statement, written down a second time.
ASKS = {
    "proved": {"proved", "machine-checked"},
    "proved false": {"proved", "machine-checked"},
    "measured": {"numerical"},
}


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_says_what_its_statement_rests_on(cell):
    if cell.word == "open":
        assert cell.id is None
        return
    assert SUPPORT[cell.id] in ASKS[cell.word]
    assert SUPPORT[cell.id] in coverage.WORDS[cell.word][0]
    assert all((cell.name, cell.note, cell.brief))


@pytest.mark.parametrize("brief", [False, True])
def test_every_word_is_drawn_and_nothing_leaves_its_box(brief):
    figure, axis = plt.subplots(figsize=(7, 4.2))
    coverage.draw(axis, brief=brief)
    drawn = figure.canvas.get_renderer()
    inside = axis.transData.inverted()
    words = [text for text in axis.texts if text.get_weight() == "bold"]
    assert [text.get_text() for text in words] == [
        cell.word for row in coverage.COVERAGE.values() for cell in row
    ]
    for text in axis.texts:
        left, right = inside.transform(text.get_window_extent(drawn))[:, 0]
        column = math.floor(text.get_position()[0])
        low, high = (column, column + 1) if column >= 0 else (-1.3, 0)
        assert low - 0.03 <= left <= right <= high + 0.03, text.get_text()
    plt.close(figure)
