"""The client side of the Model Context Protocol: every tool server behind one interface.

Begin with `hub`, which keeps one `session` per server; `servers` has the values, `transport` and
`wire` the connections, `listing` limits what a server says, and `sandbox` and `confine` lock up a
server that is a program.
"""
