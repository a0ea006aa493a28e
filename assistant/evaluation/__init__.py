"""`hearth eval`: spoken commands against the simulated house; begin with `trial`."""
