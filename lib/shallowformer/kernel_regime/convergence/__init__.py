"""The theorems: Theorem 1 and its proof, self-bounding, no logarithms, certificates (Theorem 1, Proposition 1, Theorems A to E)."""
