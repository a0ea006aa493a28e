"""Hearth's own tools, which are judged and logged like the tools of any server.

`protocol` defines what a built-in tool is. A feature keeps its tools in its own `tools` module; the
other tools are here.
"""
