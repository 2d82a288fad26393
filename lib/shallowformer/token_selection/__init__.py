"""Attention as token selection: which token one-layer attention picks, in which direction its weights grow, and how fast.

Vasudeva, Deora, Thrampoulidis 2024 (arXiv 2402.05738). ``instances`` holds the data, ``svm`` the direction, ``gaps`` and ``descent`` the
exact simulator in log form, ``constants``, ``bounds`` and ``rates`` what the theorems say. Training with the decoder, ``joint``, is in ``companion.theory``.

Throughout, unless a function says otherwise:

    instance: the data, n sequences of T tokens with labels y, and the decoder u.
    X, q: tokens and queries.
    W: key-query matrix; start the norm ‖W⁽⁰⁾‖.
    best_norm: ‖W_mm‖ of the solution of (W-SVM), above 0.
    B: largest norm of a token, above 0.
    eta: step size η, above 0; t, steps numbers of steps.
    rho: the least cosine ρ_*, above 0.
    generator: source of randomness.
"""
