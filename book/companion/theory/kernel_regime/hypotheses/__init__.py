"""What hypotheses of the kernel regime are for: a module a group of statements, a function a control."""
