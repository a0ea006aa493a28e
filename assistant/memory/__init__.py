"""Facts that people ask Hearth to remember.

Remembered facts are treated as data, never as instructions. A fact can't make Hearth allow a tool
call that it would otherwise refuse.
"""
