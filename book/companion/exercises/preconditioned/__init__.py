"""Checks of the exercises on preconditioned attention, a module a chapter."""
