"""What programs ask whoever is in the room, and the talks that they begin."""
