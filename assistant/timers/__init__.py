"""Timers, alarms and calls that act later, with the tools that set them.

Begin with `service` (the process that stays) and `monitor` (what is due). `ringer` and `later` do
what is due; `book` holds the timers for people and programs, `tools` is what a model calls,
`recurrence` knows days and the sun, `telling` puts all of it into words.
"""
