"""Gradient descent on shallow Transformers: the mathematics of four papers as checked, executable statements.

What all papers share is in ``softmax``, ``activations``, ``data``, ``queries``, ``probability`` and ``training``; each paper has a room of its
own (``kernel_regime``, ``token_selection``, ``residual``, ``preconditioned``). ``real``: measured data, pretrained weights. ``verify``: how a claim is put to the test. ``experiments``:
the engine of what takes longer than a chapter may. ``exercises``: how students' answers are judged. ``figures``, ``interactive``, ``svg``: pictures.
What one chapter alone uses is in the package ``companion`` beside this one.
"""

__version__ = "0.1.0"
