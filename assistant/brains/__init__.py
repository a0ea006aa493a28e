"""Brains, which understand sentences with Gemini, Home Assistant's engine or Hearth's own grammar.

Start reading at `domain.brain`, which defines the interface, and `fallback`, which chooses the
brain and handles failures.
"""
