"""Gemini: Live sessions, plain requests, and tools as function declarations.

`models` is the table of models with their capabilities and prices; `declarations` converts an MCP
tool's schema (with `subset` and `merge`); `setup` builds a session's configuration; `live` is one
session and `events` are its events; `once` makes plain requests; `faults` classifies errors.
"""
