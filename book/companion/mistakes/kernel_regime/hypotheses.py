"""Mistakes planted in *What each hypothesis is for: the lemmas of the kernel regime*: every hypothesis is put back."""

from shallowformer.verify.mistakes import PUT_BACK, Mistake

#: Statement → its controls.
CONTROLS = {
    "kr-remark-1": "rank no-logits scale tied few-keys",
    "kr-remark-2": "mixing",
    "kr-fact-1": "any-sum any-sign",
    "kr-fact-1-sharp": "any-sum any-sign one-token",
    "kr-fact-2": "long-token any-sum any-sign saturated maximum-norm",
    "kr-fact-3": "long-tokens maximum-norm any-sign any-sum",
    "kr-lemma-1": "kink moving-query shared",
    "kr-remark-4": "long-tokens long-query",
    "kr-remark-5": "long-token sum",
    "kr-lemma-2": "long-token long-query long-readin kink",
    "kr-remark-3": "long-token long-query long-readin kink",
    "kr-lemma-2-skewness": "outside-the-ball signed",
    "kr-lemma-2-hessian": "long-tokens long-query long-readin one-token",
    "kr-remark-6": "equal-readouts two-readins two-attentions odd-head",
    "kr-remark-6-odd": "another-start second-step general-move rough",
    "kr-fact-4": "off-centre larger-variance dependent another-law",
    "kr-definition-1": "longer",
    "kr-remark-7": "off-the-event off-the-neighbourhood",
    "kr-lemma-3": "long-tokens long-query large-readouts off-the-event off-the-neighbourhood kink",
    "kr-lemma-3-sharp": "long-tokens long-query large-readouts off-the-neighbourhood kink",
    "kr-lemma-3-pairs": "alike equal-readouts two-readins long-token long-query off-the-neighbourhood rough-activation",
    "kr-lemma-4": "another-law another-attention dependent-blocks large-readouts copies",
    "kr-lemma-4-rate": "copies input-that-knows another-law long-token long-query large-readouts",
    "kr-remark-8": "no-query equal-tokens flat still no-readin copies",
    "kr-remark-9": "large-readouts",
    "kr-lemma-5-appendix": "copies mapping-that-knows inputs-that-know mean-square no-partners long-token long-query wild-heads",
    "kr-lemma-5-sharp": "copies mapping-that-knows inputs-that-know mean-square no-partners long-token long-query wild-heads",
    "kr-lemma-5-rms": "copies mapping-that-knows inputs-that-know no-partners mean-square long-token long-query",
    "kr-remark-10": "longer-tokens sum uneven-copies another-last-token",
    "kr-lemma-6": "unpaired off-the-event off-the-neighbourhood large-readouts long-tokens long-query longer-heads",
}

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    f"{label}/{part}": [PUT_BACK] for label, parts in CONTROLS.items() for part in parts.split()
}
