"""What is run on token selection."""
