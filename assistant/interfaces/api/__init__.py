"""The operations behind the HTTP interface and the console. Start with `box`."""
