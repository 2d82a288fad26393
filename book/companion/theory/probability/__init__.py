"""Of the room ``probability``: what one chapter uses."""
