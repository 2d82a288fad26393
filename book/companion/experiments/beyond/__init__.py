"""What is run for the models that the theory leaves out."""
