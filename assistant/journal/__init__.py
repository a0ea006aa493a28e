"""The SQLite store of turns, calls, audit, timers, memory and costs.

Begin with `store` (what can be kept and read) and `migrations` (the tables). `opening` and `care`
open, check and mend the file, `retention` says what is kept and for how long, `audit` and `trace`
read it for people.
"""
