"""Mistakes planted in *What each hypothesis is for: beyond the model*: every hypothesis is put back."""

from shallowformer.verify.mistakes import PUT_BACK, Mistake

#: Statement → its controls.
CONTROLS = {
    "kr-theorem-a-vector": "long-token same-for-outputs same-for-pairs not-fair long-step outside not-convex one-sample",
    "kr-theorem-f-vector": "uneven equal-readouts other-activation stopped first-sample",
    "kr-theorem-g-dense": "long-token loud-readouts outside kinked equal-entries",
    "kr-theorem-h-dense": "uneven equal-readouts long-data other-activation stopped one-sample",
    "kr-theorem-z-bottleneck": "copied widening both along-the-stream unread null-token loud-writers",
    "kr-theorem-z-wide": "narrow long-tokens far-out chosen-later",
    "kr-theorem-z-kernel": "narrow few-heads chosen-later long-token signs",
    "kr-theorem-a-layers": "long-step out-of-reach uneven",
}

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    f"{label}/{part}": [PUT_BACK] for label, parts in CONTROLS.items() for part in parts.split()
}
