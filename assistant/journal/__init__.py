"""The SQLite store of turns, calls, audit, timers, memory and costs.

Begin with `store` (what can be kept and read) and `migrations` (the tables). `database` runs work
on the file in its own thread, `opening` opens, checks and mends it, `rows`, `tables` and `audit`
turn records into rows, `retention` forgets by age and size, `reports` and `trace` read it for
people.
"""
