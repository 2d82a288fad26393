"""Gradient descent on any model: the descent itself, step sizes, projections, comparators, Theorem A, checkpoints.

Nothing here knows what a model computes. ``descent.Objective`` says what descent asks of one, ``self_bounding.Tangent`` what Theorem A asks.
``autograd`` answers both for any differentiable function; a room with closed forms answers them itself.
"""
