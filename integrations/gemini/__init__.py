"""Gemini: Live sessions, plain requests, and tools as function declarations.

`models` is the table of models with their abilities and prices; `declarations` converts an MCP
tool's schema (with `subset` and `merge`); `setup` builds a session's set-up; `live` is one session
and `events` what comes out of it; `once` makes plain requests; `faults` names what went wrong.
"""
