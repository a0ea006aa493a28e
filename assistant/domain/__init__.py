"""Values that every package shares; they import nothing but the configuration.

Begin with `brain` (the events of a turn and the interface of a brain), `tool_call` (a call, who may
make it, what is asked about it and what became of it) and `records` (what the journal keeps).
`clock` is the injected clock; `events` has the bus, the listeners and `Deferred`.
"""
