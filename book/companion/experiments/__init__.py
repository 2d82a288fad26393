"""What is run and stored: a module an experiment, which its ``EXPERIMENT`` describes."""
