"""Softmax attention learns linear regression: equivalence with matrix factorisation, landscape, preconditioned descent, finite contexts.

Goel, Soltanolkotabi, Bartlett 2026 (arXiv 2603.01514), in our reading: only its abstracts were available. ``problems`` draws the data,
``gradients`` is the model on finite contexts and ``limit`` on infinite ones, ``noise`` and ``bias`` what lies between; ``factorisation`` and
``landscape`` are the problem that the limit becomes, ``bounds`` what theorems say of it; ``algorithm`` puts it together.

Throughout, unless a function says otherwise:

    problem: Σ, the covariance of covariates, and M, the matrix of the regression; target M̃ = MΣ^{1/2} and s its singular values, above 0.
    X, Y: covariates and responses of a context, n tokens; queries x.
    d, m: dimensions of a covariate and of a response.
    A, B: value matrix and key-query matrix; U, V the factors that they become.
    lam: weight λ of the balancing penalty, at least 0.
    sigma: σ, size of the noise or of a start, at least 0.
    eta: step size η, above 0.
    generator: source of randomness.
"""
