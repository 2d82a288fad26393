"""Of the room ``token_selection``: what one chapter uses."""
