"""Tables of how numbers, units and signs are said, one module per language (see `table`)."""
