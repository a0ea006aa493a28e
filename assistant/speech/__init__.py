"""Text to speech, with rules for reading six languages aloud.

Start with `clauses`, which splits an answer into clauses as it arrives, and `speakable`, which
rewrites a clause the way it is read aloud. `catalogue` provides Hearth's own sentences, which are
stored in `locales`. `output` plays the speech, and `identify` detects a sentence's language.
"""
