"""The journal: a SQLite store for turns, tool calls, the audit log, timers, memory and costs.

Start with `store` (the API) and `migrations` (the schema). `database` runs all SQL on its own
thread. `opening` opens, checks and repairs the file. `rows`, `tables` and `audit` convert records
to rows and back. `retention` deletes old data by age and size. `reports` and `trace` prepare data
for display.
"""
