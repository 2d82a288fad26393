"""Attention as token selection: which token one-layer attention picks, in which direction its weights grow, and how fast.

Vasudeva, Deora, Thrampoulidis 2024 (arXiv 2402.05738). ``instances`` holds the data, ``svm`` the direction, ``gaps`` and ``descent`` the
exact simulator in log form, ``joint`` training with the decoder, ``constants``, ``bounds``, ``rates``, ``joint_conditions`` and ``joint_bounds`` what the theorems say.
"""
