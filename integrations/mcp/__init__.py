"""Model Context Protocol client: all tool servers behind one interface.

Start with `hub`, which keeps one `session` per server. If a server is a local program, `sandbox`
and `confine` restrict which files it can open.
"""
