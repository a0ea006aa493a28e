"""The SQLite store of turns, calls, audit, timers, memory and costs.

Begin with `store` (everything that can be kept and read) and `migrations` (the tables). `database`
runs work on the file in its own thread; `opening` opens, checks and repairs it; `rows`, `tables`
and `audit` turn records into rows; `retention` deletes old data by age and size; `reports` and
`trace` present it to people.
"""
