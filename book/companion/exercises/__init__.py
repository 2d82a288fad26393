"""Checks for exercises, a module a chapter: each takes the reader's function, tries it, and says what is wrong without giving the answer away."""
