"""Text to speech in six languages.

Start with `clauses` (splits an answer into clauses as it arrives), `speakable` (rewrites a clause
the way it is read aloud) and `catalogue` (Hearth's own sentences, which are in `locales`). `output`
plays the speech, and `identify` detects a sentence's language.
"""
