"""Gemini: Live sessions, plain requests, and MCP tools as function declarations.

Start reading at `models`, the table of models with their capabilities and prices. `live` runs a
session, and `once` makes plain requests.
"""
