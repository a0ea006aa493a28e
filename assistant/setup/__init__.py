"""Questions of `hearth setup`, and the file that it writes. Begin with `conversation`."""
