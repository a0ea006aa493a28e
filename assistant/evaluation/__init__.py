"""`hearth eval`: spoken commands in the simulated house. Start with `trial`."""
