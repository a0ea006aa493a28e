"""What the HTTP interface and the console can do with this box; begin with `box`."""
