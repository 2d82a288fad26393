"""Of the room ``preconditioned``: what one chapter uses."""
