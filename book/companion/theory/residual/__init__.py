"""Of the room ``residual``: what one chapter uses."""
