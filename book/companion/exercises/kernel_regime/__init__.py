"""Exercises of the chapters on the kernel regime, a module a chapter."""
