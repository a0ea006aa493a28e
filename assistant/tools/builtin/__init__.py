"""Hearth's own tools, which take the same path as every server's.

`protocol` is what a tool is made of; the other modules hold tools that belong to no feature. Tools
of a feature are in its `tools` module. All are offered in `assistant.app.tools`.
"""
