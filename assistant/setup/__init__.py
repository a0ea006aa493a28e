"""What `hearth setup` asks, decides and writes; the terminal itself is in `assistant.cli`."""
