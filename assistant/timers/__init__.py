"""Timers, alarms and calls that act later, with the tools that set them.

Begin with `keeper` (what is due and when) and `ringer` (what sounds then). `book` holds them,
`rows` and the journal store them, `tools`, `alarm_tool` and `later_tool` are what a model calls,
`words` how they are told.
"""
