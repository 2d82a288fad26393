"""Runs that take longer than a chapter may: their results are stored in ``results/``, and chapters recompute a part of them."""
