"""Export and import of what a device has learned; begin with `contents` and `bring`."""
