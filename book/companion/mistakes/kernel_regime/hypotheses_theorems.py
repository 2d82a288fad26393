"""Mistakes planted in *What each hypothesis is for: the theorems of the kernel regime*: every hypothesis is put back."""

from shallowformer.verify.mistakes import PUT_BACK, Mistake

#: Statement → its controls.
CONTROLS = {
    "kr-theorem-1": "long-token long-query kinks no-twins not-normal copies other-labels seen-inputs near-fence no-projection only-readouts flat",
    "kr-theorem-1-balance": "outside single-sample",
    "kr-theorem-1-features": "long-head long-tokens long-query far-iterate far-comparator loud-start kinks",
    "kr-theorem-1-gradient": "long-tokens long-query loud-start far logistic off-the-event other-labels",
    "kr-theorem-1-informal": "only-readouts flat",
    "kr-theorem-1-projection": "outside two-points rough",
    "kr-theorem-1-step-size": "curved beyond outside two-points",
    "kr-proposition-1": "not-uniform repeated other-labels no-twins not-normal copies seen-inputs near-fence no-projection long-token long-query kinks",
    "kr-proposition-1-noise": "not-uniform one-draw without-replacement",
    "kr-theorem-a": "long-step outside not-convex first-misfit first-slope one-sample",
    "kr-theorem-a-drift": "outside not-convex one-sample projected-step another-slope",
    "kr-theorem-a-step": "early outside",
    "kr-theorem-a-sgd": "repeated not-uniform gram long-step outside first-misfit bump",
    "kr-theorem-b": "seen-inputs seen-mapping no-twins copies kinks long-token far-reading wide-start",
    "kr-theorem-c": "camps-along-the-head long-token long-query copies wide-heads other-activation kinks",
    "kr-theorem-d": "jumping-curvature equal-readouts unpaired long-token long-query long-step",
    "kr-theorem-e": "far-comparator equal-readouts unpaired jumping-curvature kinks long-token long-query no-projection long-step long-horizon",
    "kr-theorem-f-identity": "uneven equal-readouts projected one-sample",
    "kr-theorem-f": "uneven loud other-activation stopped one-sample",
    "kr-proposition-a": "different-tokens unequal another-query far-token small-gap",
    "kr-proposition-2": "other-labels near-fence no-twins tiny-step above-the-cutoff",
    "kr-proposition-2-cutoff": "at-the-edge flatter silence long-tokens line",
    "kr-proposition-2-contrast": "wide seen",
    "kr-proposition-2-numbers": "ring-buffer packed",
    "kr-proposition-2-forwards": "mixing last-token",
}

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    f"{label}/{part}": [PUT_BACK] for label, parts in CONTROLS.items() for part in parts.split()
}
