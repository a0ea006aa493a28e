"""Text to speech, with rules for reading six languages aloud.

Start with `clauses`, which splits an answer into clauses as it arrives, and `speakable`, which
rewrites a clause the way it is read aloud.
"""
