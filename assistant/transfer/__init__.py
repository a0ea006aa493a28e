"""Export and import of what a box has learned; begin with `contents` and `bring`."""
