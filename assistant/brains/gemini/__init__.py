"""The Gemini Live brain.

Start reading at `brain`. A `turn` streams audio over a `connection`, which `session_manager` keeps
open according to the rules in `lifecycle`.
"""
