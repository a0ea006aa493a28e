"""Removes our own voice from what the microphone hears."""
