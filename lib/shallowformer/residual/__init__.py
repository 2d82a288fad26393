"""Gradient descent on a complete one-layer Transformer with residual connections: when it converges linearly, and what a residual does for that.

Qin, Zhou, Jiang, Zhu 2025 (arXiv 2506.05249). ``model`` and ``gradients`` are the network and its six gradients, ``bounds`` and ``spectra`` what the
proof needs of them, ``admissible`` the theorems' constants, ``curvature`` the step,
``derivatives``, ``tangent``, ``path_length`` and ``certificates`` the sharper constants and theorems of the book, ``descent`` runs with everything recorded.
"""
