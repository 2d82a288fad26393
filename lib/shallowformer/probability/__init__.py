"""Gaussian norms and tails, Orlicz norms, cumulants: probability that knows nothing of Transformers.

Throughout, unless a function says otherwise:

    d: dimension, at least 1.
    N: number of vectors, at least 1.
    r: threshold, at least 0.
    lam: λ of a moment-generating function, above 0 and at most 30.
"""
