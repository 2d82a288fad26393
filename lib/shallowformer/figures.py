"""House style of the figures: one palette, one set of sizes, vector output that is the same on every run."""

import matplotlib as mpl
import seaborn as sns

#: Width of the text column in inches; figures are this wide, or half of it.
WIDTH = 7.0

#: Colours by role. They differ in lightness as well as in hue, so they survive print and colour-blindness.
COLOURS = {
    "truth": "#0f4c81",  # what is measured or proved sharp
    "claim": "#c8553d",  # what a paper states
    "other": "#6a8d73",  # a second measured quantity
    "accent": "#e0a030",  # the point to look at
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
