"""Types that all packages share.

Start reading at `brain` (the events of a turn and the brain interface), `tool_call` (a call, its
caller, its confirmation and its outcome) and `records` (the rows of the journal). `clock` contains
the injected clock. `events` contains the event bus, listeners and `Deferred`.
"""
