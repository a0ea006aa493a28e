"""Text to speech, in six languages.

Begin with `clauses` (splits text into speakable clauses as it arrives), `speakable` (turns written
into spoken words) and `catalogue` (Hearth's own sentences, in `locales`). `output` speaks, and
`identify` detects the language of a sentence.
"""
