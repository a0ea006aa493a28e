"""The box for the HTTP interface and the console; begin with `box`."""
