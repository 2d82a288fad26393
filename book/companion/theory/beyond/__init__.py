"""Architectures beyond the paper's theory, in one small language: what it is about a linear model that they share, and what they do not.

``heads`` is the paper's model, written in this language to compare with; ``dense`` has one shared hidden layer over all heads;
``sequence`` one output a position; ``deep`` two attention layers. ``tangents``, ``directions``, ``teachers`` and ``training`` treat all alike.

Throughout, unless a function says otherwise:

    X: tokens; q queries; y labels.
    model: the architecture; m its number of heads, even.
    phi: its parameters; phi0 the start, and the centre of a neighbourhood.
    rho: radii of the blocks.
    generator: source of randomness.
    dtype: of the result.
"""
