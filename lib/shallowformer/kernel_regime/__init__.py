"""Arda, Cayci, Eryilmaz 2026 (arXiv 2601.16514): gradient descent on a shallow Transformer in the kernel regime."""
