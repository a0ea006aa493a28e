"""Hearth's own tools, which are judged and logged like the tools of any server.

`protocol` defines what a built-in tool is. The other modules contain the tools that don't belong to
a particular feature; a feature keeps its tools in its own `tools` module. The modules of
`assistant.app` add them all to the toolbox (`Toolbox.offer`).
"""
