"""Instances without a hypothesis of a theorem of the kernel regime, where its conclusion fails, and with it, where it holds."""
