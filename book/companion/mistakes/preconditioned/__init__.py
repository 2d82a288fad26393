"""Mistakes planted in the chapters on token selection, a file a chapter."""
