"""The SQLite store of turns, calls, audit, timers, memory and costs.

Begin with `store` (what can be kept and read) and `migrations` (the tables). `opening` and `care`
open, check and mend the file, `audit` and `reports` read it for people.
"""
