"""Hearth as a Wyoming server: `server` accepts connections, `session` serves one of them."""
