"""What is run for the contest of four theories on one layer."""
