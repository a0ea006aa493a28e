"""Wyoming: `server` accepts connections, `session` is one, as a satellite or speech service."""
