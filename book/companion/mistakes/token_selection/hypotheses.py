"""Mistakes planted in *What each hypothesis is for: token selection*: every hypothesis is put back."""

from shallowformer.verify.mistakes import PUT_BACK

#: Statement → its controls.
CONTROLS = {
    "ts-definition-1-svm": "opposite",
    "ts-definition-1-path": "opposite-loss turned-round longer",
    "ts-definition-a1-needed": "exchanged equal-scores far-start summable",
    "ts-lemma-d": "tied two-norms",
    "ts-theorem-d": "far-start long-step other-norm constant-steps finite-path another-limit tied",
    "ts-lemma-2": "long-start wide-gaussian same-entries",
    "ts-lemma-3": "overlap neglected-start long-step unequal-scores",
    "ts-lemma-4": "no-separator unequal-scores",
    "ts-lemma-5": "unequal-scores",
    "ts-lemma-6": "low-dimension short-signal noise-along-means means-not-orthogonal",
    "ts-lemma-7": "lost-sample near-the-origin unequal-scores",
    "ts-lemma-7-sharp": "lost-sample unequal-scores",
    "ts-theorem-1": "lost unequal-scores",
    "ts-theorem-5": "lost unequal-scores",
    "ts-theorem-6": "lost unequal-scores",
    "ts-theorem-7": "lost unequal-scores",
    "ts-theorem-b": "touching lost doubling unequal-scores",
    "ts-theorem-c": "lost touching unequal-scores",
    "ts-lemma-1": "lost unequal-scores plain-descent no-query",
    "ts-lemma-8": "longer-tokens",
    "ts-lemma-1-rates": "touching lost doubling long-steps unequal-scores",
    "ts-lemma-8-floats": "toward-zero flush-to-zero faithful-exponential as-complement small-best-score unequal-scores",
    "ts-lemma-9": "copied-tokens sparse-coordinates one-direction shorter-optimal",
    "ts-lemma-10": "decoder attention-moves equal-lengths",
    "ts-lemma-11": "shorter zero-query tokens-overlap long-step other-start",
    "ts-lemma-12": "no-margin less-than-half",
    "ts-lemma-13": "other-start logistic",
    "ts-theorem-2-attention": "long-steps overlap other-start",
    "ts-theorem-2": "long-step overlap other-start",
    "ts-theorem-3": "shorter overlap",
    "ts-theorem-4": "shorter overlap",
    "ts-theorem-4-full": "prefers-another no-margin overlap",
    "ts-proposition-l": "overlapping-tokens other-token one-step two-speeds",
    "ts-proposition-p": "unequal-scores negative-entry zero-pair doubling summable",
    "ts-proposition-r": "unequal-scores infeasible short-path between",
}

MISTAKES = {f"{label}/{name}": [PUT_BACK] for label, names in CONTROLS.items() for name in names.split()}
