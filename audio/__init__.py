"""Sound in, sound out. Knows nothing of the assistant or of the outside world."""
