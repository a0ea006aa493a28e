"""Hearth's own tools, which take the same path as the tools of any server.

`protocol` defines a built-in tool. The other modules contain the tools that don't belong to a
feature; a feature keeps its tools in its own `tools` module. `assistant.app.tools` offers all of
them.
"""
