"""Checks of the exercises on token selection, a module a chapter."""
