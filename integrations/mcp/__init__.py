"""Model Context Protocol client: all tool servers behind one interface.

Start with `hub`, which keeps one `session` per server. `servers` has the data classes, `transport`
and `wire` the connections. `listing` limits the size of a server's responses. `sandbox` and
`confine` restrict a server that is a program.
"""
