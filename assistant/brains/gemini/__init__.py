"""The Gemini Live brain.

Start reading at `brain`. A `turn` streams audio over a `connection`, which `session_manager` keeps
open according to the rules in `lifecycle`. `event_reader` assigns events to turns, and `calls`
handles tool results and costs.
"""
