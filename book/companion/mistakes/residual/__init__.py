"""Mistakes planted in the chapters on residual connections, a file a chapter."""
