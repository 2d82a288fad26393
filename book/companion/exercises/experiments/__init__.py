"""Exercises of the chapters on experiments, a module a chapter."""
