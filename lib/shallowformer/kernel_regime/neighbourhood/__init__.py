"""Where training stays: the neighbourhood of the initialisation, the norm event, ways to the boundary (Definitions 1 and 2, Fact 4)."""
