"""The questions of `hearth setup`, and the file that it writes; begin with `conversation`."""
