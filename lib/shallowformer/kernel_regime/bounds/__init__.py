"""The lemmas' bounds, the paper's and sharper ones: smoothness, linearisation, approximation, envelopes (Lemmas 2, 3, 5, 6)."""
