"""House style of the figures: one palette, one set of sizes, vector output that is the same on every run."""

from collections.abc import Iterable, Mapping

import matplotlib as mpl
import seaborn as sns
from matplotlib.axes import Axes

#: Width of the text column in inches; figures are this wide, or half of it.
WIDTH = 7.0

#: Colours by role. They differ in lightness as well as in hue, so they survive print and colour-blindness.
COLOURS = {
    "truth": "#0f4c81",  # what is measured or proved sharp
    "claim": "#c8553d",  # what a paper states
    "other": "#6a8d73",  # a second measured quantity
    "accent": "#c78312",  # the point to look at
    "quiet": "#8a8f98",  # reference lines, backgrounds
}

#: Sequential colour map of heat maps.
SEQUENTIAL = "cividis"


def use_house_style() -> None:
    """Set matplotlib's defaults to the house style; in a notebook, draw figures as SVG.

    Deterministic: element ids in the SVG come from a fixed salt, and no date is written.
    """
    sns.set_theme(context="notebook", style="ticks", palette=list(COLOURS.values()), font_scale=0.85)
    mpl.rcParams.update(
        {
            "figure.figsize": (WIDTH, 0.45 * WIDTH),
            "figure.dpi": 100,
            "figure.constrained_layout.use": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.25,
            "grid.linewidth": 0.6,
            "lines.linewidth": 1.8,
            "legend.frameon": False,
            "image.cmap": SEQUENTIAL,
            "svg.hashsalt": "shallowformer",
            "svg.fonttype": "path",
        }
    )
    try:
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    from IPython import get_ipython

    if get_ipython() is not None:
        set_matplotlib_formats("svg", metadata={"Date": None})


def flow(
    axis: Axes,
    boxes: Mapping[str, tuple[float, float, str]],
    arrows: Iterable[tuple[str, str, float]],
) -> None:
    """Draw words in boxes and arrows between them, on an axis without ticks.

    Args:
        axis: is left with limits from 0 to 1 both ways.
        boxes: words → where their middle stands, between 0 and 1, and the colour of the outline, a name of ``COLOURS``.
        arrows: words of the box an arrow leaves, of the one it meets, and how far it bends: 0 is straight, 0.3 a third of its
            length to the right of the way.
    """
    arrows = list(arrows)
    for words, (_, _, colour) in boxes.items():
        if colour not in COLOURS:
            raise ValueError(
                f"the colour of box {words!r} must be one of {', '.join(COLOURS)}, got {colour!r}"
            )
    if missing := [end for arrow in arrows for end in arrow[:2] if end not in boxes]:
        raise ValueError(f"an arrow must join two of the boxes {list(boxes)}, got an end {missing[0]!r}")
    axis.set(xlim=(0, 1), ylim=(0, 1))
    axis.axis("off")
    drawn = {
        words: axis.text(
            x,
            y,
            words,
            ha="center",
            va="center",
            bbox={"boxstyle": "round,pad=0.4", "fc": "white", "ec": COLOURS[colour], "lw": 1.4},
        )
        for words, (x, y, colour) in boxes.items()
    }
    for start, end, bend in arrows:
        axis.annotate(
            "",
            xy=boxes[end][:2],
            xytext=boxes[start][:2],
            arrowprops={
                "arrowstyle": "-|>",
                "color": COLOURS["quiet"],
                "connectionstyle": f"arc3,rad={bend}",
                "patchA": drawn[start].get_bbox_patch(),
                "patchB": drawn[end].get_bbox_patch(),
                "shrinkA": 0,
                "shrinkB": 2,
            },
        )
