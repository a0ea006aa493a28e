"""The demonstration: made speech in a simulated house."""
