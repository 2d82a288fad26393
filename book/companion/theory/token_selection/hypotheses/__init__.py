"""Instances that lack one hypothesis of a statement, and their neighbours that have it."""
