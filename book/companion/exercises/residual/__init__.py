"""Checks of the exercises on residual connections, a module a chapter."""
