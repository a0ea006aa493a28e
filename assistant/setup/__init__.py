"""`hearth setup`: its questions and the configuration file it writes. Start with `conversation`."""
