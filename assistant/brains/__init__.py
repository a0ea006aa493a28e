"""The understanding of a sentence: by Gemini, Home Assistant's engine, and Hearth's own grammar.

Begin with `fallback` (which brain is asked, and what happens when one fails; `slots` holds each
brain's place) and the interface in `domain.brain`. `gemini` keeps a live session, `gemini_once`
asks in one request, `home_assistant` and `offline` need no cloud, `prefer_local` puts those first,
`briefing` writes the instruction.
"""
