"""The operations behind the HTTP interface and the console. Begin with `box`."""
