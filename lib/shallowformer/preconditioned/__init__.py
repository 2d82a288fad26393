"""Softmax attention learns linear regression: equivalence with matrix factorisation, landscape, preconditioned descent, finite contexts.

Goel, Soltanolkotabi, Bartlett 2026 (arXiv 2603.01514), in our reading: only its abstracts were available. ``problems`` draws the data,
``gradients`` is the model on finite contexts and ``limit`` on infinite ones, ``noise`` and ``bias`` what lies between; ``factorisation`` and
``landscape`` are the problem that the limit becomes, ``bounds`` what theorems say of it; ``algorithm`` puts it together.
"""
