"""Mathematics that serves one chapter, a folder a room of the package; what a second chapter uses moves there."""
