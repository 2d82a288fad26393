"""Exercises of the chapter *The whole run, known before the first step*."""
