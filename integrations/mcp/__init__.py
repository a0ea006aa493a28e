"""Model Context Protocol client: all tool servers behind one interface.

Start with `hub`, which keeps one `session` per server. `servers` contains the data classes.
`transport` and `wire` implement the connections, and `listing` limits the size of a server's
responses. If a server is a local program, `sandbox` and `confine` restrict which files it can open.
"""
