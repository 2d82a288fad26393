"""The tangent kernel and what it can represent: transportation mappings, targets, labels (Lemma 4, Remarks 8 to 10)."""
