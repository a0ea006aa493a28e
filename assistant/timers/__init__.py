"""Timers, alarms and calls that run later, with the tools that set them.

Begin with `service` (the long-running process) and `monitor` (finds what is due). `ringer` rings
and `later` runs what is due; `book` is the interface for people and programs, `tools` are the
model's tools, `recurrence` knows days and the sun, and `telling` puts timers into words.
"""
