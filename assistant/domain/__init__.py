"""Values that every package shares. They import nothing but the configuration.

Begin with `brain` (the events of a turn and the interface of a brain), `tool_call` (a call, its
caller, its confirmation and its outcome) and `records` (the rows of the journal). `clock` is the
injected clock; `events` has the event bus, the listeners and `Deferred`.
"""
