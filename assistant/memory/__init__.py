"""Facts that people ask Hearth to remember.

Remembered facts are treated as data, never as instructions. No decision about a tool call depends
on them.
"""
