"""The shallow Transformer, its parameters, its gradients and its loss (facts, Remarks 1 to 6, Lemma 1)."""
