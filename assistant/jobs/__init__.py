"""Long work that goes on while people speak: thinking, cameras, calls of slow tool servers.

Begin with `keeper` (what is under way) and `tell` (how a result reaches the person). `think`,
`camera` and `long_work` are the tools.
"""
