"""Hearth as a Model Context Protocol server: `server` serves `/mcp`, `sign_in` authenticates
clients."""
