"""Facts that people ask Hearth to remember.

Facts are data, never instructions: a fact can't make Hearth allow a tool call that it would
otherwise refuse.
"""
