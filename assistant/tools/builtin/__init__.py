"""Hearth's own tools, which are judged and logged like the tools of any server.

`protocol` defines what a built-in tool is. The other modules contain the tools that don't belong to
a particular feature; a feature keeps its tools in its own `tools` module. `assistant.app.tools`
collects all of them.
"""
