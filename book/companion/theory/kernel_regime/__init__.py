"""Of the room ``kernel_regime``: what one chapter uses."""
