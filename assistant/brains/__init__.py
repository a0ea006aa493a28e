"""Brains, which understand sentences with Gemini, Home Assistant's engine or Hearth's own grammar.

Start reading at `domain.brain` (the interface) and `fallback`, which chooses the brain and handles
failures. `slots` contains the circuit breakers and the budget. `gemini` keeps a live session, and
`gemini_once` sends single requests; `briefing` writes the instruction for both. `home_assistant`
and `offline` need no cloud. `prefer_local` lets Home Assistant's engine try each sentence before
the model.
"""
