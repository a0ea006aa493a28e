"""Hearth as a Wyoming server: `server` accepts connections, and `session` serves each of them."""
