"""Loops that numba compiles, a module a model, and what they are made of: ``rows``. Arrays in, arrays out; nothing here knows a room.

Tests check the signatures of all other modules as they are called; here there is nothing to wrap.
"""
