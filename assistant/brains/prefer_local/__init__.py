"""`brain.prefer_local`: sentences that the home knows by itself stay in the home."""

from assistant.brains.prefer_local.brain import PreferLocalBrain

__all__ = ["PreferLocalBrain"]
