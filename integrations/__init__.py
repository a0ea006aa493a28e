"""Clients of the outside world. They know nothing of sound or of the assistant."""
