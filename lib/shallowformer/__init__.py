"""Gradient descent on shallow Transformers: the mathematics of four papers as checked, executable statements.

What all papers share is in ``softmax``, ``activations``, ``data``, ``queries``, ``probability`` and ``training``; each paper has a room of its
own (``kernel_regime``, ``token_selection``, ``residual``, ``preconditioned``), ``beyond`` holds models that the theory leaves out. ``verify``: how a claim is put to the test. ``experiments``:
runs that take longer than a chapter may. ``exercises``: checks for students' functions. ``figures``, ``interactive``, ``svg``: pictures.
"""

__version__ = "0.1.0"
