"""Gemini: Live sessions, plain requests, and MCP tools as function declarations.

`models` is the table of models with their capabilities and prices. `declarations` converts an MCP
tool's schema, using `subset` and `merge`. `setup` builds a session's configuration, `live` runs a
session, and `events` defines its events. `once` makes plain requests, and `faults` classifies
errors.
"""
