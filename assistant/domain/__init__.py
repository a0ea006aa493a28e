"""Types that all packages share.

Start reading at `brain` (the events of a turn and the brain interface), `tool_call` (a call and its
outcome) and `records` (the rows of the journal).
"""
