"""Tool calls and what stands between a model's wish and the house.

Begin with `execution.toolbox` (one call from beginning to end) and `policy.engine` (what may run,
what is asked about and what never runs). `catalog` is what a model is offered, `house` finds the
things that a call reaches, `undo` takes steps back, `builtin` holds Hearth's own tools,
`vocabulary` the words of six languages. Each package imports only those before it: `vocabulary`,
`house`, `catalog`, `policy`, `execution`.
"""
