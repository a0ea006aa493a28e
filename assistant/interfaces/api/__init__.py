"""The device as the HTTP interface and the console see it; begin with `box`."""
