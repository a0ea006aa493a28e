"""Long work that continues while people speak: thinking, cameras and slow tool servers.

Begin with `jobs` (running work and its end). `thinking` is work for a larger model.
"""
