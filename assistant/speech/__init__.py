"""Text to what is spoken, in six languages.

Begin with `clauses` (text to speakable clauses as it arrives), `speakable` (written to spoken
words) and `catalogue` (Hearth's own sentences, in `locales`). `output` speaks, `identify` tells
which language a sentence is in.
"""
