"""Fakes that many tests share; tests use the real class if they can."""
