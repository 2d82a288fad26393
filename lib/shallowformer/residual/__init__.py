"""Gradient descent on a complete one-layer Transformer with residual connections: when it converges linearly, and what a residual does for that.

Qin, Zhou, Jiang, Zhu 2025 (arXiv 2506.05249). ``model`` and ``gradients`` are the network and its six gradients, ``bounds`` and ``spectra`` what the
proof needs of them, ``curvature`` the step, ``descent`` runs with everything recorded. The theorems' constants, ``admissible``, and the sharper
ones of the book, ``derivatives``, ``tangent``, ``path_length`` and ``certificates``, are in ``companion.theory``.

Throughout, unless a function says otherwise:

    X: tokens of P sequences of N tokens, "P N d".
    Y: targets.
    theta: parameters θ, the six blocks; of a neighbourhood the centre, of a run the start θ⁽⁰⁾.
    setting: coefficients of the residual connections, activation, temperature.
    mu: step size μ, above 0.
    delta: probability of failure, in (0, 1).
    generator: source of randomness.
"""
