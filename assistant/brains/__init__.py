"""Brains: they understand a sentence by Gemini, Home Assistant's engine or Hearth's own grammar.

Begin with `fallback` (which brain is asked and what happens if one fails; `slots` holds each
brain's place) and the interface in `domain.brain`. `gemini` keeps a live session, `gemini_once`
asks in single requests, `home_assistant` and `offline` need no cloud, `prefer_local` puts those
first, and `briefing` writes the instruction.
"""
