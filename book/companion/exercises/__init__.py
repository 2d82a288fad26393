"""Checks for exercises, a module a chapter: each takes the reader's function, tries it, and says what is wrong without giving the answer away.

An arrow at the end of a check's sentence says what the function takes and returns; without one the answer is a value.
"""
