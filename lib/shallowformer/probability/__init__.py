"""Gaussian norms and tails, Orlicz norms, cumulants: probability that knows nothing of Transformers."""
