"""What is run on residual connections."""
