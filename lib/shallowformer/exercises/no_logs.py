"""Exercises of the chapter *No log n, no log m, no d*."""
