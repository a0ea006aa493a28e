"""One module for each command; `commands` lists them.

`entry` is the program's first module; it lets `remote` run a command in the daemon (`control` is
the daemon's side) or hands over to `main`, which parses and runs it here. Only `terminal` and
`console` print.
"""
