"""Long work that goes on while people speak: thinking, cameras, calls of slow tool servers.

Begin with `jobs` (what is under way, how it ends). `thinking` is the work for a larger model.
"""
