"""Background work that continues while people talk: long thinking, camera pictures and slow tool
servers.

Start with `jobs`, which owns running calls and announces their results. `thinking` contains the
work that a larger model does.
"""
