"""The demo without devices: scenes, spoken sentences and a player that writes files."""
