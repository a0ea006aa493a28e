"""`hearth eval`: spoken commands in the simulated house. Begin with `trial`."""
