"""The Gemini Live brain.

Begin with `brain`; one `turn` streams over a `connection` that `session_manager` keeps open by the
pure rules of `lifecycle`; `event_reader` assigns events to turns; `calls` has results and costs.
"""
