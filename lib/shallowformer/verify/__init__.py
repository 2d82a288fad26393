"""How a claim is put to the test: five kinds of claims, each with a check that can fail; a sixth only repeats what is stored.

``identity``, ``inequality``, ``rate``, ``probability``, ``enclosure``, and ``control`` for a hypothesis, declare a claim, run its check, show a verdict card, and raise
``ClaimFailed`` when the verdict is not the expected one, so that the cell, the chapter and the build fail with it.
The chapter *Put a claim of your own to the test* is the worked example.

All take ``claim``, an id, the label of the statement on the page; ``because``, what their tolerance, rounding or resolution is derived
from; ``support``: ``proved``, ``numerical`` or ``open``; and ``finding``, a sentence for scoreboard and errata.
"""

from shallowformer.verify.check import Check, putting, settle
from shallowformer.verify.control import Control
from shallowformer.verify.enclosure import Enclosure
from shallowformer.verify.identity import Identity
from shallowformer.verify.inequality import Inequality, batch, sides
from shallowformer.verify.probability import Probability
from shallowformer.verify.rate import Rate
from shallowformer.verify.regions import ball, free, interval, logits, sphere, tokens
from shallowformer.verify.search import SearchResult, maximise
from shallowformer.verify.sets import AdmissibleSet, product
from shallowformer.verify.verdict import ClaimFailed, Verdict

__all__ = [
    "AdmissibleSet", "Check", "ClaimFailed", "Control", "Enclosure", "Identity", "Inequality", "Probability", "Rate", "SearchResult", "Verdict", "ball", "batch", "control",
    "enclosure", "free", "identity", "inequality", "interval", "logits", "maximise", "probability", "product", "rate", "settle", "sides",
    "sphere", "tokens",
]  # fmt: skip

identity, inequality, rate = putting(Identity), putting(Inequality), putting(Rate)
probability, enclosure, control = putting(Probability), putting(Enclosure), putting(Control)
