"""Values that every package shares; they import nothing but the configuration.

Begin with `brain` (the events of a turn and the interface of a brain), `call` and `outcome` (a tool
call and what became of it), `records` (what the journal keeps) and `rights` (who may do what).
`clock` is the injected clock, `events` the bus on which packages tell each other what happened.
"""
