"""The `hearth` program: one module per command, listed in `commands`.

`entry` starts first. It lets `remote` run the command in a running daemon, where `control` receives
it; otherwise `main` parses and runs the command in this process.
"""
