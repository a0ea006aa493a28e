"""Timers, alarms and calls that act later, with the tools that set them.

Begin with `keeper` (what is due and when) and `ringer` (what sounds then). `book` holds them,
`tools` and `later_tool` are what a model calls, `recurrence` knows days and the sun, `words` how
they are told.
"""
