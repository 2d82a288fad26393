"""What the text says beside a true statement does not hold, in words: by the check that refutes it, and where the check has no finding."""

REFUTED = {
    "kr-lemma-2-frobenius/inference": "that the Frobenius norm of the third cumulant is at most its operator norm",
    "kr-lemma-2-sharp/naive": "the bound with R in the place of max(1, R)",
    "kr-lemma-2-third/naive": "the bound with R in the place of max(1, R)",
    "kr-lemma-5-optimal/lowered": "the constant 1.1 in the place of √2",
    "kr-proposition-1-noise/gram": "the Gram form for single samples",
    "kr-proposition-1-online/all-samples": "the bound for the loss over all samples",
    "kr-remark-10/longer": "that the attention error of four tokens is at most that of two",
    "rt-lemma-w-path/longer": "that a longer step pays for its path as well",
    "kr-theorem-a-step/condition": "part 2 without its condition on τ",
}
