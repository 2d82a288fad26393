"""Experiments of the chapters on preconditioned attention."""
