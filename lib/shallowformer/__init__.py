"""Gradient descent on shallow Transformers: the mathematics of four papers as checked, executable statements.

Rooms: ``softmax`` (calculus that all papers share), one package per paper (``kernel_regime``, ...),
``verify`` (how a claim is put to the test), ``exercises`` (checks for students' functions), ``figures`` (house style).
"""

__version__ = "0.1.0"
