"""The box as programs see it, whichever interface they use."""
