"""Hearth as an MCP server: `server` serves `/mcp`, and `sign_in` authenticates clients."""
