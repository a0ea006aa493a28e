"""`hearth eval`: spoken commands against an embedded house; begin with `trial`."""
