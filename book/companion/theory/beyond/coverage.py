"""Which architecture is covered by which statement, as a table and as a figure."""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from shallowformer import figures

#: What a cell says → what its statement rests on in the ledger, and the colour of the cell.
WORDS = {
    "proved": (("proved", "machine-checked"), "truth"),
    "proved false": (("proved", "machine-checked"), "claim"),
    "measured": (("numerical",), "accent"),
    "open": ((), "quiet"),
}

COLUMNS = (
    "near the linear\nmodel: worst point",
    "near the linear\nmodel: along a run",
    "the mean loss\nfalls",
    "known before\nthe first step",
    "targets can be\napproximated",
)


@dataclass(frozen=True)
class Cell:
    """What is known of one property of one architecture."""

    word: str  # a name of ``WORDS``
    id: str | None  # the statement, None where the question is open
    name: str  # the statement in short, or what is missing
    note: str  # rate and hypothesis
    brief: str  # what a small figure says of them


_WIDTH = "$m^{-1/2}$"
_ALONG = "$1/m$, bounded travel"

COVERAGE = {
    "independent heads\n(the paper's)": (
        Cell("proved", "kr-lemma-3-sharp", "Lemma 3, sharp", _WIDTH, _WIDTH),
        Cell("proved", "kr-theorem-d", "Theorem D", _ALONG, "$1/m$"),
        Cell("proved", "kr-theorem-a", "Theorem A", "up to the misfit", "to the misfit"),
        Cell("proved", "kr-theorem-f", "Theorem F", "tanh, paired start", "Theorem F"),
        Cell("proved", "kr-lemma-5-sharp", "Lemma 5, sharp", r"$\sqrt{\log n/m}$", _WIDTH),
    ),
    "one number at\nevery position": (
        Cell("proved", "kr-proposition-y", "Proposition Y", _WIDTH, _WIDTH),
        Cell("proved", "kr-proposition-y", "Proposition Y", _ALONG, "$1/m$"),
        Cell("proved", "kr-proposition-y", "Proposition Y", "up to the misfit", "to the misfit"),
        Cell("proved", "kr-proposition-y", "Y and Theorem F", "on $nT$ samples", "Theorem F"),
        Cell("proved", "kr-proposition-y", "Y and Lemma 5", r"$\sqrt{\log(nT)/m}$", _WIDTH),
    ),
    "a vector at\nevery position": (
        Cell("proved", "kr-lemma-3-vector", "Lemma 3, vectors", _WIDTH, _WIDTH),
        Cell("measured", "kr-remark-y-vector", "three tasks", "$m^{-3/4}$ or faster", "$m^{-3/4}$ or faster"),
        Cell("proved", "kr-theorem-a-vector", "Theorem A, vectors", "up to the misfit", "to the misfit"),
        Cell("proved", "kr-theorem-f-vector", "Theorem F, vectors", "tanh, paired start", "Theorem F"),
        Cell(
            "proved", "kr-lemma-5-vector", "Lemma 5, vectors", r"$\sqrt{k/m}$, root mean sq.", r"$\sqrt{k/m}$"
        ),
    ),
    "a shared layer\nof $p$ units": (
        Cell(
            "proved", "kr-theorem-g-dense", "Theorem G", r"$p^{-1/2}$ for $p\leq m$", r"$p^{-1/2}$, $p\leq m$"
        ),
        Cell("measured", "kr-remark-w-dense", "one law of data", "$1/m$ for $p=m$", "$1/m$, $p=m$"),
        Cell("proved", "kr-proposition-x", "Theorem A and X", "up to the misfit", "to the misfit"),
        Cell("proved", "kr-theorem-h-dense", "Theorem H", "mirrored start", "Theorem H"),
        Cell(
            "proved",
            "kr-proposition-w-dense-kernel",
            "Proposition W",
            "$p^{-1/2}$; not by attention",
            "not by attention",
        ),
    ),
    "two layers, a stream\nof fixed width": (
        Cell(
            "proved false",
            "kr-theorem-z-bottleneck",
            "Theorem Z",
            "a floor at every $m$",
            "a floor at every $m$",
        ),
        Cell(
            "measured",
            "kr-remark-z-widths",
            "stream of 8",
            "slower than $m^{-0.7}$",
            "slower than $m^{-0.7}$",
        ),
        Cell("proved", "kr-theorem-a", "Theorem A", "misfit need not shrink", "misfit may stay"),
        Cell("open", None, "none that more", "heads improve", ""),
        Cell("open", None, "", "", ""),
    ),
    "two layers, a stream\nas wide as the layer": (
        Cell(
            "proved",
            "kr-theorem-z-wide",
            "Theorem Z, wide",
            r"$m^{-1/2}\log m$, fixed $T$",
            "$m^{-1/2}$, fixed $T$",
        ),
        Cell("measured", "kr-remark-z-widths", "four tokens", "$1/m$ or faster", "$1/m$ or faster"),
        Cell("proved", "kr-theorem-a-layers", "A, two layers", "misfit bounded ahead", "to the misfit"),
        Cell("proved", "kr-theorem-a-layers", "A, two layers", "tiny labels only", "tiny labels"),
        Cell("open", None, "", "", ""),
    ),
}


def draw(axis: Axes, brief: bool = False) -> None:
    """The table ``COVERAGE``, rows from top to bottom, a box a cell.

    Args:
        brief: with a word or two a cell, for a small figure, in place of the statement's name, rate and hypothesis.
    """
    rows, columns = len(COVERAGE), len(COLUMNS)
    axis.set(xlim=(-1.3, columns), ylim=(rows, -0.7))
    axis.axis("off")
    for x, title in enumerate(COLUMNS):
        axis.text(x + 0.5, -0.35, title, ha="center", va="center", fontsize=6.5)
    for y, (name, cells) in enumerate(COVERAGE.items()):
        axis.text(-1.28, y + 0.5, name, ha="left", va="center", fontsize=6.5)
        for x, cell in enumerate(cells):
            colour = figures.COLOURS[WORDS[cell.word][1]]
            face = "white" if cell.word == "open" else colour
            for fill in ({"fc": face, "alpha": 0.16}, {"fc": "none", "ec": colour, "lw": 0.9}):
                axis.add_patch(Rectangle((x + 0.03, y + 0.05), 0.94, 0.9, **fill))
            lines = [cell.brief] if brief else [cell.name, cell.note]
            said = [line for line in lines if line]
            heights = [0.5 + (k - len(said) / 2) * (0.38 if brief else 0.28) for k in range(len(said) + 1)]
            style = {"ha": "center", "va": "center"}
            axis.text(x + 0.5, y + heights[0], cell.word, color=colour, fontsize=7, weight="bold", **style)
            for height, line in zip(heights[1:], said, strict=True):
                axis.text(x + 0.5, y + height, line, fontsize=5.8, **style)
