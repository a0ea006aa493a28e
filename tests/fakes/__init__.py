"""Fakes that many tests share; where a test can use the real class it does."""
